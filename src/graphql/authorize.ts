import { type AuthenticatedKey, requirePermission } from '../auth/key.ts';
import type { OperationPlan } from './operation-plan.ts';

/**
 * Checks that the key has the permission of every field of an operation. This runs before the variables are checked and
 * before any field runs, so that a key without the permission learns nothing and changes nothing.
 *
 * @throws {ServiceError} `FORBIDDEN`
 */
export function authorizeOperation(plan: OperationPlan, key: AuthenticatedKey): void {
  for (const permission of plan.permissions) requirePermission(key, permission);
}
