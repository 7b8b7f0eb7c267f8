import { expect } from 'vitest';
import { newEntry, type TestGateway } from './harness.ts';

/** The GraphQL document that imports rows into a whitelist. */
export const importDocument = `mutation ($locationId: ID!, $entries: [WhitelistEntryInput!]!, $mode: ImportMode, $dryRun: Boolean) {
  importWhitelistEntries(locationId: $locationId, entries: $entries, mode: $mode, dryRun: $dryRun) {
    total created updated unchanged deleted rejected
    rows { index outcome entry { plateNumber } error { code message field value } } } }`;

interface ImportOptions {
  mode?: 'CREATE' | 'UPSERT' | 'REPLACE';
  dryRun?: boolean;
}

/** Returns a valid row of an import. */
export const importRow = (plateNumber: string, note: string | null = null) =>
  newEntry({ plateNumber, note, referenceId: 'r' });

/** Creates functions that import rows through a gateway, and that read the resulting whitelist. */
export function openImports(gateway: TestGateway) {
  return {
    /** Imports rows, and returns the result of the import. The function expects that the import succeeds. */
    async importEntries(locationId: string, key: string, entries: unknown[], options: ImportOptions = {}) {
      const variables = { locationId, entries, ...options };
      const { body } = await gateway.graph(importDocument, { key, variables });
      expect(body.errors).toBeUndefined();
      return body.data.importWhitelistEntries;
    },

    /** Returns a map from each plate number on a whitelist to the note of its whitelist entry. */
    async whitelistOf(locationId: string): Promise<Map<string, string | null>> {
      const entries = await gateway.database.prisma.whitelistEntry.findMany({ where: { locationId } });
      return new Map(entries.map((entry) => [entry.plateNumber, entry.note]));
    },
  };
}
