import type { PrismaClient } from '../../prisma/generated/client/client.ts';
import type { LocationNotices } from './notices.ts';
import type { LocationReads } from './reads.ts';
import type { Turns } from './turns.ts';

/** What changes of one location need: they take turns, and those who watch its status hear of them. */
export interface LocationChangeServices {
  prisma: PrismaClient;
  locations: Pick<LocationReads, 'find'>;
  locationTurns: Turns;
  statusNotices: LocationNotices;
}
