/**
 * The npm packages that `npm run build` does not bundle, because they load files from their own folder in node_modules.
 * The packages that are not bundled are the embedded PostgreSQL, a native library that locks the database folder, and
 * the log library with its formatter.
 */
export const externalPackages = ['@electric-sql/pglite', 'fs-native-extensions', 'pino', 'pino-pretty'];
