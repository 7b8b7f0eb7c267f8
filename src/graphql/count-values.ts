import { ServiceError } from '../errors/error-table.ts';
import { maxVariableDepth, maxVariableValues } from './limits.ts';

/**
 * Counts the values in the variables of a request, including values inside lists and objects.
 *
 * @throws {ServiceError} `VALIDATION_ERROR` as soon as the number of values or the nesting exceeds a limit
 */
export function countValues(value: unknown, levels = maxVariableDepth, counted = 0): number {
  if (levels < 0) {
    throw new ServiceError('VALIDATION_ERROR', `Variables are nested more than ${maxVariableDepth} levels`);
  }
  if (counted >= maxVariableValues) {
    throw new ServiceError('VALIDATION_ERROR', `Variables hold more than ${maxVariableValues} values`);
  }
  let total = counted + 1;
  if (typeof value !== 'object' || value === null) return total;
  for (const item of Array.isArray(value) ? value : Object.values(value)) {
    total = countValues(item, levels - 1, total);
  }
  return total;
}
