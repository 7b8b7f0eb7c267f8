import { expect, test } from 'vitest';
import { openCommandLine } from '../support/command-line.ts';
import { newSlug, sharedTestGateway, serve } from '../support/harness.ts';

const gateway = await sharedTestGateway();
const { pms, json } = openCommandLine(await serve(gateway));
const operator = await gateway.newKey({ unrestricted: true });

test('`pms companies create` registers a company, and `pms companies update` changes only the fields that the user gives', async () => {
  const slug = newSlug();
  const required = ['--name', 'Example', '--slug', slug, '--address', 'Dubai'];
  const created = await json(operator, 'companies', 'create', ...required, '--external-company-id', 'c-7');
  expect(created).toMatchObject({ name: 'Example', slug, address: 'Dubai', externalCompanyId: 'c-7' });
  expect(await json(operator, 'companies', 'update', slug, '--name', 'Renamed')).toEqual({
    ...created,
    name: 'Renamed',
  });
  expect(await pms(operator, 'companies', 'create', ...required)).toMatchObject({
    code: 1,
    err: expect.stringContaining('CONFLICT_ERROR'),
  });
  expect(await pms(operator, 'companies', 'create', '--name', 'Example')).toMatchObject({ code: 2 });
});

test('`pms locations create` creates a location, and `pms locations update` changes only the fields that the user gives', async () => {
  const companyId = await gateway.newCompany();
  const key = await gateway.newKey({ companyIds: [companyId] });
  const required = ['--name', 'Garage', '--slug', 'garage'];
  const details = ['--capacity', '120', '--timezone', 'Asia/Dubai', '--longest-stay', '72'];
  const created = await json(key, 'locations', 'create', ...required, ...details);
  expect(created).toMatchObject({
    companyId,
    name: 'Garage',
    slug: 'garage',
    capacity: 120,
    timezone: 'Asia/Dubai',
    longestStayHours: 72,
  });
  expect(await json(key, 'locations', 'update', 'garage', '--capacity', 'unknown')).toEqual({
    ...created,
    capacity: null,
  });
  const second = ['--company', companyId, '--name', 'Second', '--slug', 'second'];
  expect(await json(operator, 'locations', 'create', ...second)).toMatchObject({
    companyId,
    capacity: null,
    timezone: 'UTC',
    longestStayHours: null,
  });
});

test.each(['companies', 'locations'])(
  '`pms %s update` fails when the user gives no field to change',
  async (things) => {
    expect(await pms(operator, things, 'update', 'x')).toMatchObject({
      code: 2,
      err: expect.stringContaining('give at least one option'),
    });
  },
);
