import { namedStatement } from '../database/named-statement.ts';
import { lastCountOf } from './occupancy-columns.ts';
import { endOf, isUncertain, startOf } from './session-columns.ts';

/**
 * The SQL expression for the time from which a vehicle no longer counts as inside. A vehicle counts as inside until the
 * end of its session or the end of its maximum stay, whichever comes first.
 */
const leftOf = (session: string) =>
  `least(${endOf(session)}, coalesce(${session}."staysUntil", TIMESTAMPTZ 'infinity'))`;

/**
 * SQL that searches a sorted array of instants. The SQL finds the first instant at or after a given time, and returns
 * the index of this instant in the array. Indexes start at 1. The PostgreSQL function `width_bucket` returns the index
 * of the last instant at or before a given time. The SQL subtracts a microsecond from the given time, and adds 1 to the
 * result of `width_bucket`. Without the subtracted microsecond, the SQL would skip an instant that is equal to the
 * given time. For any other given time, the subtracted microsecond does not change the result, because all stored times
 * are whole milliseconds.
 */
const firstFrom = (time: string, instants: string) =>
  `width_bucket(${time} - interval '1 microsecond', ${instants}) + 1`;

/**
 * SQL that reads the parking sessions that the gateway needs to compute the occupancy history for a query `q`. The SQL
 * consists of three queries, joined by UNION ALL. PostgreSQL can answer each of these queries from an index, and reads
 * only the matching rows.
 *
 * The first query reads the parking sessions that were in progress at any time from `q.from` to `q.to`.
 *
 * The second query reads the uncertain parking sessions (`isUncertain`, such as sessions without a recorded exit) that
 * ended between `q."countedAt"` and `q.from`. The end of an uncertain session can bring the occupancy adjustment closer
 * to 0, so the occupancy history depends on these sessions. `q."countedAt"` is the time of the last occupancy count
 * before the start of the requested history.
 *
 * The third query reads the parking sessions that were open at the time `q."derivedAt"` and ended before `q.from`,
 * except the uncertain parking sessions. `q."derivedAt"` is the time of the first occupancy count without a usable
 * stored number of open parking sessions. The statement must therefore count the parking sessions that were open at the
 * time of this occupancy count.
 */
const sessionsOf = (columns: string) => `
  SELECT ${columns} FROM "ParkingSession" s
  WHERE s."locationId" = q."locationId" AND ${endOf('s')} >= q."from" AND ${startOf('s')} <= q."to"
  UNION ALL
  SELECT ${columns} FROM "ParkingSession" s
  WHERE s."locationId" = q."locationId" AND ${endOf('s')} > q."countedAt" AND ${endOf('s')} < q."from" AND ${isUncertain('s')}
  UNION ALL
  SELECT ${columns} FROM "ParkingSession" s
  WHERE s."locationId" = q."locationId" AND ${endOf('s')} > q."derivedAt" AND ${endOf('s')} < q."from"
    AND ${startOf('s')} <= q."derivedAt" AND ${isUncertain('s')} IS NOT TRUE`;

/**
 * Computes how many vehicles were inside several locations at given instants. The statement has three SQL parameters,
 * `$n`, `$locationId` and `$at`, and each of these parameters is an array. For each instant for which a query needs the
 * occupancy, each array contains one item. The item of `$n` is the index of the query, the item of `$locationId` is the
 * location of the query, and the item of `$at` is the instant. The last instant of a query only marks the end of the
 * last interval, so the statement returns no row for this instant. The occupancy is the number of open sessions plus
 * the occupancy adjustment (`adjustmentOf` in occupancy-columns.ts). The statement reads each parking session only
 * once. For each parking session, the SQL statement adds 1 to the number of open sessions at the first given instant at
 * or after the start of the session. It subtracts 1 from this number at the first given instant at or after the end of
 * the session. The number of parking sessions that were open at an instant is the sum of all additions and subtractions
 * up to this instant.
 *
 * Each occupancy count stores the number of sessions that were open at the time of the count (`openSessions`). For the
 * last occupancy count of a location, the statement uses the stored number of open sessions, as the query for the
 * current occupancy does. A new count of these open sessions could be too low, because the retention job may have
 * removed some of the sessions. If an occupancy count equals its stored number of open sessions, the occupancy
 * adjustment is 0, so the statement ignores this count.
 */
export const occupancyHistory = namedStatement(
  'parking-occupancy-history',
  `
  WITH bound AS (
    SELECT n, "locationId", at, row_number() OVER (PARTITION BY n ORDER BY at)::int AS place
    FROM unnest($n::int[], $locationId::text[], $at::timestamptz[]) AS b(n, "locationId", at)
  ), point AS MATERIALIZED (
    SELECT b.*, k."countedAt", k.counted, k."storedSessions"
    FROM bound b LEFT JOIN LATERAL (
      SELECT c."countedAt", c.occupied AS counted, c.kind,
        CASE WHEN c.id = (SELECT last.id FROM (${lastCountOf('c."locationId"')}) last) THEN c."openSessions" END AS "storedSessions"
      FROM "OccupancyCount" c
      WHERE c."locationId" = b."locationId" AND c."countedAt" <= b.at ORDER BY c."countedAt" DESC, c.kind DESC LIMIT 1
    ) k ON k.kind = 'NUMBER' AND k.counted IS DISTINCT FROM k."storedSessions"
  ), question AS MATERIALIZED (
    SELECT n, "locationId", array_agg(at ORDER BY at) AS bounds,
      array(SELECT DISTINCT k."countedAt" FROM point k WHERE k.n = p.n AND k."countedAt" IS NOT NULL ORDER BY 1) AS counts,
      min(at) AS "from", max(at) AS "to", min("countedAt") AS "countedAt",
      min("countedAt") FILTER (WHERE "storedSessions" IS NULL) AS "derivedAt"
    FROM point p GROUP BY n, "locationId"
  ), session AS MATERIALIZED (
    SELECT q.n, ${startOf('s')} AS "start", ${leftOf('s')} AS "left", s."exitedAt" AS exit, s."staysUntil",
      s."enteredAt" IS NULL AND s."countedAt" IS NULL AS unseen,
      ${firstFrom(startOf('s'), 'q.bounds')} AS "startPlace",
      ${firstFrom(leftOf('s'), 'q.bounds')} AS "leftPlace",
      ${firstFrom('s."exitedAt"', 'q.bounds')} AS "exitPlace",
      width_bucket(s."enteredAt", q.bounds) AS "entryInterval",
      width_bucket(s."exitedAt", q.bounds) AS "exitInterval",
      ${firstFrom(startOf('s'), 'q.counts')} AS "startCount",
      ${firstFrom(leftOf('s'), 'q.counts')} AS "leftCount"
    FROM question q CROSS JOIN LATERAL (${sessionsOf('s."enteredAt", s."countedAt", s."exitedAt", s."endedAt", s."staysUntil"')}
    ) s
  ), change AS (
    SELECT n, place, sum(opened) AS opened, sum(entries) AS entries, sum(exits) AS exits
    FROM (
      SELECT n, "startPlace" AS place, 1 AS opened, 0 AS entries, 0 AS exits FROM session
      UNION ALL SELECT n, "leftPlace", -1, 0, 0 FROM session
      UNION ALL SELECT n, "entryInterval", 0, 1, 0 FROM session
      UNION ALL SELECT n, "exitInterval", 0, 0, 1 FROM session
    ) c GROUP BY n, place
  ), count_change AS (
    SELECT n, place, sum(opened) AS opened
    FROM (
      SELECT n, "startCount" AS place, 1 AS opened FROM session
      UNION ALL SELECT n, "leftCount", -1 FROM session
    ) c GROUP BY n, place
  ), count_state AS (
    SELECT q.n, k."countedAt", sum(coalesce(c.opened, 0)) OVER (PARTITION BY q.n ORDER BY k.place) AS opened
    FROM question q CROSS JOIN LATERAL unnest(q.counts) WITH ORDINALITY AS k("countedAt", place)
    LEFT JOIN count_change c ON c.n = q.n AND c.place = k.place
  ), fading AS (
    SELECT n, place, sum(closed) AS closed, sum("unseenEnds") AS "unseenEnds", sum("unknownExits") AS "unknownExits"
    FROM (
      SELECT p.n, p.place, 1 AS closed, (s.exit IS NULL OR s.exit > s."left")::int AS "unseenEnds", 0 AS "unknownExits"
      FROM session s JOIN point p ON p.n = s.n AND p.place = s."leftPlace"
      WHERE s."start" <= p."countedAt" AND s."left" > p."countedAt"
      UNION ALL
      SELECT p.n, p.place, 0,
        -(s."start" <= p."countedAt" AND s."staysUntil" > p."countedAt" AND s."staysUntil" < s.exit)::int,
        (s.unseen OR s."staysUntil" <= p."countedAt")::int
      FROM session s JOIN point p ON p.n = s.n AND p.place = s."exitPlace"
      WHERE s.exit > p."countedAt"
    ) f GROUP BY n, place
  ), state AS (
    SELECT p.n, p."locationId", p.place, p.at, p."countedAt", k.opened AS "openWhenCounted",
      p.counted - coalesce(p."storedSessions", k.opened) AS difference,
      sum(coalesce(c.opened, 0)) OVER (PARTITION BY p.n ORDER BY p.place) AS opened,
      coalesce(c.entries, 0)::int AS entries, coalesce(c.exits, 0)::int AS exits,
      sum(coalesce(f.closed, 0)) OVER since AS closed,
      sum(coalesce(f."unseenEnds", 0)) OVER since AS "unseenEnds",
      sum(coalesce(f."unknownExits", 0)) OVER since AS "unknownExits"
    FROM point p
    LEFT JOIN change c ON c.n = p.n AND c.place = p.place
    LEFT JOIN fading f ON f.n = p.n AND f.place = p.place
    LEFT JOIN count_state k ON k.n = p.n AND k."countedAt" = p."countedAt"
    WINDOW since AS (PARTITION BY p.n, p."countedAt" ORDER BY p.place)
  )
  SELECT t.n, t.at, t.entries, t.exits, (t.opened + CASE
      WHEN t."countedAt" IS NULL THEN 0
      WHEN t.difference < 0
        THEN -greatest(least(-t.difference - t."unseenEnds", t."openWhenCounted" - t.closed), 0)
      WHEN t."countedAt" + make_interval(hours => l."longestStayHours") <= t.at THEN 0
      ELSE greatest(t.difference - t."unknownExits", 0)
    END)::int AS occupied
  FROM state t JOIN "Location" l ON l.id = t."locationId"
  WHERE t.place < (SELECT cardinality(q.bounds) FROM question q WHERE q.n = t.n)
  ORDER BY t.n, t.at`,
);
