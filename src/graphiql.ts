import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { Context } from 'hono';

/** What the page opens with: an operation in each tab, with the variables that it takes. */
const examples: { query: string; variables?: Record<string, unknown> }[] = [
  {
    query: `# Type your key into "Headers" below: {"X-API-Key": "pms_…"}
# Which locations does the key reach, and how full are they?
query Locations {
  locations(first: 10) {
    totalCount
    nodes {
      id
      name
      company {
        name
      }
      status {
        state
        occupied
        available
      }
    }
  }
}
`,
  },
  {
    query: `# The vehicles of one resident
query Whitelist($locationId: ID!, $referenceId: String) {
  whitelist(locationId: $locationId, referenceId: $referenceId, first: 10) {
    nodes {
      id
      referenceId
      plateType
      plateCode
      plateNumber
      validUntil
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
`,
    variables: { locationId: '…', referenceId: 'unit-0101' },
  },
  {
    query: `# A gate's question
query MayEnter($locationId: ID!, $plate: PlateInput!) {
  plateAccess(locationId: $locationId, plate: $plate) {
    allowed
    reason
    entry {
      referenceId
      vehicleType
    }
  }
}
`,
    variables: { locationId: '…', plate: { plateType: 'DXB', plateCode: 'A', plateNumber: '7' } },
  },
  {
    query: `# Adds a vehicle
mutation AddVehicle($locationId: ID!, $input: WhitelistEntryInput!) {
  createWhitelistEntry(locationId: $locationId, input: $input) {
    id
    createdAt
  }
}
`,
    variables: {
      locationId: '…',
      input: { referenceId: 'unit-0101', plateType: 'SHJ', plateCode: '3', plateNumber: '48214' },
    },
  },
  {
    query: `# Who am I?
query Viewer {
  viewer {
    name
    permissions
    companyIds
    locationIds
    hourlyLimit
  }
}
`,
  },
];

const headers = JSON.stringify({ 'X-API-Key': '' });

/** The page as it is kept: compressed to a quarter of its 9 MB. */
interface Page {
  zipped: Uint8Array<ArrayBuffer>;
  /** Names its content (RFC 9110, "ETag"). */
  etag: string;
}

/** Loads GraphiQL only when it is asked for: a gateway that nobody explores does not hold it. */
async function renderPage(): Promise<Page> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
  const html = renderGraphiQL({
    title: 'Parking gateway',
    defaultTabs: examples.map(({ query, variables }) => ({
      query,
      headers,
      ...(variables && { variables: JSON.stringify(variables, null, 2) }),
    })),
    defaultHeaders: headers,
    headers,
    shouldPersistHeaders: true,
    subscriptionsProtocol: 'SSE',
  });
  const zipped = new Uint8Array(await promisify(gzip)(html));
  return { zipped, etag: `"${createHash('sha256').update(html).digest('base64url')}"` };
}

let page: Promise<Page> | undefined;

/** Answers with the GraphiQL page, whole: it asks no other host for anything. */
export async function serveGraphiql(c: Context): Promise<Response> {
  const { zipped, etag } = await (page ??= renderPage());
  const headers = { ETag: etag, 'Cache-Control': 'no-cache', Vary: 'Accept, Accept-Encoding' };
  if (c.req.header('if-none-match') === etag) return c.body(null, 304, headers);
  const html = { ...headers, 'Content-Type': 'text/html; charset=utf-8' };
  return c.req.header('accept-encoding')?.includes('gzip')
    ? c.body(zipped, 200, { ...html, 'Content-Encoding': 'gzip' })
    : c.body(new Uint8Array(await promisify(gunzip)(zipped)), 200, html);
}
