import { expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { newSlug, openTestGateway, serve } from '../support/harness.ts';

const gateway = await openTestGateway();
const url = await serve(gateway);

/**
 * The number of companies that this test file creates. Each company has settings of almost 16 MiB, which earlier
 * releases accepted. This version of the gateway refuses new company settings over 16 KiB.
 */
const companies = 8;
const settingsCharacters = 16 * 1024 * 1024 - 100;

for (let index = 0; index < companies; index += 1) {
  await gateway.database.sql.query(
    {
      name: '',
      text: `INSERT INTO "Company" (id, name, slug, address, settings, "updatedAt")
        VALUES ($1, 'Old', $2, 'Dubai', jsonb_build_object('text', repeat('x', $3::int)), now())`,
    },
    [newId(), newSlug(), settingsCharacters],
  );
}
const key = await gateway.newKey({ unrestricted: true });

test('to answer a REST request for companies with large settings, the gateway reads the companies page by page', async () => {
  const response = await fetch(`${url}/api/companies`, { headers: { 'X-API-Key': key } });
  expect(response.status).toBe(200);
  let bytes = 0;
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) bytes += chunk.length;
  expect(bytes).toBeGreaterThan(companies * settingsCharacters);
  expect(bytes).toBeLessThan(companies * (settingsCharacters + 2_000));
});

test('a GraphQL query for a list of companies fails if the settings of all these companies together are too large for one response', async () => {
  const refused = await gateway.graph('{ companies { nodes { id settings } } }', { key });
  expect(refused.body.errors[0]).toMatchObject({
    message: expect.stringContaining('smaller pages'),
    extensions: { code: 'VALIDATION_ERROR' },
  });
  const [{ id }] = (await gateway.graph('{ companies(first: 1) { nodes { id } } }', { key })).body.data
    .companies.nodes;
  for (const attempt of ['first', 'again']) {
    const { body } = await gateway.graph(`{ company(id: "${id}") { id settings } }`, { key });
    expect([attempt, body.errors[0].extensions.code]).toEqual([attempt, 'VALIDATION_ERROR']);
    expect(body.errors[0].message).toContain('too large for one answer');
  }
  const listed = await gateway.graph('{ companies { nodes { id } } }', { key });
  expect(listed.body.data.companies.nodes).toHaveLength(companies);
});

test('REST returns company settings that contain 200,000 values, and GraphQL returns an error instead of these settings', async () => {
  const id = newId();
  const values = 200_000;
  await gateway.database.sql.query(
    {
      name: '',
      text: `INSERT INTO "Company" (id, name, slug, address, settings)
        VALUES ($1, 'Old', $2, 'Dubai', ('{"values":[' || repeat('{},', $3::int) || '{}]}')::jsonb)`,
    },
    [id, newSlug(), values - 1],
  );
  const scopedKey = await gateway.newKey({ companyIds: [id] });
  for (const path of ['/companies', '/companies?limit=1']) {
    const { status, body } = await gateway.rest('GET', path, { key: scopedKey });
    expect([status, body.data.length]).toEqual([200, 1]);
    expect(body.data[0].settings.values).toHaveLength(values);
  }
  const { body } = await gateway.graph(`{ company(id: "${id}") { id settings } }`, { key: scopedKey });
  expect(body.errors[0]).toMatchObject({
    path: ['company', 'settings'],
    extensions: { code: 'VALIDATION_ERROR' },
  });
  expect(body.data.company).toEqual({ id, settings: null });
});

test.each(['', 'a'])(
  'REST returns a long text of emoji (surrogate pairs) in company settings unchanged (text before the emoji: "%s")',
  async (start) => {
    const id = newId();
    const text = start + '\u{1f697}'.repeat(150_000);
    await gateway.database.sql.query(
      {
        name: '',
        text: `INSERT INTO "Company" (id, name, slug, address, settings)
        VALUES ($1, 'Old', $2, 'Dubai', jsonb_build_object('text', $3::text))`,
      },
      [id, newSlug(), text],
    );
    const ownKey = await gateway.newKey({ companyIds: [id] });
    const response = await fetch(`${url}/api/companies`, { headers: { 'X-API-Key': ownKey } });
    expect((await response.json()).data).toMatchObject([{ id, settings: { text } }]);
  },
);
