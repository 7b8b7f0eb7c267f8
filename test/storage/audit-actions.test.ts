import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { GraphQLEnumType } from 'graphql';
import { describe, expect, test } from 'vitest';
import { schema } from '../../schema/index.ts';
import { auditActions, enumName, isAuditAction, webhookEvents } from '../../src/audit/actions.ts';
import { newId } from '../../src/ids.ts';
import { retryForMs } from '../../src/webhooks/outbox.ts';
import { testMessageType } from '../../src/webhooks/payload.ts';
import { sharedTestGateway } from '../support/harness.ts';

const gateway = await sharedTestGateway();
const { prisma } = gateway.database;

const projectFolder = fileURLToPath(new URL('../..', import.meta.url));

/** Returns the path and the text of every TypeScript and SQL file in the given folders. */
async function sources(folders: string[]): Promise<[path: string, text: string][]> {
  const paths = await Promise.all(
    folders.map(async (folder) =>
      (await readdir(join(projectFolder, folder), { recursive: true })).map((path) => join(folder, path)),
    ),
  );
  const files = paths.flat().filter((path) => /\.(ts|sql)$/.test(path) && !path.includes('generated'));
  return Promise.all(
    files.map(async (path): Promise<[string, string]> => [
      path,
      await readFile(join(projectFolder, path), 'utf8'),
    ]),
  );
}

describe('the list of audit actions', () => {
  test('the list of audit actions contains every action name that occurs in the code and in the migrations', async () => {
    const subjects = new Set(Object.keys(auditActions).map((action) => action.split('.')[0]));
    const name = new RegExp(String.raw`'((?:${[...subjects].join('|')})\.\w+)'`, 'g');
    const unknown = (await sources(['src', 'schema', 'prisma', 'bench'])).flatMap(([path, text]) =>
      [...text.matchAll(name)]
        .map(([, found]) => found!)
        .filter((found) => !isAuditAction(found) && found !== testMessageType)
        .map((found) => `${path}: ${found}`),
    );
    expect(unknown).toEqual([]);
  });

  test('the GraphQL enum WebhookEvent contains every webhook event from the list of audit actions, and no other value', () => {
    const values = (schema.getType('WebhookEvent') as GraphQLEnumType).getValues();
    expect(values.map(({ name, value }) => [name, value])).toEqual(
      webhookEvents.map((event) => [enumName(event), event]),
    );
    for (const { value, description } of values) {
      expect(description).toContain(auditActions[value as keyof typeof auditActions].description);
    }
  });

  test('a database trigger creates a delivery for each audit record of a webhook event, and stores the time at which the retries of the delivery end', async () => {
    const companyId = await gateway.newCompany();
    const { id: webhookId } = await prisma.webhook.create({
      data: {
        id: newId(),
        companyId,
        url: 'https://receiver.invalid',
        events: [...webhookEvents],
        secret: '',
      },
    });
    for (const action of Object.keys(auditActions)) {
      await prisma.auditRecord.create({
        data: { id: newId(), requestId: 'test', action, companyId, targetId: companyId },
      });
    }
    const deliveries = await prisma.webhookDelivery.findMany({
      where: { webhookId },
      orderBy: { eventId: 'asc' },
      include: { event: true },
    });
    expect(deliveries.map(({ type }) => type)).toEqual(webhookEvents);
    for (const { type, event, createdAt, retryUntil } of deliveries) {
      expect(type).toBe(event.action);
      expect(retryUntil.getTime() - createdAt.getTime()).toBe(retryForMs);
    }
  });
});
