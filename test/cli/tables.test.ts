import { describe, expect, test } from 'vitest';
import { openCommandLine } from '../support/command-line.ts';
import { newEntry, sharedTestGateway, serve } from '../support/harness.ts';

const gateway = await sharedTestGateway();
const { prisma } = gateway.database;
const { pms, pmsOnTerminal, json } = openCommandLine(await serve(gateway));

const boxCharacters = /[\u2500-\u257f]/;
const widthOf = (text: string) => Math.max(...text.split('\n').map(({ length }) => length));

/**
 * Creates a company with long names, references and addresses, and an API key that may list all objects of the company.
 */
async function newVerboseTenant() {
  const tenant = await gateway.newTenant();
  const { key, companyId, locationId } = tenant;
  const admin = await gateway.newKey({ companyIds: [companyId], locationIds: [locationId] });
  const name = 'A very long name '.repeat(5).trim();
  const slug = 'long-slug'.repeat(5);
  await prisma.company.update({ where: { id: companyId }, data: { name } });
  await prisma.location.update({ where: { id: locationId }, data: { slug } });
  const reference = 'x'.repeat(100);
  await json(key, 'whitelist', 'add', 'DXB/A/1', '--location', locationId, '--reference', reference);
  const hook = `https://203-0-113.example/${'hook/'.repeat(100)}`;
  await json(key, 'webhooks', 'create', hook, '--event', 'PARKING_ENTERED');
  return { ...tenant, admin, name, slug, reference, hook };
}

describe('tables that pms prints', () => {
  test('a table that pms prints into a pipe has a header, no borders and no shortened texts', async () => {
    const { admin, locationId, name, slug, reference, hook } = await newVerboseTenant();
    const tables = [
      [['companies', 'list'], /^ID {2,}SLUG {2,}NAME\n/, name],
      [['locations', 'list'], /^ID {2,}SLUG {2,}NAME {2,}CAPACITY/, slug],
      [['keys', 'list'], /^ID {2,}NAME {2,}PERMISSIONS {2,}LAST USED\n/, 'READ_WHITELIST, '],
      [['webhooks', 'list'], /^ID {2,}URL {2,}STATE\n/, hook],
      [['whitelist', 'list', '--location', locationId], /^ID {2,}PLATE {2,}REFERENCE/, reference],
      [['status'], /^LOCATION {2,}STATE/, slug],
    ] as const;
    for (const [command, header, text] of tables) {
      const { out } = await pms(admin, ...command);
      expect(out).toMatch(header);
      expect(out).toContain(text);
      expect(out).not.toMatch(boxCharacters);
      expect(out).not.toMatch(/ \n|…/);
    }
    expect((await pms(admin, 'companies', 'list')).out.split('\n')).toHaveLength(3);
  });

  test('pms cuts a table to the width of the terminal, and shortens the widest columns first', async () => {
    const { admin, locationId, slug } = await newVerboseTenant();
    const lists = [['companies'], ['locations'], ['keys'], ['webhooks'], ['whitelist', locationId]] as const;
    for (const [list, location] of lists) {
      const command = [list, 'list', ...(location ? ['--location', location] : [])];
      const { out } = await pmsOnTerminal(80, admin, ...command);
      expect(widthOf(out), out).toBeLessThanOrEqual(80);
      expect(out).toContain('…');
    }
    expect((await pmsOnTerminal(200, admin, 'locations', 'list')).out).toContain(slug);
  });

  test('pms does not shorten a table on a terminal whose size is unknown', async () => {
    const { admin, slug } = await newVerboseTenant();
    expect((await pmsOnTerminal(0, admin, 'locations', 'list')).out).toContain(slug);
  });

  test('pms cuts a line with characters of double width at the last column of the terminal', async () => {
    const { key, companyId } = await gateway.newTenant();
    await prisma.company.update({ where: { id: companyId }, data: { name: '停車場'.repeat(30) } });
    const { out } = await pmsOnTerminal(60, key, 'companies', 'list');
    const [, row = ''] = out.split('\n');
    const wide = row.match(/[停車場]/g)!.length;
    expect(row.length + wide).toBeLessThanOrEqual(60);
    expect(row.endsWith('…')).toBe(true);
  });
});

describe('single objects that pms prints', () => {
  test('when pms prints a single object, the output contains whole identifiers and texts, with each list item on its own line', async () => {
    const { admin, companyId, locationId, reference } = await newVerboseTenant();
    const { out } = await pmsOnTerminal(40, admin, 'whoami');
    expect(out).toMatch(new RegExp(`^companies +${companyId}$`, 'm'));
    expect(out).toMatch(/^permissions +REGISTER_COMPANIES\n {2,}READ_COMPANIES\n/m);
    const found = ['whitelist', 'find', 'DXB/A/1', '--location', locationId];
    expect((await pmsOnTerminal(40, admin, ...found)).out).toContain(reference);
  });
});

describe('identifiers in the tables that pms prints', () => {
  test('in a table, pms shortens each identifier to its last characters, which are unique in the table; with --full-ids, pms prints whole identifiers', async () => {
    const { key, companyId } = await gateway.newTenant();
    const alike = await gateway.newLocation(companyId);
    const others = await json(key, 'locations', 'list');
    const last = (others[0].id as string).slice(-8);
    // The last eight characters of the two location ids are equal, but the characters before them differ.
    const ninth = others[0].id.at(-9) === '0' ? '1' : '0';
    const twin = `${alike.slice(0, 24)}000${ninth}${last}`;
    await prisma.location.update({ where: { id: alike }, data: { id: twin } });
    const { out } = await pms(key, 'locations', 'list');
    const shown = out
      .trim()
      .split('\n')
      .slice(1)
      .map((row) => row.split(' ')[0]!);
    expect(shown.map(({ length }) => length)).toEqual([9, 9]);
    for (const [index, { id }] of (await json(key, 'locations', 'list')).entries()) {
      expect(id.endsWith(shown[index])).toBe(true);
      expect((await pms(key, '--full-ids', 'locations', 'list')).out).toContain(id);
      expect((await pmsOnTerminal(50, key, '--full-ids', 'locations', 'list')).out).toContain(id);
      expect(await json(key, 'status', shown[index]!)).toMatchObject([{ locationId: id }]);
    }
    const { code, err } = await pms(key, 'status', last);
    expect(code).toBe(1);
    expect(err).toContain(`"${last}" names 2 locations; give the complete id of one:\n`);
    expect(err).toContain(twin);
  });

  test('pms commands for companies, API keys and webhooks accept the last characters of an identifier instead of the whole identifier', async () => {
    const { key: owner, companyId } = await gateway.newTenant();
    const admin = await gateway.newKey({ companyIds: [companyId] });
    const shownBy = async (...list: string[]) =>
      (await pms(admin, ...list)).out.split('\n')[1]!.split(' ')[0]!;
    const company = await shownBy('companies', 'list');
    expect(company).toHaveLength(8);
    expect(await json(admin, 'locations', 'list', '--company', company)).toHaveLength(1);
    const key = await json(
      admin,
      'keys',
      'create',
      '--name',
      'gate',
      '--permission',
      'READ_STATUS',
      '--company',
      company,
    );
    expect(await json(admin, 'keys', 'revoke', key.id.slice(-8))).toMatchObject({ id: key.id });
    await json(owner, 'webhooks', 'create', 'https://hooks.example/1', '--event', 'PARKING_ENTERED');
    const webhook = await shownBy('webhooks', 'list');
    expect(await json(admin, 'webhooks', 'delete', webhook)).toMatchObject({
      url: 'https://hooks.example/1',
    });
  });

  test('pms prints the complete identifier of a webhook delivery, because the resend command needs the complete identifier', async () => {
    const { key } = await gateway.newTenant();
    const { id } = await json(key, 'webhooks', 'create', '--pull', '--event', 'WHITELIST_CREATED');
    const delivery = await json(key, 'webhooks', 'test', id);
    expect((await pms(key, 'webhooks', 'deliveries', id)).out).toContain(`\n${delivery.id}  `);
  });

  test("a table that pms prints shows only the end of a whitelist entry's identifier", async () => {
    const { key, locationId } = await gateway.newTenant();
    const body = newEntry();
    const entry = await gateway.rest('POST', `/locations/${locationId}/whitelist`, { key, body });
    const { out } = await pms(key, 'whitelist', 'list', '--location', locationId);
    expect(out).toContain(`\n${entry.body.data.id.slice(-8)}  `);
  });
});
