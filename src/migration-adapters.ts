import { DriverAdapterError } from '@prisma/driver-adapter-utils';
import type { SqlDriverAdapter, SqlMigrationAwareDriverAdapterFactory } from '@prisma/driver-adapter-utils';
import pg from 'pg';

/**
 * Adapters that run a script as the server takes it, in one transaction. The adapter of pg cuts scripts at
 * every semicolon, comments and function bodies included; the one of PGlite does not wait for the end, and
 * an error in it ends the process.
 */
export function withWholeScripts(
  adapters: SqlMigrationAwareDriverAdapterFactory,
  run: (script: string) => Promise<unknown>,
): SqlMigrationAwareDriverAdapterFactory {
  return {
    provider: adapters.provider,
    adapterName: adapters.adapterName,
    connectToShadowDb: () => adapters.connectToShadowDb(),
    async connect(): Promise<SqlDriverAdapter> {
      const adapter = await adapters.connect();
      adapter.executeScript = async (script) => {
        try {
          await run(script);
        } catch (error) {
          throw asAdapterError(error);
        }
      };
      return adapter;
    },
  };
}

/** The form in which the schema engine keeps SQLSTATE and message. */
function asAdapterError(error: unknown): unknown {
  if (!(error instanceof pg.DatabaseError || (error instanceof Error && 'severity' in error))) return error;
  const { code = '', severity = '', message, detail, column, hint } = error as pg.DatabaseError;
  return new DriverAdapterError({ kind: 'postgres', code, severity, message, detail, column, hint });
}
