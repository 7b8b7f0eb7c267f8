import { ServiceError } from '../errors/error-table.ts';
import { maxVariableDepth } from './limits.ts';

/**
 * Counts the values in the variables of a request, including values inside lists and objects.
 *
 * @throws {ServiceError} `VALIDATION_ERROR` as soon as the nesting exceeds the limit
 */
export function countValues(value: unknown, levels = maxVariableDepth): number {
  if (levels < 0) {
    throw new ServiceError('VALIDATION_ERROR', `Variables are nested more than ${maxVariableDepth} levels`);
  }
  let total = 1;
  if (typeof value !== 'object' || value === null) return total;
  for (const item of Array.isArray(value) ? value : Object.values(value)) {
    total += countValues(item, levels - 1);
  }
  return total;
}
