import { describe, expect, onTestFinished, test } from 'vitest';
import { newSecret } from '../../src/auth/key-secret.ts';
import { configWarnings, loadConfig } from '../../src/config.ts';
import { databaseVariables, startGatewayProcess } from '../support/gateway-process.ts';
import { createScratchDatabase } from '../support/scratch-database.ts';

test.each([
  [
    { DIRECT_DATABASE_URL: 'postgresql://primary/parking' },
    'DIRECT_DATABASE_URL is a direct connection to the database of DATABASE_URL, which is not set',
  ],
  [{ PORT: '3000', METRICS_PORT: '3000' }, 'METRICS_PORT must differ from PORT'],
])('the gateway does not start with the inconsistent variables %o', (env, message) => {
  expect(() => loadConfig(env)).toThrow(message);
});

test.each([
  ['REDIS_URL', 'redis://a.internal,redis://:secret%@b.internal'],
  ['REDIS_SENTINELS', 'a.internal,redis://:secret@b.internal'],
  ['CORS_ORIGINS', 'https://a.example,https://user:secret@b.example'],
  ['BROWNOUTS', '2027-03-01T14:00Z/PT12H,secret'],
  ['WEBHOOK_DNS_SERVERS', '9.9.9.9,secret'],
])(
  'the error about a list in %s names the variable and the invalid item, and shows no password',
  (name, list) => {
    const load = () => loadConfig({ REDIS_SENTINEL_NAME: 'main', [name]: list });
    expect(load).toThrow(new RegExp(`^${name} must [^\n]+ \\(item 2 of 2\\)$`));
    expect(load).not.toThrow('secret');
  },
);

describe('warnings about the configuration', () => {
  test.each([
    'a'.repeat(32),
    'abcdef'.repeat(6),
    'ab12cd34'.repeat(4),
    'change-me-please-7f3k9q2x8v5b1n4m',
    'my-company-operator-key-2026-abcd',
    '01234567890123456789012345678901',
  ])('an OPERATOR_API_KEY that is easy to guess causes a warning: %s', (key) => {
    const [warning, ...others] = configWarnings(loadConfig({ OPERATOR_API_KEY: key }));
    expect(warning).toContain('OPERATOR_API_KEY is easy to guess');
    expect(warning).not.toContain(key);
    expect(others).toEqual([]);
  });

  test.each(['https://*.example.com', 'https://app..example', 'https://$app.example'])(
    'the origin %s in CORS_ORIGINS causes a warning, because no browser sends this origin',
    (origin) => {
      const list = `https://app.example,${origin}`;
      expect(configWarnings(loadConfig({ CORS_ORIGINS: list }))).toEqual([
        expect.stringContaining(`CORS_ORIGINS has ${origin},`),
      ]);
    },
  );

  test('a secure OPERATOR_API_KEY and valid CORS_ORIGINS cause no warning', () => {
    const origins =
      'https://app.example,http://localhost:5173,http://127.0.0.1:8080,http://[::1]:81,https://a_b.example';
    const secrets = Array.from({ length: 1_000 }, () => newSecret('production'));
    for (const secret of [...secrets, 'f1d2d2f924e986ac86fdf7b36c94bcdf32beec15']) {
      const config = loadConfig({ OPERATOR_API_KEY: secret, CORS_ORIGINS: origins });
      expect(configWarnings(config)).toEqual([]);
    }
  });
});

test('the gateway logs the warnings about its configuration when it starts', async () => {
  const scratch = await createScratchDatabase();
  onTestFinished(() => scratch.drop());
  const gateway = startGatewayProcess({
    ...databaseVariables(scratch),
    CORS_ORIGINS: 'https://*.example.com',
  });
  await gateway.listening();
  expect(gateway.output()).toContain('CORS_ORIGINS has https://*.example.com');
  expect(await gateway.end()).toBe(0);
});
