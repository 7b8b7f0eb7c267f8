import { renderGraphiQL } from '@graphql-yoga/render-graphiql';

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

/** The GraphiQL page, whole: it asks no other host for anything. */
export function graphiqlPage(): string {
  return renderGraphiQL({
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
}
