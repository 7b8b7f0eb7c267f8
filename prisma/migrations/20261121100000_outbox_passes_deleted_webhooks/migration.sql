-- As in the migration `webhooks`, but that a webhook which is deleted at this moment is passed over: its delivery would
-- refer to nothing, and the change would fail.
CREATE OR REPLACE FUNCTION "enqueue_webhook_deliveries"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "WebhookDelivery" (id, "webhookId", "eventId", type, "retryUntil")
  SELECT "new_id"(), w.id, recorded.id, recorded.action, now() + interval '3 days'
  FROM recorded
  JOIN "Webhook" w ON (w."companyId" = recorded."companyId" OR w."companyId" IS NULL)
    AND w."disabledAt" IS NULL AND recorded.action = ANY (w.events)
  FOR KEY SHARE OF w;
  RETURN NULL;
END
$$;
