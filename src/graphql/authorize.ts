import { type AuthenticatedKey, requirePermission } from '../auth/key.ts';
import type { OperationPlan } from './operation-plan.ts';

/**
 * Checks that the key has the permission for every field of an operation. The check comes before the variables are
 * validated and before any field runs. A key without the permission therefore learns nothing and changes nothing.
 *
 * @throws {ServiceError} `FORBIDDEN`
 */
export function authorizeOperation(plan: OperationPlan, key: AuthenticatedKey): void {
  for (const permission of plan.permissions) requirePermission(key, permission);
}
