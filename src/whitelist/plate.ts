import type { WhitelistEntry } from '../../prisma/generated/client/client.ts';
import { ServiceError } from '../errors/error-table.ts';

/** A plate: compared exactly as sent. */
export type Plate = Pick<WhitelistEntry, 'plateType' | 'plateCode' | 'plateNumber'>;

/** 409 for a plate that the whitelist has already (specification, rule 3). */
export function duplicateVehicle(
  { plateType, plateCode, plateNumber }: Plate,
  message = 'Vehicle with this plate already exists in the whitelist',
): ServiceError {
  return new ServiceError('DUPLICATE_VEHICLE', message, { plateType, plateCode, plateNumber });
}
