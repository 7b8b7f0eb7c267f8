import type { PrismaClient } from '../../prisma/generated/client/client.ts';
import type { LocationNotices } from './notices.ts';
import type { LocationFinder } from './find-location.ts';
import type { LocationSlots } from './location-slots.ts';

/**
 * The services that a function needs to change a location. `locationSlots` runs the changes of one location one after
 * another. `statusNotices` and `whitelistNotices` inform the clients that watch the status or the whitelist of the
 * location.
 */
export interface LocationChangeServices {
  prisma: PrismaClient;
  locations: LocationFinder;
  locationSlots: LocationSlots;
  statusNotices: LocationNotices;
  whitelistNotices: LocationNotices;
}
