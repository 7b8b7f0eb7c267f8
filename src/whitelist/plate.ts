import type { WhitelistEntry } from '../../prisma/generated/client/client.ts';
import { ServiceError } from '../errors/error-table.ts';

/** A licence plate. Two plates are equal only if they consist of exactly the same characters. */
export type Plate = Pick<WhitelistEntry, 'plateType' | 'plateCode' | 'plateNumber'>;

/** The database columns that together contain a plate. */
export const plateColumns = ['plateType', 'plateCode', 'plateNumber'] as const satisfies (keyof Plate)[];

/** Converts plates to SQL parameters, with one array for each column of a plate. */
export const plateArrays = (plates: readonly Plate[]) => ({
  plateType: plates.map(({ plateType }) => plateType),
  plateCode: plates.map(({ plateCode }) => plateCode),
  plateNumber: plates.map(({ plateNumber }) => plateNumber),
});

/** The error with status 409 for a plate that is already in the whitelist (docs/contract.md#whitelist-entry). */
export function duplicateVehicle(
  { plateType, plateCode, plateNumber }: Plate,
  message = 'Vehicle with this plate already exists in the whitelist',
): ServiceError {
  return new ServiceError('DUPLICATE_VEHICLE', message, { plateType, plateCode, plateNumber });
}
