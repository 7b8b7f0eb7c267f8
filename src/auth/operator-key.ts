import type { Logger } from 'pino';
import type { PrismaClient } from '../../prisma/generated/client/client.ts';
import { Permission, type Environment } from '../../prisma/generated/client/enums.ts';
import { recordChange } from '../audit/record.ts';
import { advisoryLocks } from '../database/advisory-locks.ts';
import { databaseNow } from '../database/clock.ts';
import type { Transaction } from '../database/types.ts';
import { isReadOnlyFailure } from '../database/violations.ts';
import { newId } from '../ids.ts';
import { keyScopeRelations, type ScopedApiKey } from './key.ts';
import { hashSecret, secretHint } from './key-secret.ts';
import { lockKeyRows } from './lock-keys.ts';
import { auditedKey } from './managed-key.ts';

/**
 * The secret of an operator's key, the environment of the key, and the pepper (the secret in `KEY_PEPPER`), which is
 * needed to hash the secret of the key.
 */
interface OperatorSecret {
  secret: string;
  environment: Environment;
  pepper: string;
}

/**
 * The reason why the gateway itself creates, changes or revokes an operator's key. No request causes such a change, so
 * the audit log contains this reason in place of a request id.
 */
type Origin = 'OPERATOR_API_KEY' | 'first start' | 'keys:bootstrap';
const changedBy = (requestId: Origin) => ({ key: null, requestId });

/** The valid operator's keys whose secret is or was the value of OPERATOR_API_KEY. */
const keysOfConfiguration = (environment: Environment) => ({
  fromConfiguration: true,
  environment,
  revokedAt: null,
});

/**
 * Makes the secret in OPERATOR_API_KEY valid (docs/contract-keys.md#keys). If no API key has the secret in
 * OPERATOR_API_KEY, the function creates an operator's key with this secret. The operator's key gets all permissions
 * that exist in this version of the gateway. The function revokes every operator's key whose secret was an earlier
 * value of OPERATOR_API_KEY. If the secret in OPERATOR_API_KEY cannot be used, the function logs a warning and leaves
 * all API keys unchanged. The secret in OPERATOR_API_KEY cannot be used if it has expired, or if its API key has
 * expired or is revoked. The secret also cannot be used if its API key is not an operator's key of the configured
 * environment. An outdated secret in OPERATOR_API_KEY belongs to a revoked key, so a process that starts with this
 * secret cannot revoke the current operator's key.
 *
 * If the database is read-only, the function logs a warning and throws no error, so that the gateway can still start
 * and decide whether vehicles may enter.
 *
 * @returns whether all processes must empty their caches of API keys
 */
export async function applyOperatorKey(
  prisma: PrismaClient,
  operator: OperatorSecret,
  log: Logger,
): Promise<boolean> {
  try {
    return await changeOperatorKeys(prisma, operator, log);
  } catch (error) {
    if (!isReadOnlyFailure(error)) throw error;
    log.warn(
      'the database is read-only, so the gateway has neither checked nor changed the key of OPERATOR_API_KEY; if the value of OPERATOR_API_KEY is new, restart the gateway when the database accepts changes',
    );
    return false;
  }
}

function changeOperatorKeys(prisma: PrismaClient, operator: OperatorSecret, log: Logger): Promise<boolean> {
  const { environment } = operator;
  return prisma.$transaction(async (transaction) => {
    await transaction.$executeRaw`SELECT pg_advisory_xact_lock(${advisoryLocks.operatorKey}::bigint)`;
    const hash = hashSecret(operator.secret, operator.pepper);
    // While the transaction changes the operator's keys, it locks them, so that no administrator can revoke one of
    // them.
    const keys = await transaction.apiKey.findMany({
      where: { OR: [{ secrets: { some: { hash } } }, keysOfConfiguration(environment)] },
      select: { id: true },
    });
    await lockKeyRows(
      transaction,
      keys.map(({ id }) => id),
    );
    const now = await databaseNow(transaction);
    const named = await transaction.apiKeySecret.findUnique({
      where: { hash },
      include: { apiKey: { include: keyScopeRelations } },
    });
    if (named) {
      const { apiKey, expiresAt } = named;
      const hasExpired = [expiresAt, apiKey.expiresAt].some((end) => end !== null && end <= now);
      const isOperatorKey = apiKey.unrestricted && apiKey.environment === environment;
      if (hasExpired || apiKey.revokedAt || !isOperatorKey) {
        log.warn(
          'OPERATOR_API_KEY has the secret of a key that was revoked or replaced, has expired or is restricted, so it is invalid; set a new secret',
        );
        return false;
      }
    }
    const id = named?.apiKey.id ?? (await insertOperatorKey(transaction, operator, 'OPERATOR_API_KEY'));
    const adopted = named !== null && (await adoptKey(transaction, named.apiKey, now));
    const ended = await endFormerKeys(transaction, environment, { exceptId: id, now });
    return adopted || ended > 0;
  });
}

/**
 * Gives an operator's key all permissions, and records in the database that the key's secret is the value of
 * OPERATOR_API_KEY. If the permissions of the operator's key change, the function writes an audit record.
 *
 * @returns whether the function has changed the API key
 */
async function adoptKey(transaction: Transaction, before: ScopedApiKey, now: Date): Promise<boolean> {
  const permissions = Object.values(Permission);
  const hasAll = permissions.every((permission) => before.permissions.includes(permission));
  if (hasAll && before.fromConfiguration) return false;
  const after = await transaction.apiKey.update({
    where: { id: before.id },
    data: { fromConfiguration: true, permissions, updatedAt: now },
    include: keyScopeRelations,
  });
  if (!hasAll) {
    await recordChange(transaction, changedBy('OPERATOR_API_KEY'), {
      action: 'api_key.updated',
      targetId: before.id,
      changes: { before: auditedKey(before), after: auditedKey(after) },
    });
  }
  return true;
}

/**
 * Revokes the operator's keys whose secrets are earlier values of OPERATOR_API_KEY, and returns how many keys it
 * revoked.
 */
async function endFormerKeys(
  transaction: Transaction,
  environment: Environment,
  { exceptId, now }: { exceptId: string; now: Date },
): Promise<number> {
  const ended = await transaction.apiKey.updateManyAndReturn({
    where: { ...keysOfConfiguration(environment), id: { not: exceptId } },
    data: { revokedAt: now, updatedAt: now },
    select: { id: true },
  });
  for (const { id } of ended) {
    await recordChange(transaction, changedBy('OPERATOR_API_KEY'), {
      action: 'api_key.revoked',
      targetId: id,
    });
  }
  return ended.length;
}

/**
 * If the environment (such as production) has no API keys, or only revoked API keys, creates an operator's key with all
 * permissions. If several processes call `createFirstOperatorKey` at the same time, only one process creates an
 * operator's key.
 *
 * @returns true if the function has created an operator's key
 */
export async function createFirstOperatorKey(
  prisma: PrismaClient,
  operator: OperatorSecret,
  origin: 'first start' | 'keys:bootstrap',
): Promise<boolean> {
  return prisma.$transaction(async (transaction) => {
    await transaction.$executeRaw`SELECT pg_advisory_xact_lock(${advisoryLocks.operatorKey}::bigint)`;
    const working = { environment: operator.environment, revokedAt: null };
    if ((await transaction.apiKey.count({ where: working })) > 0) return false;
    await insertOperatorKey(transaction, operator, origin);
    return true;
  });
}

async function insertOperatorKey(
  transaction: Transaction,
  { secret, environment, pepper }: OperatorSecret,
  origin: Origin,
): Promise<string> {
  const created = await transaction.apiKey.create({
    data: {
      id: newId(),
      name: 'Operator',
      environment,
      permissions: Object.values(Permission),
      unrestricted: true,
      fromConfiguration: origin === 'OPERATOR_API_KEY',
      secrets: { create: { id: newId(), hash: hashSecret(secret, pepper), hint: secretHint(secret) } },
    },
    include: keyScopeRelations,
  });
  await recordChange(transaction, changedBy(origin), {
    action: 'api_key.created',
    targetId: created.id,
    changes: auditedKey(created),
  });
  return created.id;
}
