import type { PrismaClient } from '../../prisma/generated/client/client.ts';
import { Permission, type Environment } from '../../prisma/generated/client/enums.ts';
import { recordChange, type Transaction } from '../audit/record.ts';
import { newId } from '../ids.ts';
import { keyTies } from './key.ts';
import { hashSecret, secretHint } from './key-secret.ts';
import { auditedKey } from './managed-key.ts';

/** The secret of an operator's key, and what it is stored with. */
interface OperatorSecret {
  secret: string;
  environment: Environment;
  pepper: string;
}

/** Any number: the advisory lock under which processes that start at once follow each other here. */
const operatorKeyLock = 7_205_759_405;

/** What makes and ends operators' keys when no key asks for it, for the audit log. */
type Origin = 'OPERATOR_API_KEY' | 'first start' | 'keys:bootstrap';
const changedBy = (requestId: Origin) => ({ key: null, requestId });

/** The key that OPERATOR_API_KEY names: `ended` when its secret was revoked, rotated or replaced and opens nothing. */
export type OperatorKeyState = 'unchanged' | 'changed' | 'ended';

/**
 * Makes the operator's key what OPERATOR_API_KEY says: it exists, has every permission of this version, and the
 * key that the variable named before has ended (decisions, "keys"). A key that was revoked stays revoked; then
 * nothing else changes either, so that a process that still has the former value ends no other key.
 *
 * @returns `changed` when every process must look keys up anew
 */
export async function applyOperatorKey(
  prisma: PrismaClient,
  operator: OperatorSecret,
): Promise<OperatorKeyState> {
  const { environment } = operator;
  return prisma.$transaction(async (transaction) => {
    await transaction.$executeRaw`SELECT pg_advisory_xact_lock(${operatorKeyLock}::bigint)`;
    const named = await transaction.apiKeySecret.findUnique({
      where: { hash: hashSecret(operator.secret, operator.pepper) },
      include: { apiKey: true },
    });
    if (named) {
      const { apiKey, expiresAt } = named;
      const rotated = expiresAt !== null && expiresAt <= new Date();
      if (rotated || apiKey.revokedAt || apiKey.environment !== environment) return 'ended';
    }
    const id = named?.apiKey.id ?? (await insertOperatorKey(transaction, operator, 'OPERATOR_API_KEY'));
    const adopted = await transaction.apiKey.updateMany({
      where: {
        id,
        unrestricted: true,
        NOT: { fromConfiguration: true, permissions: { hasEvery: Object.values(Permission) } },
      },
      data: { fromConfiguration: true, permissions: Object.values(Permission), updatedAt: new Date() },
    });
    const ended = await endFormerKeys(transaction, environment, id);
    return adopted.count + ended > 0 ? 'changed' : 'unchanged';
  });
}

/** Ends the keys that OPERATOR_API_KEY named before, and returns how many there were. */
async function endFormerKeys(
  transaction: Transaction,
  environment: Environment,
  exceptId: string,
): Promise<number> {
  const now = new Date();
  const ended = await transaction.apiKey.updateManyAndReturn({
    where: { fromConfiguration: true, environment, revokedAt: null, id: { not: exceptId } },
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
 * Makes an operator's key with a secret: every permission, everything in reach.
 *
 * @throws when a key has the secret already
 */
export async function createOperatorKey(prisma: PrismaClient, operator: OperatorSecret): Promise<void> {
  await prisma.$transaction((transaction) => insertOperatorKey(transaction, operator, 'first start'));
}

/**
 * Makes an operator's key when its environment has no key that works.
 *
 * @returns whether it was made
 */
export async function createFirstOperatorKey(
  prisma: PrismaClient,
  operator: OperatorSecret,
): Promise<boolean> {
  return prisma.$transaction(async (transaction) => {
    await transaction.$executeRaw`SELECT pg_advisory_xact_lock(${operatorKeyLock}::bigint)`;
    const working = { environment: operator.environment, revokedAt: null };
    if ((await transaction.apiKey.count({ where: working })) > 0) return false;
    await insertOperatorKey(transaction, operator, 'keys:bootstrap');
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
    include: keyTies,
  });
  await recordChange(transaction, changedBy(origin), {
    action: 'api_key.created',
    targetId: created.id,
    changes: auditedKey(created),
  });
  return created.id;
}
