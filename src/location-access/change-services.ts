import type { PrismaClient } from '../../prisma/generated/client/client.ts';
import type { LocationNotices } from './notices.ts';
import type { LocationFinder } from './find-location.ts';
import type { Slots } from '../scheduling/slots.ts';

/**
 * The services for changing a location. Changes of one location run one after another, and watchers of its status are
 * notified.
 */
export interface LocationChangeServices {
  prisma: PrismaClient;
  locations: LocationFinder;
  locationSlots: Slots;
  statusNotices: LocationNotices;
}
