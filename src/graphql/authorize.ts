import { type AuthenticatedKey, requirePermission } from '../auth/key.ts';
import type { OperationPlan } from './operation-plan.ts';

/**
 * Checks that the API key has the permissions for all fields of an operation. The check runs before the variables are
 * validated and before any field runs, so a key without the permissions learns nothing and changes nothing.
 *
 * @throws {ServiceError} `FORBIDDEN`
 */
export function authorizeOperation(plan: OperationPlan, key: AuthenticatedKey): void {
  for (const permission of plan.permissions) requirePermission(key, permission);
}
