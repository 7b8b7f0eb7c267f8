-- What was recorded before the partitions joins them, as the partition of everything before their border. Nobody
-- writes into its table any more: counting it and building its index may take minutes, and keeps nobody waiting.
DO $$
DECLARE
  border timestamptz;
BEGIN
  IF to_regclass('"UsageRecord_before"') IS NULL THEN
    RETURN;
  END IF;
  border := obj_description('"UsageRecord_before"'::regclass, 'pg_class');

  CREATE TEMPORARY TABLE usage_of_before ON COMMIT DROP AS
  SELECT "apiKeyId", date_trunc('hour', "createdAt", 'UTC') AS hour, operation, surface, status,
    coalesce("errorCode", '') AS "errorCode", count(*) AS requests, max("createdAt") AS "lastUsedAt"
  FROM "UsageRecord_before"
  WHERE "apiKeyId" IS NOT NULL
  GROUP BY 1, 2, 3, 4, 5, 6;

  DROP INDEX "usage_record_before_created";
  ALTER TABLE "UsageRecord_before" ADD CONSTRAINT "UsageRecord_before_pkey" PRIMARY KEY ("createdAt", id);
  ALTER TABLE "UsageRecord_before" ALTER COLUMN id SET DEFAULT nextval('"UsageRecord_id_seq"');
  -- With it, the table is attached without another look at each record.
  EXECUTE format('ALTER TABLE "UsageRecord_before" ADD CONSTRAINT before_border CHECK ("createdAt" < %L)', border);

  -- From here on others may have to wait, for as long as the counts take to be written. Records that came late for
  -- the border, and are counted, are in the default partition. One that waits for it at this moment is refused, since
  -- its place is another one now, and is sent again.
  LOCK TABLE "UsageRecord_default" IN ACCESS EXCLUSIVE MODE;
  WITH late AS (DELETE FROM "UsageRecord_default" WHERE "createdAt" < border RETURNING *)
  INSERT INTO "UsageRecord_before"
    (id, "apiKeyId", "requestId", surface, operation, status, "errorCode", "durationMs", address, "createdAt")
  SELECT id, "apiKeyId", "requestId", surface, operation, status, "errorCode", "durationMs", address, "createdAt"
  FROM late;
  EXECUTE format('ALTER TABLE "UsageRecord" ATTACH PARTITION "UsageRecord_before" FOR VALUES FROM (MINVALUE) TO (%L)',
    border);
  ALTER TABLE "UsageRecord_before" DROP CONSTRAINT before_border;

  INSERT INTO "UsageTotal" AS total
    ("apiKeyId", hour, operation, surface, status, "errorCode", requests, "lastUsedAt")
  SELECT "apiKeyId", hour, operation, surface, status, "errorCode", requests, "lastUsedAt"
  FROM usage_of_before
  ORDER BY 1, 2, 3, 4, 5, 6
  ON CONFLICT ("apiKeyId", hour, operation, surface, status, "errorCode") DO UPDATE SET
    requests = total.requests + excluded.requests,
    "lastUsedAt" = greatest(total."lastUsedAt", excluded."lastUsedAt");
END;
$$;
