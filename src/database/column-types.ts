import pg from 'pg';

const { TIMESTAMPTZ } = pg.types.builtins;
const anyTimestamp = pg.types.getTypeParser(TIMESTAMPTZ);

/**
 * Reads a timestamptz of a session in UTC, such as `2026-02-03 04:05:06.789+00`. V8 reads ISO 8601 twice as
 * fast as pg, which is left what PostgreSQL may say besides: years beyond 9999, BC, infinity.
 */
export function parseTimestamp(text: string): unknown {
  return text[10] === ' ' && text.endsWith('+00')
    ? new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`)
    : anyTimestamp(text);
}

/** How the columns of hand-written statements are read on both databases: as pg reads them, but for times. */
export const columnTypes = {
  getTypeParser: ((oid: number, format) =>
    oid === TIMESTAMPTZ && format !== 'binary'
      ? parseTimestamp
      : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};
