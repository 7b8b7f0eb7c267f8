/**
 * Packages that stay in node_modules, because they load files from their own folder: the embedded PostgreSQL, the lock
 * of its folder (a native library), and the log with its worker. All others are in the bundle.
 */
export const externalPackages = ['@electric-sql/pglite', 'fs-native-extensions', 'pino', 'pino-pretty'];
