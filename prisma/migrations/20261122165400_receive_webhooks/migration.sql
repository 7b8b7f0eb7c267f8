-- CreateEnum
CREATE TYPE "WebhookDeliveryKind" AS ENUM ('PUSH', 'PULL');

-- AlterEnum
ALTER TYPE "Permission" ADD VALUE 'RECEIVE_WEBHOOKS';

-- AlterTable
ALTER TABLE "Webhook" ADD COLUMN     "delivery" "WebhookDeliveryKind" NOT NULL DEFAULT 'PUSH',
ALTER COLUMN "url" DROP NOT NULL;

-- AlterTable
ALTER TABLE "WebhookDelivery" ADD COLUMN     "claimedAt" TIMESTAMPTZ(3);

-- CreateIndex
CREATE INDEX "webhook_delivery_end" ON "WebhookDelivery"("webhookId", "status", "retryUntil");
