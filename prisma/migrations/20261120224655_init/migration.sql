-- CreateEnum
CREATE TYPE "Permission" AS ENUM ('REGISTER_COMPANIES', 'READ_COMPANIES', 'READ_LOCATIONS', 'WRITE_LOCATIONS', 'READ_WHITELIST', 'WRITE_WHITELIST', 'READ_STATUS', 'READ_ACTIVITY', 'WRITE_ACTIVITY', 'MANAGE_WEBHOOKS', 'ADMIN');

-- CreateEnum
CREATE TYPE "Environment" AS ENUM ('development', 'staging', 'production');

-- CreateTable
CREATE TABLE "Company" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "slug" TEXT NOT NULL,
    "address" TEXT NOT NULL,
    "externalCompanyId" TEXT,
    "description" TEXT,
    "phone" TEXT,
    "email" TEXT,
    "website" TEXT,
    "logo" TEXT,
    "settings" JSONB,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "Company_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Location" (
    "id" TEXT NOT NULL,
    "companyId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "slug" TEXT NOT NULL,
    "address" TEXT,
    "description" TEXT,
    "capacity" INTEGER,
    "timezone" TEXT NOT NULL DEFAULT 'UTC',
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "Location_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "WhitelistEntry" (
    "id" TEXT NOT NULL,
    "locationId" TEXT NOT NULL,
    "referenceId" TEXT NOT NULL,
    "plateType" TEXT NOT NULL,
    "plateCode" TEXT NOT NULL,
    "plateNumber" TEXT NOT NULL,
    "vehicleType" TEXT,
    "note" TEXT,
    "validFrom" TIMESTAMPTZ(3),
    "validUntil" TIMESTAMPTZ(3),
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "WhitelistEntry_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "ApiKey" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "environment" "Environment" NOT NULL,
    "permissions" "Permission"[],
    "unrestricted" BOOLEAN NOT NULL DEFAULT false,
    "hourlyLimit" INTEGER NOT NULL DEFAULT 1000,
    "burstLimit" INTEGER NOT NULL DEFAULT 100,
    "expiresAt" TIMESTAMPTZ(3),
    "revokedAt" TIMESTAMPTZ(3),
    "lastUsedAt" TIMESTAMPTZ(3),
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "ApiKey_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "ApiKeySecret" (
    "id" TEXT NOT NULL,
    "apiKeyId" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "hint" TEXT NOT NULL,
    "expiresAt" TIMESTAMPTZ(3),
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "ApiKeySecret_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "AuditRecord" (
    "id" TEXT NOT NULL,
    "apiKeyId" TEXT,
    "requestId" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "companyId" TEXT,
    "locationId" TEXT,
    "targetId" TEXT NOT NULL,
    "changes" JSONB,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "AuditRecord_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "UsageRecord" (
    "id" TEXT NOT NULL,
    "apiKeyId" TEXT,
    "requestId" TEXT NOT NULL,
    "surface" TEXT NOT NULL,
    "operation" TEXT NOT NULL,
    "status" INTEGER NOT NULL,
    "durationMs" DOUBLE PRECISION NOT NULL,
    "address" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "UsageRecord_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "_ApiKeyToCompany" (
    "A" TEXT NOT NULL,
    "B" TEXT NOT NULL,

    CONSTRAINT "_ApiKeyToCompany_AB_pkey" PRIMARY KEY ("A","B")
);

-- CreateTable
CREATE TABLE "_ApiKeyToLocation" (
    "A" TEXT NOT NULL,
    "B" TEXT NOT NULL,

    CONSTRAINT "_ApiKeyToLocation_AB_pkey" PRIMARY KEY ("A","B")
);

-- CreateIndex
CREATE UNIQUE INDEX "company_slug_unique" ON "Company"("slug");

-- CreateIndex
CREATE INDEX "location_company_id" ON "Location"("companyId", "id");

-- CreateIndex
CREATE UNIQUE INDEX "location_company_slug_unique" ON "Location"("companyId", "slug");

-- CreateIndex
CREATE INDEX "whitelist_entry_location_id" ON "WhitelistEntry"("locationId", "id");

-- CreateIndex
CREATE INDEX "whitelist_entry_reference_id" ON "WhitelistEntry"("locationId", "referenceId", "id");

-- CreateIndex
CREATE INDEX "whitelist_entry_plate_type_id" ON "WhitelistEntry"("locationId", "plateType", "id");

-- CreateIndex
CREATE UNIQUE INDEX "whitelist_entry_plate_unique" ON "WhitelistEntry"("locationId", "plateType", "plateCode", "plateNumber");

-- CreateIndex
CREATE UNIQUE INDEX "api_key_secret_hash_unique" ON "ApiKeySecret"("hash");

-- CreateIndex
CREATE INDEX "api_key_secret_key_id" ON "ApiKeySecret"("apiKeyId", "id");

-- CreateIndex
CREATE INDEX "audit_record_company_id" ON "AuditRecord"("companyId", "id");

-- CreateIndex
CREATE INDEX "audit_record_location_id" ON "AuditRecord"("locationId", "id");

-- CreateIndex
CREATE INDEX "usage_record_key_created" ON "UsageRecord"("apiKeyId", "createdAt");

-- CreateIndex
CREATE INDEX "usage_record_created" ON "UsageRecord"("createdAt");

-- CreateIndex
CREATE INDEX "_ApiKeyToCompany_B_index" ON "_ApiKeyToCompany"("B");

-- CreateIndex
CREATE INDEX "_ApiKeyToLocation_B_index" ON "_ApiKeyToLocation"("B");

-- AddForeignKey
ALTER TABLE "Location" ADD CONSTRAINT "Location_companyId_fkey" FOREIGN KEY ("companyId") REFERENCES "Company"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "WhitelistEntry" ADD CONSTRAINT "WhitelistEntry_locationId_fkey" FOREIGN KEY ("locationId") REFERENCES "Location"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ApiKeySecret" ADD CONSTRAINT "ApiKeySecret_apiKeyId_fkey" FOREIGN KEY ("apiKeyId") REFERENCES "ApiKey"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "_ApiKeyToCompany" ADD CONSTRAINT "_ApiKeyToCompany_A_fkey" FOREIGN KEY ("A") REFERENCES "ApiKey"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "_ApiKeyToCompany" ADD CONSTRAINT "_ApiKeyToCompany_B_fkey" FOREIGN KEY ("B") REFERENCES "Company"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "_ApiKeyToLocation" ADD CONSTRAINT "_ApiKeyToLocation_A_fkey" FOREIGN KEY ("A") REFERENCES "ApiKey"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "_ApiKeyToLocation" ADD CONSTRAINT "_ApiKeyToLocation_B_fkey" FOREIGN KEY ("B") REFERENCES "Location"("id") ON DELETE CASCADE ON UPDATE CASCADE;
