import { getRequestListener } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { createServer } from 'node:http';
import { uuidv7 } from 'uuidv7';
import { z } from 'zod';
import { type Env, Failure, guard, json, type Key, keyInvalid, query } from './hand-written-guard.ts';

// The hand-written server, with which the benchmark compares the gateway, implements a few of the gateway's routes
// without GraphQL. The hand-written server uses Hono and node-postgres with named SQL statements. Like the gateway, the
// hand-written server checks API keys and rate limits, validates requests, and writes log lines, audit records and
// usage records. The hand-written server also sends the same response headers as the gateway.

const noLocation = (value: string) =>
  new Failure(404, {
    code: 'NOT_FOUND',
    message: 'Location not found or not accessible',
    details: { field: 'locationId', value },
  });

// The following code validates requests.

const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;
const text = (max: number) =>
  z
    .string()
    .max(max, `Must be at most ${max} characters`)
    .refine((value) => value.isWellFormed() && !control.test(value), 'Must not contain control characters');
const plate = {
  plateType: z.string().regex(/^[A-Z]{2,4}$/, 'Invalid plate type format'),
  plateCode: z.string().regex(/^(White|[A-Za-z0-9]{1,3})$/, 'Invalid plate code format'),
  plateNumber: z.string().regex(/^[0-9]{1,20}$/, 'Invalid plate number format'),
};
const plateRule = z.object(plate);
const entryRule = z
  .object({
    referenceId: text(100).refine((value) => value.trim() !== '', 'Reference id must not be blank'),
    ...plate,
    vehicleType: text(50).nullish(),
    note: text(500).nullish(),
    validFrom: z.iso.datetime({ offset: true }).nullish(),
    validUntil: z.iso.datetime({ offset: true }).nullish(),
  })
  .refine(
    ({ validFrom, validUntil }) =>
      !validFrom || !validUntil || Date.parse(validFrom) < Date.parse(validUntil),
    { path: ['validUntil'], message: 'Must be after validFrom' },
  );
type Entry = z.output<typeof entryRule>;
const importRule = z.array(entryRule).max(10_000);

function checked<Rule extends z.ZodType>(rule: Rule, input: unknown): z.output<Rule> {
  const parsed = rule.safeParse(input);
  if (parsed.success) return parsed.data;
  const errors = parsed.error.issues.map(({ path, message }) => ({ field: path.join('.'), message }));
  throw new Failure(400, {
    code: 'VALIDATION_ERROR',
    message: errors[0]!.message,
    details: { ...errors[0], errors },
  });
}

// The SQL statements of the hand-written server.

const inScope = `(l."companyId" = ANY($2::text[]) OR l.id = ANY($3::text[]) OR $4::boolean)`;
const columns = `e.id, e."locationId", e."referenceId", e."plateType", e."plateCode", e."plateNumber",
  e."vehicleType", e.note, e."validFrom", e."validUntil", e."createdAt", e."updatedAt", e.version`;
const written =
  '"referenceId", "plateType", "plateCode", "plateNumber", "vehicleType", note, "validFrom", "validUntil"';
const audit = `INSERT INTO "AuditRecord" (id, "apiKeyId", "requestId", action, "companyId", "locationId",
  "targetId", changes)`;
const reached = `reached AS (SELECT l.id, l."companyId" FROM "Location" l WHERE l.id = $1 AND ${inScope})`;

const createText = `WITH ${reached}, inserted AS (
    INSERT INTO "WhitelistEntry" (id, "locationId", ${written})
    SELECT $5, id, $6, $7, $8, $9, $10, $11, $12::timestamptz, $13::timestamptz FROM reached
    ON CONFLICT ("locationId", "plateType", "plateCode", "plateNumber") DO NOTHING RETURNING *
  ), audited AS (
    ${audit} SELECT $14, $15, $16, 'whitelist.created', r."companyId", r.id, i.id, to_jsonb(i) FROM reached r, inserted i
  ) SELECT ${columns} FROM reached LEFT JOIN inserted e ON true`;
const updateText = `WITH ${reached}, before AS (
    SELECT w.* FROM "WhitelistEntry" w JOIN reached r ON r.id = w."locationId" WHERE w.id = $5 FOR UPDATE OF w
  ), updated AS (
    UPDATE "WhitelistEntry" w SET (${written}, "updatedAt", version) =
      ($6, $7, $8, $9, $10, $11, $12::timestamptz, $13::timestamptz, now(), w.version + 1)
    FROM before WHERE w.id = before.id RETURNING w.*
  ), audited AS (
    ${audit} SELECT $14, $15, $16, 'whitelist.updated', r."companyId", r.id, u.id,
      jsonb_build_object('before', to_jsonb(b), 'after', to_jsonb(u)) FROM reached r, before b, updated u
  ) SELECT ${columns} FROM reached LEFT JOIN updated e ON true`;
const importText = `WITH ${reached}, inserted AS (
    INSERT INTO "WhitelistEntry" (id, "locationId", ${written})
    SELECT i.id, reached.id, a, b, c, d, e, f, g, h FROM reached, unnest($5::text[], $6::text[], $7::text[],
      $8::text[], $9::text[], $10::text[], $11::text[], $12::timestamptz[], $13::timestamptz[])
      AS i(id, a, b, c, d, e, f, g, h)
    ON CONFLICT DO NOTHING RETURNING id
  ), audited AS (
    ${audit} SELECT $14, $15, $16, 'whitelist.imported', r."companyId", r.id, r.id,
      jsonb_build_object('created', jsonb_agg(i.id)) FROM reached r, inserted i GROUP BY r.id, r."companyId"
  ) SELECT count(i.id)::int AS created FROM reached LEFT JOIN inserted i ON true GROUP BY reached.id`;
const statusText = `SELECT l.id AS "locationId", l.slug, l.name, l.capacity, l."updatedAt",
    (SELECT count(*) FROM "WhitelistEntry" w WHERE w."locationId" = l.id)::int AS "whitelistedVehicles"
  FROM "Location" l WHERE ($1::boolean OR l."companyId" = ANY($2::text[]) OR l.id = ANY($3::text[])) ORDER BY l.id`;

// The routes of the hand-written server.

interface EntryRow {
  id: string | null;
  validFrom: Date | null;
  validUntil: Date | null;
  version: number;
}
interface StatusRow {
  capacity: number | null;
  updatedAt: Date;
}
const app = new Hono<Env>();
const scope = (locationId: string, { companyIds, locationIds, unrestricted }: Key) => [
  locationId,
  companyIds,
  locationIds,
  unrestricted,
];
const author = (c: Context<Env>) => [uuidv7(), c.var.key.id, c.var.requestId];
const valuesOf = (e: Entry) => [
  e.referenceId,
  e.plateType,
  e.plateCode,
  e.plateNumber,
  e.vehicleType ?? null,
  e.note ?? null,
  e.validFrom ?? null,
  e.validUntil ?? null,
];
const duplicate = ({ plateType, plateCode, plateNumber }: Entry) =>
  new Failure(409, {
    code: 'DUPLICATE_VEHICLE',
    message: 'Vehicle with this plate already exists in the whitelist',
    details: { plateType, plateCode, plateNumber },
  });
const permit = (c: Context<Env>, permission: string) => {
  if (!c.var.key.permissions.includes(permission)) throw keyInvalid;
};

app.get('/livez', (c) => c.json({ status: 'ok' }));
app.use('/api/*', guard);

app.get('/api/locations/status', async (c) => {
  permit(c, 'READ_STATUS');
  const { unrestricted, companyIds, locationIds } = c.var.key;
  const rows = await query<StatusRow>('status', statusText, [unrestricted, companyIds, locationIds]);
  const data = rows.map((row) => ({
    ...row,
    state: row.capacity === null ? 'UNKNOWN' : row.capacity > 0 ? 'AVAILABLE' : 'FULL',
    occupied: 0,
    available: row.capacity,
    lastActivityAt: null,
  }));
  return json({ success: true, data });
});

app.get('/api/locations/:locationId/whitelist', async (c) => {
  permit(c, 'READ_WHITELIST');
  const locationId = c.req.param('locationId');
  const { referenceId, plateType } = c.req.query();
  const values = scope(locationId, c.var.key);
  const filters = ['e."locationId" = l.id'];
  if (referenceId) filters.push(`e."referenceId" = $${values.push(referenceId)}`);
  if (plateType) filters.push(`e."plateType" = $${values.push(plateType)}`);
  const rows = await query<EntryRow>(
    `list ${Boolean(referenceId)} ${Boolean(plateType)}`,
    `SELECT ${columns} FROM "Location" l LEFT JOIN "WhitelistEntry" e ON ${filters.join(' AND ')}
    WHERE l.id = $1 AND ${inScope} ORDER BY e.id`,
    values,
  );
  if (rows.length === 0) throw noLocation(locationId);
  const data = rows[0]!.id === null ? [] : rows;
  const versions = data.reduce((sum, { version }) => sum + version, 0);
  return json({ success: true, data }, 200, {
    ETag: `W/"${data.length}-${versions}-${data.at(-1)?.id}"`,
    'Cache-Control': 'private, no-cache',
  });
});

app.post('/api/locations/:locationId/whitelist', async (c) => {
  permit(c, 'WRITE_WHITELIST');
  const locationId = c.req.param('locationId');
  const entry = checked(entryRule, await c.req.json());
  const values = [...scope(locationId, c.var.key), uuidv7(), ...valuesOf(entry), ...author(c)];
  const [row] = await query<EntryRow>('create', createText, values);
  if (!row) throw noLocation(locationId);
  if (row.id === null) throw duplicate(entry);
  return json({ success: true, data: row }, 201, { ETag: `"${row.version}"` });
});

app.put('/api/locations/:locationId/whitelist/:id', async (c) => {
  permit(c, 'WRITE_WHITELIST');
  const { locationId, id } = c.req.param();
  const entry = checked(entryRule, await c.req.json());
  const values = [...scope(locationId, c.var.key), id, ...valuesOf(entry), ...author(c)];
  const [row] = await query<EntryRow>('update', updateText, values).catch((error: { code?: string }) => {
    throw error.code === '23505' ? duplicate(entry) : error;
  });
  if (!row) throw noLocation(locationId);
  if (row.id === null) throw new Failure(404, { code: 'NOT_FOUND', message: 'Whitelist entry not found' });
  return json({ success: true, data: row }, 200, { ETag: `"${row.version}"` });
});

app.post('/api/locations/:locationId/whitelist/import', async (c) => {
  permit(c, 'WRITE_WHITELIST');
  const locationId = c.req.param('locationId');
  const entries = checked(importRule, await c.req.json()).map((entry) => [uuidv7(), ...valuesOf(entry)]);
  const arrays = Array.from({ length: 9 }, (_, column) => entries.map((entry) => entry[column]));
  const values = [...scope(locationId, c.var.key), ...arrays, ...author(c)];
  const [row] = await query<{ created: number }>('import', importText, values);
  if (!row) throw noLocation(locationId);
  return json({ success: true, data: row });
});

app.get('/api/locations/:locationId/access', async (c) => {
  permit(c, 'READ_WHITELIST');
  const locationId = c.req.param('locationId');
  const { plateType, plateCode, plateNumber } = checked(plateRule, c.req.query());
  const [row] = await query<EntryRow>(
    'access',
    `SELECT ${columns} FROM "Location" l LEFT JOIN "WhitelistEntry" e ON e."locationId" = l.id
      AND e."plateType" = $5 AND e."plateCode" = $6 AND e."plateNumber" = $7 WHERE l.id = $1 AND ${inScope}`,
    [...scope(locationId, c.var.key), plateType, plateCode, plateNumber],
  );
  if (!row) throw noLocation(locationId);
  const now = new Date();
  let reason = 'LISTED';
  if (row.id === null) reason = 'NOT_LISTED';
  else if (row.validFrom && now < row.validFrom) reason = 'NOT_YET_VALID';
  else if (row.validUntil && now >= row.validUntil) reason = 'EXPIRED';
  return json({ allowed: reason === 'LISTED', reason, entry: row.id === null ? null : row });
});

createServer(getRequestListener(app.fetch)).listen(Number(process.env.PORT), '127.0.0.1');
