-- Default times come from the clock of the database. Prisma's own `now()` in schema.prisma is the clock of the process;
-- `transaction_timestamp()` is the same function under a name for which Prisma leaves the value to the database.

-- AlterTable
ALTER TABLE "ApiKey" ALTER COLUMN "createdAt" SET DEFAULT transaction_timestamp(),
ALTER COLUMN "updatedAt" SET DEFAULT transaction_timestamp();

-- AlterTable
ALTER TABLE "ApiKeySecret" ALTER COLUMN "createdAt" SET DEFAULT transaction_timestamp();

-- AlterTable
ALTER TABLE "AuditRecord" ALTER COLUMN "createdAt" SET DEFAULT transaction_timestamp();

-- AlterTable
ALTER TABLE "Company" ALTER COLUMN "createdAt" SET DEFAULT transaction_timestamp(),
ALTER COLUMN "updatedAt" SET DEFAULT transaction_timestamp();

-- AlterTable
ALTER TABLE "Location" ALTER COLUMN "createdAt" SET DEFAULT transaction_timestamp(),
ALTER COLUMN "updatedAt" SET DEFAULT transaction_timestamp();

-- AlterTable
ALTER TABLE "ParkingEvent" ALTER COLUMN "createdAt" SET DEFAULT transaction_timestamp(),
ALTER COLUMN "updatedAt" SET DEFAULT transaction_timestamp();

-- AlterTable
ALTER TABLE "Webhook" ADD COLUMN     "failingSince" TIMESTAMPTZ(3),
ADD COLUMN     "locationIds" TEXT[] DEFAULT ARRAY[]::TEXT[],
ALTER COLUMN "createdAt" SET DEFAULT transaction_timestamp(),
ALTER COLUMN "updatedAt" SET DEFAULT transaction_timestamp();

-- AlterTable
ALTER TABLE "WebhookAttempt" ALTER COLUMN "createdAt" SET DEFAULT transaction_timestamp();

-- AlterTable
ALTER TABLE "WebhookDelivery" ALTER COLUMN "nextAttemptAt" SET DEFAULT transaction_timestamp(),
ALTER COLUMN "createdAt" SET DEFAULT transaction_timestamp();

-- AlterTable
ALTER TABLE "WhitelistEntry" ALTER COLUMN "createdAt" SET DEFAULT transaction_timestamp(),
ALTER COLUMN "updatedAt" SET DEFAULT transaction_timestamp();

-- As in the migration `outbox_passes_deleted_webhooks`, but that a webhook may be narrowed to locations. Events that
-- belong to no location are sent in any case. `retryDays` of src/webhooks/outbox.ts is the same number of days.
CREATE OR REPLACE FUNCTION "enqueue_webhook_deliveries"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "WebhookDelivery" (id, "webhookId", "eventId", type, "retryUntil")
  SELECT "new_id"(), w.id, recorded.id, recorded.action, now() + interval '3 days'
  FROM recorded
  JOIN "Webhook" w ON (w."companyId" = recorded."companyId" OR w."companyId" IS NULL)
    AND w."disabledAt" IS NULL AND recorded.action = ANY (w.events)
    AND (recorded."locationId" IS NULL OR w."locationIds" = '{}' OR recorded."locationId" = ANY (w."locationIds"))
  FOR KEY SHARE OF w;
  RETURN NULL;
END
$$;
