import { bodyAttacks } from './body-attacks.ts';
import { changeAttacks } from './change-attacks.ts';
import { documentAttacks } from './document-attacks.ts';
import type { Attack } from './requests.ts';

/** All kinds of expensive requests (attacks), in the order of the rows in the result table of the benchmark. */
export const attacks: readonly Attack[] = [...bodyAttacks, ...documentAttacks, ...changeAttacks];

/** Returns the kind of expensive requests that has a given name. */
export function attackOf(name: string): Attack {
  const found = attacks.find((attack) => attack.name === name);
  if (!found) throw new Error(`There is no attack ${name}`);
  return found;
}
