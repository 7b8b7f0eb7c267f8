import { CriticalityLevel, diff } from '@graphql-inspector/core';
import { buildSchema } from 'graphql';
import type { BreakingChange } from './breaking-change.ts';

/**
 * Compares two GraphQL schemas that are written in the schema definition language, and returns the breaking changes. A
 * change that GraphQL Inspector calls "dangerous", such as a new enum value, does not count as breaking.
 */
export async function breakingGraphChanges(released: string, current: string): Promise<BreakingChange[]> {
  const changes = await diff(buildSchema(released), buildSchema(current));
  return changes
    .filter(({ criticality }) => criticality.level === CriticalityLevel.Breaking)
    .map(({ path, message, type }) => ({
      path: path ?? '',
      message,
      isRemoval: type.endsWith('_REMOVED'),
    }));
}
