import { describe, expect, test } from 'vitest';
import { entriesFile, readEntries as readBytes, rejectsFile } from '../../pages/console/csv.ts';

const header = 'referenceId,plateType,plateCode,plateNumber';
const readEntries = (text: string) => readBytes(Buffer.from(text));

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

  test('in a CSV file, an empty value of maxEntries removes the limit, and a missing column maxEntries keeps the limit', () => {
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

  test('the console refuses a CSV file with a repeated column, because the console cannot know which of the columns is right', () => {
    expect(() => readEntries(`${header},note,note\nunit-1,DXB,A,1,first,second`)).toThrow(
      'Line 1: the column note is repeated',
    );
  });

  test.each(['latin1', 'utf16le'] as const)(
    'the console refuses a CSV file in the encoding %s',
    (encoding) => {
      const file = Buffer.from(`\ufeff${header},note\nunit-1,DXB,A,1,Café`, encoding);
      expect(() => readBytes(file)).toThrow('it is not in UTF-8');
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
