import { describe, expect, test } from 'vitest';
import { entriesFile, readEntries, rejectsFile } from '../../pages/console/csv.ts';

const header = 'referenceId,plateType,plateCode,plateNumber';

describe('the CSV files of the console', () => {
  test.each(['many', '1 entry', '0x10', '1e1', '-1', '1.5', ' ', '1234567890'])(
    'the console refuses a CSV file when maxEntries in the second row is "%s"',
    (maxEntries) => {
      const file = `${header},maxEntries\nunit-1,DXB,A,1,5\nunit-2,DXB,A,2,"${maxEntries}"\n`;
      expect(() => readEntries(file)).toThrow(
        `Row 2: maxEntries ${JSON.stringify(maxEntries)}: Must be a whole number`,
      );
    },
  );

  test('in a CSV file, an empty maxEntries means an unlimited number of entries, and without the column maxEntries nothing changes', () => {
    const maxEntriesOf = (file: string) => readEntries(file).map((entry) => entry.maxEntries);
    expect(maxEntriesOf(`${header},maxEntries\nunit-1,DXB,A,1,\nunit-2,DXB,A,2,12`)).toEqual([null, 12]);
    expect(maxEntriesOf(`${header}\nunit-1,DXB,A,1`)).toEqual([undefined]);
  });

  test.each(['hours', 'validTo', 'MaxEntries'])(
    'the console refuses a CSV file with the unknown column %s',
    (column) => {
      expect(() => readEntries(`${header},${column}\nunit-1,DXB,A,1,2`)).toThrow(
        `Line 1: unknown column ${column}; the columns may be ${header.replaceAll(',', ', ')}`,
      );
    },
  );

  test('the console can import the CSV files that it creates from exported entries and from rejected rows', () => {
    const fields = { referenceId: 'unit-1', plateType: 'DXB', plateCode: 'A', plateNumber: '1' };
    const entry = {
      ...fields,
      vehicleType: null,
      note: null,
      validFrom: null,
      validUntil: null,
      maxEntries: 3,
    };
    const exported = { ...entry, id: '1', locationId: '2', version: 1, entriesRecorded: 0, hours: [] };
    expect(readEntries(entriesFile([exported]))).toEqual([entry]);
    const reject = { row: 1, entry, field: 'plateType', message: 'Must be a plate type', value: 'DXB' };
    expect(readEntries(rejectsFile([reject]))).toEqual([entry]);
  });
});
