import { type AuthenticatedKey, requirePermission } from '../auth/key.ts';
import type { OperationPlan } from './operation-plan.ts';

/**
 * Checks that the API key has the permissions for all fields of an operation. The gateway checks the permissions before
 * it validates the variables and before any field runs. An operation for which the API key lacks a permission therefore
 * neither returns nor changes any data.
 *
 * @throws {ServiceError} `FORBIDDEN`
 */
export function authorizeOperation(plan: OperationPlan, key: AuthenticatedKey): void {
  for (const permission of plan.permissions) requirePermission(key, permission);
}
