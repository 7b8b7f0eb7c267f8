import { type AuthenticatedKey, requirePermission } from '../auth/key.ts';
import type { OperationPlan } from './operation-plan.ts';

/**
 * Lets an operation pass whose every field the key may select. Asked before anything of it is
 * validated or run, so that a key without the permission learns nothing and changes nothing.
 *
 * @throws {ServiceError} `FORBIDDEN`
 */
export function authorizeOperation(plan: OperationPlan, key: AuthenticatedKey): void {
  for (const permission of plan.permissions) requirePermission(key, permission);
}
