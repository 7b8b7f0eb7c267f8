import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { seedDemoData } from '../../prisma/seed.ts';
import { hashSecret } from '../../src/auth/key-secret.ts';
import { createWebhookSecretBox } from '../../src/webhooks/secret-box.ts';
import { fencedBlocks, projectFolder, readPages } from '../support/documentation.ts';
import { openTestGateway, serve } from '../support/harness.ts';

const gateway = await openTestGateway();
const { config, database } = gateway;
const url = await serve(gateway);
await seedDemoData(database.prisma, {
  environment: config.environment,
  hashSecret: (secret) => hashSecret(secret, config.keyPepper),
  webhookSecrets: createWebhookSecretBox(config.keyPepper),
});

/** The character that the test prints after the output of each command, to separate the outputs. */
const separator = '\x1e';

/**
 * Parses a JSON response. The identifiers and times in a response differ in every test run, so the function first
 * replaces the identifiers and times with placeholders.
 */
const comparable = (answer: string): unknown =>
  JSON.parse(
    answer
      .replace(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, '(id)')
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '(time)')
      .replace(/it is \w+DAY \d\d:\d\d in/g, 'it is (day and time) in'),
  );

test('the first commands in README.md print the responses that README.md shows', async () => {
  const blocks = fencedBlocks(readPages().find(({ path }) => path === 'README.md')!);
  const steps = blocks.flatMap(({ words, text }, index) => {
    if (!words.includes('run')) return [];
    const next = blocks[index + 1];
    return [{ command: text, shown: next?.words.includes('answer') ? next.text : undefined }];
  });
  expect(steps.length).toBeGreaterThan(2);
  const script = steps.map(({ command }) => `${command}\nprintf '${separator}'`).join('\n');
  const { stdout } = await promisify(execFile)(
    'bash',
    ['--norc', '-euo', 'pipefail', '-c', script.replaceAll('http://127.0.0.1:3000', url)],
    { cwd: projectFolder, env: { ...process.env, KEY: await gateway.newKey({ unrestricted: true }) } },
  );
  const answers = stdout.split(separator).slice(0, -1);
  for (const [index, { command, shown }] of steps.entries()) {
    expect(shown, `an answer below ${command}`).toBeDefined();
    expect(answers[index]).toMatch(/^[^\n]+\n$/);
    expect(comparable(answers[index]!)).toEqual(comparable(shown!));
  }
});
