-- One request is one record: days become partitions, which retention drops instead of deleting record by record, and
-- what `usage` tells is counted by the hour when a record is written. See docs/decisions/usage-tables.md.
--
-- What was recorded before is set aside here and joins again in the next migration. This one reads no more than the
-- last second of it, so that gateways of the former version, which go on recording, wait for milliseconds.

-- The table of before, without what the new one will have under the same names.
ALTER TABLE "UsageRecord" RENAME TO "UsageRecord_before";
ALTER TABLE "UsageRecord_before" DROP CONSTRAINT "UsageRecord_pkey";
DROP INDEX "usage_record_key_created";
ALTER INDEX "usage_record_created" RENAME TO "usage_record_before_created";

-- CreateTable
CREATE TABLE "UsageRecord" (
    "id" BIGINT NOT NULL DEFAULT nextval('"UsageRecord_id_seq"'),
    "apiKeyId" TEXT,
    "requestId" TEXT NOT NULL,
    "surface" TEXT NOT NULL,
    "operation" TEXT NOT NULL,
    "status" INTEGER NOT NULL,
    "errorCode" TEXT,
    "durationMs" DOUBLE PRECISION NOT NULL,
    "address" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "UsageRecord_pkey" PRIMARY KEY ("createdAt", "id")
) PARTITION BY RANGE ("createdAt");

ALTER SEQUENCE "UsageRecord_id_seq" OWNED BY "UsageRecord"."id";
ALTER TABLE "UsageRecord_before" ALTER COLUMN "id" DROP DEFAULT;

-- Takes what no other partition takes: a record is never refused.
CREATE TABLE "UsageRecord_default" PARTITION OF "UsageRecord" DEFAULT;

-- CreateTable
CREATE TABLE "UsageTotal" (
    "apiKeyId" TEXT NOT NULL,
    "hour" TIMESTAMPTZ(3) NOT NULL,
    "operation" TEXT NOT NULL,
    "surface" TEXT NOT NULL,
    "status" INTEGER NOT NULL,
    "errorCode" TEXT NOT NULL,
    "requests" INTEGER NOT NULL,
    "lastUsedAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "UsageTotal_pkey" PRIMARY KEY ("apiKeyId","hour","operation","surface","status","errorCode")
-- Room on each page for the next count of the same hour, so that the indexes need not change.
) WITH (fillfactor = 70);

-- CreateIndex
CREATE INDEX "usage_total_hour" ON "UsageTotal"("hour");

-- CreateTable
CREATE TABLE "UsageRecorder" (
    "id" TEXT NOT NULL,
    "lastBatch" INTEGER NOT NULL,
    "writtenAt" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),

    CONSTRAINT "UsageRecorder_pkey" PRIMARY KEY ("id")
) WITH (fillfactor = 50);

-- Counts what one statement inserted, whoever inserts. Sorted, so that two processes never wait for each other.
CREATE FUNCTION count_usage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "UsageTotal" AS total
    ("apiKeyId", hour, operation, surface, status, "errorCode", requests, "lastUsedAt")
  SELECT "apiKeyId", date_trunc('hour', "createdAt", 'UTC'), operation, surface, status, coalesce("errorCode", ''),
    count(*), max("createdAt")
  FROM inserted
  WHERE "apiKeyId" IS NOT NULL
  GROUP BY 1, 2, 3, 4, 5, 6
  ORDER BY 1, 2, 3, 4, 5, 6
  ON CONFLICT ("apiKeyId", hour, operation, surface, status, "errorCode") DO UPDATE SET
    requests = total.requests + excluded.requests,
    "lastUsedAt" = greatest(total."lastUsedAt", excluded."lastUsedAt");
  RETURN NULL;
END;
$$;

CREATE TRIGGER usage_record_counted AFTER INSERT ON "UsageRecord"
REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION count_usage();

-- The name of the partition of a day.
CREATE FUNCTION usage_partition_name(day date) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT 'UsageRecord_' || to_char(day, 'YYYY_MM_DD')
$$;

-- Makes the partitions of today and of the days ahead that are missing, and returns how many. A day that has records
-- in the default partition already stays there. To attach a table locks the default partition only, unlike
-- CREATE TABLE … PARTITION OF: nobody who records waits.
CREATE FUNCTION prepare_usage_partitions(days_ahead int) RETURNS int LANGUAGE plpgsql SET lock_timeout = '2s' AS $$
DECLARE
  today date := (now() AT TIME ZONE 'UTC')::date;
  partition text;
  made int := 0;
BEGIN
  FOR ahead IN 0..days_ahead LOOP
    partition := usage_partition_name(today + ahead);
    CONTINUE WHEN to_regclass(quote_ident(partition)) IS NOT NULL;
    BEGIN
      EXECUTE format('CREATE TABLE %I (LIKE "UsageRecord" INCLUDING DEFAULTS)', partition);
      EXECUTE format('ALTER TABLE "UsageRecord" ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', partition,
        (today + ahead)::timestamp AT TIME ZONE 'UTC', (today + ahead + 1)::timestamp AT TIME ZONE 'UTC');
      made := made + 1;
    EXCEPTION WHEN check_violation THEN
      -- The day is in the default partition, which retention empties.
      NULL;
    END;
  END LOOP;
  RETURN made;
END;
$$;

-- Drops the partitions whose last record is older than this, and returns how many.
CREATE FUNCTION drop_usage_partitions(kept_days int) RETURNS int LANGUAGE plpgsql SET lock_timeout = '2s' AS $$
DECLARE
  partition regclass;
  dropped int := 0;
BEGIN
  FOR partition IN
    SELECT c.oid FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = '"UsageRecord"'::regclass
      AND substring(pg_get_expr(c.relpartbound, c.oid) FROM 'TO \(''([^'']+)''\)')::timestamptz
        <= now() - make_interval(days => kept_days)
  LOOP
    EXECUTE format('DROP TABLE %s', partition);
    dropped := dropped + 1;
  END LOOP;
  RETURN dropped;
END;
$$;

DO $$
DECLARE
  -- Records from here on are in partitions, earlier ones in the table of before.
  border timestamptz := date_trunc('second', now(), 'UTC');
  today date := (now() AT TIME ZONE 'UTC')::date;
BEGIN
  IF EXISTS (SELECT FROM "UsageRecord_before") THEN
    EXECUTE format('COMMENT ON TABLE "UsageRecord_before" IS %L', border);
    EXECUTE format('CREATE TABLE %I PARTITION OF "UsageRecord" FOR VALUES FROM (%L) TO (%L)',
      usage_partition_name(today), border, (today + 1)::timestamp AT TIME ZONE 'UTC');
    WITH moved AS (DELETE FROM "UsageRecord_before" WHERE "createdAt" >= border RETURNING *)
    INSERT INTO "UsageRecord"
      (id, "apiKeyId", "requestId", surface, operation, status, "errorCode", "durationMs", address, "createdAt")
    SELECT id, "apiKeyId", "requestId", surface, operation, status, "errorCode", "durationMs", address, "createdAt"
    FROM moved;
  ELSE
    DROP TABLE "UsageRecord_before";
  END IF;
END;
$$;

SELECT prepare_usage_partitions(7);
