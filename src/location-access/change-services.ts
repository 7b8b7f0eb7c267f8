import type { PrismaClient } from '../../prisma/generated/client/client.ts';
import type { LocationNotices } from './notices.ts';
import type { LocationFinder } from './find-location.ts';
import type { Slots } from '../scheduling/slots.ts';

/**
 * The services that a function needs to change a location. They run the changes of one location one after another, and
 * notify watchers of its status.
 */
export interface LocationChangeServices {
  prisma: PrismaClient;
  locations: LocationFinder;
  locationSlots: Slots;
  statusNotices: LocationNotices;
}
