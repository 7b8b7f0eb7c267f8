/**
 * The packages that stay in node_modules, because they load files from their own folder. They are the embedded
 * PostgreSQL, the lock of its folder (a native library), and the log with its worker. The bundle contains all other
 * packages.
 */
export const externalPackages = ['@electric-sql/pglite', 'fs-native-extensions', 'pino', 'pino-pretty'];
