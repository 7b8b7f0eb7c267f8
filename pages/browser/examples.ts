export interface Plate {
  plateType: string;
  plateCode: string;
  plateNumber: string;
}

export const examplePlate: Plate = { plateType: 'DXB', plateCode: 'A', plateNumber: '7' };

/**
 * The placeholder for the id of a location. When the user has entered an API key, the explorer replaces the placeholder
 * with the id of a location.
 */
export const noLocation = '';

/** Returns the two fields of an example parking event whose values depend on the time: `eventId` and `occurredAt`. */
export const exampleEvent = (at: Date) => ({
  eventId: `explorer-${at.getTime()}`,
  occurredAt: at.toISOString(),
});

interface Example {
  query: string;
  variables?: Record<string, unknown>;
}

/**
 * Creates the example operations that the explorer shows in tabs.
 *
 * @param now the time of the example parking event
 */
export const createExamples = (now: Date): Example[] => [
  {
    query: `# Which locations are in the key's scope, and how full are they?
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
        capacity
        occupied
        available
      }
    }
  }
}
`,
  },
  {
    query: `# A gate asks: may this vehicle enter?
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
    variables: { locationId: noLocation, plate: examplePlate },
  },
  {
    query: `# Why may a vehicle not enter?
# In the demo data, the permit of RAK V 9934 ended yesterday.
query WhyRefused($locationId: ID!, $plate: PlateInput!) {
  plateAccess(locationId: $locationId, plate: $plate) {
    allowed
    reason
    checks {
      name
      passed
      detail
    }
    entry {
      referenceId
      validUntil
    }
  }
}
`,
    variables: {
      locationId: noLocation,
      plate: { plateType: 'RAK', plateCode: 'V', plateNumber: '9934' },
    },
  },
  {
    query: `# How many vehicles use each quota, and how many entries
# of a pass are left? The demo data has quotas and a pass.
query QuotaAndPass($locationId: ID!, $passOf: String!) {
  location(id: $locationId) {
    quotas(first: 5) {
      nodes {
        referenceId
        inside
        used
      }
    }
    whitelist(referenceId: $passOf, first: 5) {
      nodes {
        plateType
        plateCode
        plateNumber
        maxEntries
        entriesRecorded
        validUntil
      }
    }
  }
}
`,
    variables: { locationId: noLocation, passOf: 'visitor-0305' },
  },
  {
    query: `# A camera read one text: which entry is it, and may it enter?
query CameraRead($locationId: ID!, $reading: ReadingInput!) {
  plateAccess(locationId: $locationId, reading: $reading, tolerance: 1) {
    allowed
    reason
    entry {
      referenceId
    }
    candidates {
      readAs
      entry {
        plateType
        plateCode
        plateNumber
      }
    }
  }
}
`,
    variables: { locationId: noLocation, reading: { text: 'A 7', confidence: 0.9 } },
  },
  {
    query: `# A visitor's pass: one entry, on weekdays; and at most two vehicles of the unit inside at a time
mutation AddVisitor($locationId: ID!, $input: WhitelistEntryInput!, $referenceId: String!) {
  createWhitelistEntry(locationId: $locationId, input: $input) {
    id
    maxEntries
    hours {
      days
      from
      to
    }
  }
  setQuota(locationId: $locationId, referenceId: $referenceId, inside: 2) {
    inside
    used
  }
}
`,
    variables: {
      locationId: noLocation,
      referenceId: 'unit-0101',
      input: {
        referenceId: 'unit-0101',
        plateType: 'DXB',
        plateCode: 'V',
        plateNumber: '1',
        validUntil: '2030-01-01T00:00:00Z',
        hours: [
          { days: ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY'], from: '07:00', to: '19:00' },
        ],
        maxEntries: 1,
      },
    },
  },
  {
    query: `# Adds a vehicle to the whitelist
mutation AddVehicle($locationId: ID!, $input: WhitelistEntryInput!) {
  createWhitelistEntry(locationId: $locationId, input: $input) {
    id
    createdAt
  }
}
`,
    variables: {
      locationId: noLocation,
      input: { referenceId: 'unit-0101', plateType: 'SHJ', plateCode: '3', plateNumber: '48214' },
    },
  },
  {
    query: `# Records that a vehicle entered. Sending it again changes nothing.
mutation RecordEntry($locationId: ID!, $input: ParkingEventInput!) {
  recordParkingEvent(locationId: $locationId, input: $input) {
    id
    listed
    location {
      status {
        state
        occupied
        available
      }
    }
  }
}
`,
    variables: {
      locationId: noLocation,
      input: {
        ...exampleEvent(now),
        kind: 'ENTRY',
        plate: examplePlate,
      },
    },
  },
  {
    query: `# After a walk through the garage: these vehicles are inside, and no others
mutation SetInside($locationId: ID!, $plates: [PlateInput!]!) {
  setInside(locationId: $locationId, plates: $plates) {
    state
    occupied
    available
  }
}
`,
    variables: { locationId: noLocation, plates: [examplePlate] },
  },
  {
    query: `# Somebody counted how many vehicles are inside, but not which
mutation AdjustOccupancy($locationId: ID!, $occupied: Int!) {
  adjustOccupancy(locationId: $locationId, occupied: $occupied) {
    state
    occupied
    adjustment
    available
  }
}
`,
    variables: { locationId: noLocation, occupied: 3 },
  },
  {
    query: `# Live: run this, then record an entry in another window
subscription LiveStatus($locationId: ID!) {
  locationStatusChanged(locationId: $locationId) {
    state
    occupied
    available
    updatedAt
  }
}
`,
    variables: { locationId: noLocation },
  },
];
