import fc from 'fast-check';
import pg from 'pg';
import { expect, test } from 'vitest';
import { parseTimestamp } from '../../src/database/column-types.ts';

const asPgReads = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ);

/** Writes a UTC time in the format of PostgreSQL, which omits zeros at the end of the fraction of a second. */
const written = (instant: Date) =>
  instant
    .toISOString()
    .replace('T', ' ')
    .replace(/\.?0*Z$/, '+00');

test('the gateway and the npm package pg parse timestamps of the years 1 to 9999 with the same result', () => {
  const instants = fc.date({
    min: new Date('0001-01-01T00:00:00Z'),
    max: new Date('9999-12-31T23:59:59.999Z'),
    noInvalidDate: true,
  });
  fc.assert(
    fc.property(instants, (instant) => {
      expect(parseTimestamp(written(instant))).toEqual(instant);
      expect(asPgReads(written(instant))).toEqual(instant);
    }),
  );
});

test.each([
  '12026-02-03 04:05:06+00',
  '0044-03-15 12:00:00+00 BC',
  'infinity',
  '-infinity',
  '2026-02-03 04:05:06.123456+00',
  '2026-02-03 09:35:06.5+05:30',
])('the gateway and the npm package pg parse the timestamp %s with the same result', (text) =>
  expect(parseTimestamp(text)).toEqual(asPgReads(text)),
);
