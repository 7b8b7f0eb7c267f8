import { Resolver } from 'node:dns';
import { z } from 'zod';

/**
 * Whether Node's DNS resolver accepts the given address of a name server. The address of a name server may contain a
 * port.
 */
function isNameServer(address: string): boolean {
  try {
    new Resolver().setServers([address]);
    return true;
  } catch {
    return false;
  }
}

/** Validates the address of a name server in a list such as `9.9.9.9,[2620:fe::fe]:53`. */
export const nameServer = z
  .string()
  .refine(isNameServer, 'must be IP addresses separated by commas, such as 9.9.9.9,[2620:fe::fe]:53');
