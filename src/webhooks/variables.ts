import { Resolver } from 'node:dns';
import { z } from 'zod';

/**
 * Whether Node's DNS resolver accepts the given addresses of name servers. The address of a name server may contain a
 * port.
 */
function areNameServers(addresses: string[]): boolean {
  try {
    new Resolver().setServers(addresses);
    return true;
  } catch {
    return false;
  }
}

/** Validates an environment variable that lists the addresses of name servers, such as `9.9.9.9,[2620:fe::fe]:53`. */
export const nameServers = z
  .string()
  .transform((list) => list.split(',').map((address) => address.trim()))
  .refine(areNameServers, 'must be IP addresses separated by commas, such as 9.9.9.9,[2620:fe::fe]:53');
