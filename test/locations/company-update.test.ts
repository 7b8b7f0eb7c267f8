import { describe, expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { everyPermission, sharedTestGateway } from '../support/harness.ts';

const gateway = await sharedTestGateway();
const { prisma } = gateway.database;

const fields =
  'id name slug address externalCompanyId description phone email website logo settings createdAt updatedAt';

/** Sends the mutation `updateCompany`, and returns the changed company, or the `extensions` of the GraphQL error. */
async function update(key: string, id: string, input: Record<string, unknown>) {
  const { body } = await gateway.graph(
    `mutation ($id: ID!, $input: UpdateCompanyInput!) { updateCompany(id: $id, input: $input) { ${fields} } }`,
    { key, variables: { id, input } },
  );
  return body.errors?.[0].extensions ?? body.data.updateCompany;
}

const recordsOf = (companyId: string) =>
  prisma.auditRecord.findMany({ where: { companyId, action: 'company.updated' }, orderBy: { id: 'asc' } });

describe('the mutation updateCompany', () => {
  test('updateCompany changes only the fields in its input, and the audit record contains the values before and after the change', async () => {
    const { key, companyId } = await gateway.newTenant();
    const first = await update(key, companyId, { phone: '+971 4 1', settings: { currency: 'AED' } });
    expect(first).toMatchObject({ name: 'Test Company', phone: '+971 4 1', settings: { currency: 'AED' } });
    const second = await update(key, companyId, { name: 'مواقف المارينا', phone: null, settings: null });
    expect(second).toMatchObject({
      id: companyId,
      name: 'مواقف المارينا',
      slug: first.slug,
      address: 'Dubai',
      phone: null,
      settings: null,
      createdAt: first.createdAt,
    });
    expect(await recordsOf(companyId)).toMatchObject([
      { changes: { before: { phone: null }, after: { phone: '+971 4 1' } } },
      {
        targetId: companyId,
        changes: {
          before: { name: 'Test Company', settings: { currency: 'AED' } },
          after: { name: 'مواقف المارينا', settings: null },
        },
      },
    ]);
  });

  test('updateCompany refuses the same invalid fields as registerCompany, and also refuses a request without a field to change', async () => {
    const { key, companyId } = await gateway.newTenant();
    const tooDeep = Array.from({ length: 11 }).reduce<object>((inner) => ({ inner }), {});
    for (const [input, field] of [
      [{ name: ' ' }, 'name'],
      [{ name: null }, 'name'],
      [{ address: null }, 'address'],
      [{ name: 'A <b>' }, 'name'],
      [{ email: 'nobody' }, 'email'],
      [{ website: 'javascript:alert(1)' }, 'website'],
      [{ settings: [] }, 'settings'],
      [{ settings: tooDeep }, 'settings'],
      [{ settings: { text: 'x'.repeat(16 * 1024) } }, 'settings'],
      [{}, 'input'],
    ] as const) {
      const refused = await update(key, companyId, input);
      expect(refused.code).toBe('VALIDATION_ERROR');
      expect(refused.details.field).toBe(field);
    }
    expect(await update(key, companyId, { slug: 'other' })).toMatchObject({ code: 'VALIDATION_ERROR' });
    expect(await recordsOf(companyId)).toEqual([]);
  });

  test("updateCompany returns the same error for an unknown company and for a company outside the API key's scope", async () => {
    const { key } = await gateway.newTenant();
    const { companyId, locationId } = await gateway.newTenant();
    const ofLocation = await gateway.newKey({ locationIds: [locationId] });
    const refusals = [
      await update(key, companyId, { name: 'Mine' }),
      await update(ofLocation, companyId, { name: 'Mine' }),
      await update(await gateway.newKey({ unrestricted: true }), newId(), { name: 'Mine' }),
      await update(key, 'x', { name: 'Mine' }),
    ];
    for (const refusal of refusals) {
      expect(refusal).toMatchObject({ code: 'FORBIDDEN', details: { field: 'companyId' } });
    }
    expect(await recordsOf(companyId)).toEqual([]);
  });

  test('updateCompany needs WRITE_COMPANIES', async () => {
    const { companyId } = await gateway.newTenant();
    const permissions = everyPermission.filter((permission) => permission !== 'WRITE_COMPANIES');
    const key = await gateway.newKey({ companyIds: [companyId], permissions });
    expect(await update(key, companyId, { name: 'Mine' })).toMatchObject({ code: 'FORBIDDEN' });
    const only = await gateway.newKey({ companyIds: [companyId], permissions: ['WRITE_COMPANIES'] });
    expect(await update(only, companyId, { name: 'Renamed' })).toMatchObject({ name: 'Renamed' });
  });

  test('no change is lost when concurrent calls of updateCompany change different fields', async () => {
    const { key, companyId } = await gateway.newTenant();
    const changes = [{ phone: '1' }, { description: '2' }, { externalCompanyId: '3' }, { logo: '' }];
    await Promise.all(changes.map((change) => update(key, companyId, change)));
    const company = await prisma.company.findUniqueOrThrow({ where: { id: companyId } });
    expect(company).toMatchObject(Object.assign({}, ...changes));
    expect(await recordsOf(companyId)).toHaveLength(4);
  });
});
