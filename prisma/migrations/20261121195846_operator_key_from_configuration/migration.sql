-- AlterTable
ALTER TABLE "ApiKey" ADD COLUMN     "fromConfiguration" BOOLEAN NOT NULL DEFAULT false;

-- Outside of development only OPERATOR_API_KEY made operators' keys without a record in the audit log. In development
-- the first start makes one too: there the next start marks the one that the variable names.
UPDATE "ApiKey" k SET "fromConfiguration" = true
WHERE k.unrestricted AND k.name = 'Operator' AND k.environment <> 'development' AND k."revokedAt" IS NULL
  AND NOT EXISTS (SELECT FROM "AuditRecord" a WHERE a.action = 'api_key.created' AND a."targetId" = k.id);
