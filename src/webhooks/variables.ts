import { Resolver } from 'node:dns';
import { z } from 'zod';

/** Whether the addresses are valid name servers for the DNS resolver of webhooks. An address may have a port. */
function areNameServers(addresses: string[]): boolean {
  try {
    new Resolver().setServers(addresses);
    return true;
  } catch {
    return false;
  }
}

/** Addresses of name servers, such as `9.9.9.9,[2620:fe::fe]:53`. */
export const nameServers = z
  .string()
  .transform((list) => list.split(',').map((address) => address.trim()))
  .refine(areNameServers, 'must be IP addresses separated by commas, such as 9.9.9.9,[2620:fe::fe]:53');
