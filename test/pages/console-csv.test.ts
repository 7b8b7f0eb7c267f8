import { describe, expect, test } from 'vitest';
import { type CsvRow, entriesFile, readRows as readBytes, rejectsFile } from '../../pages/console/csv.ts';
import { instantFault } from '../../schema/instant.ts';

const header = 'referenceId,plateType,plateCode,plateNumber';
const readRows = (text: string) => readBytes(Buffer.from(text));
const readEntries = (text: string) => readRows(text).map(({ entry }) => entry);

describe('the CSV files of the console', () => {
  test.each([
    ...['many', '1 entry', '0x10', '1e1', '-1', '1.5', ' '].map((text) => [text, 'Must be a whole number']),
    ...['2147483648', '99999999999'].map((text) => [text, 'Must be 2147483647 or less']),
  ])('in a CSV file, the console rejects only the row whose maxEntries is "%s"', (maxEntries, message) => {
    const file = `${header},maxEntries\nunit-1,DXB,A,1,5\nunit-2,DXB,A,2,"${maxEntries}"\n`;
    const fault = { field: 'maxEntries', message, value: maxEntries };
    expect(readRows(file)).toMatchObject([
      { row: 1, fault: undefined },
      { row: 2, fault },
    ]);
  });

  test.each([
    ...[
      '2026-01-31T08:00:00Z',
      '2026-01-31T08:00Z',
      '2028-02-29T08:00:00.123456+04:00',
      '31/12/2026',
      '2026-01-31',
    ],
    ...['2026-02-29T08:00:00Z', '2026-13-01T08:00:00Z', '2026-01-31T24:00:00Z', '2026-01-31T08:00:60Z', ' '],
    ...['2026-01-31T08:00:00', '2026-01-31T08:00:00+0400', '2026-01-31T08:00:00z', '12026-01-31T08:00:00Z'],
    ...[
      '1969-12-31T23:59:59Z',
      '1970-01-01T01:00:00+02:00',
      '9999-12-31T23:59:59.999Z',
      '9999-12-31T23:00-02:00',
    ],
    ...['0000-01-01T00:00Z', '0099-02-29T00:00Z', '2026-01-31T08:00:00+24:00', '2026-01-31T08:00:00Z '],
  ])(
    'in a CSV file, the console rejects only the row whose validFrom is "%s", and only if the gateway would reject this time',
    (instant) => {
      const file = `${header},validFrom\nunit-1,DXB,A,1,\nunit-2,DXB,A,2,${instant}\nunit-3,DXB,A,3,`;
      const message = instantFault(instant);
      const fault = message && { field: 'validFrom', message, value: instant };
      expect(readRows(file).map((row) => row.fault)).toEqual([undefined, fault, undefined]);
    },
  );

  test('in a CSV file, the console rejects only the row with a text that is too long for a request', () => {
    const file = `${header},note\nunit-1,DXB,A,1,${'x'.repeat(500)}\nunit-2,DXB,A,2,${'x'.repeat(40_000)}`;
    expect(readRows(file).map((row) => row.fault?.field)).toEqual([undefined, 'note']);
  });

  test('when the console imports a CSV file, an empty value of maxEntries removes the limit of the entry, and a missing column maxEntries keeps the limit', () => {
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

  test('the console accepts different line endings in one CSV file', () => {
    for (const ending of ['\r\n', '\n', '\r']) {
      const file = `${header},note${ending}unit-1,DXB,A,1,red\r\nunit-2,DXB,A,2,blue\nunit-3,DXB,A,3,grey\r`;
      expect(readEntries(file).map(({ note }) => note)).toEqual(['red', 'blue', 'grey']);
    }
  });

  test('the console refuses a CSV file with a repeated column, because the console cannot know which of the columns is right', () => {
    expect(() => readEntries(`${header},note,note\nunit-1,DXB,A,1,first,second`)).toThrow(
      'Line 1: the column note is repeated',
    );
  });

  test.each([
    ['semicolons', header.replaceAll(',', ';'), 'Line 1: the columns are separated by ";"'],
    [
      'semicolons and quoted names',
      '"referenceId";"plateType"\n',
      'Line 1: the columns are separated by ";"',
    ],
    ['an empty column at the end', `${header},\nunit-1,DXB,A,1,`, 'Line 1: column 5 has no name'],
    ['an open quote', `${header}\nunit-1,"DXB,A,1\n\n\n`, 'Line 2: a quote that opens in this line'],
    ['too few fields', `${header}\nunit-1;DXB`, 'on line 2'],
  ])('the console explains what is wrong in a CSV file with %s', (_, file, message) => {
    expect(() => readEntries(file)).toThrow(message);
  });

  test.each(['latin1', 'utf16le'] as const)(
    'the console refuses a CSV file in the encoding %s',
    (encoding) => {
      const file = Buffer.from(`\ufeff${header},note\nunit-1,DXB,A,1,Café`, encoding);
      expect(() => readBytes(file)).toThrow('it is not in UTF-8');
    },
  );

  test('the console can import the CSV files that it creates: files of exported entries and files of rejected rows', () => {
    const fields = { referenceId: 'unit-1', plateType: 'DXB', plateCode: 'A', plateNumber: '1' };
    const entry = {
      ...fields,
      vehicleType: null,
      note: null,
      validFrom: null,
      validUntil: null,
      maxEntries: 2_147_483_647,
    };
    const exported = { ...entry, id: '1', locationId: '2', version: 1, entriesRecorded: 0, hours: [] };
    expect(readEntries(entriesFile([exported]))).toEqual([entry]);
    const [{ row, fields: texts }] = readRows(entriesFile([exported])) as [CsvRow];
    const reject = { row, fields: texts, field: 'plateType', message: 'Must be a plate type', value: 'DXB' };
    expect(readEntries(rejectsFile([reject]))).toEqual([entry]);
  });
});
