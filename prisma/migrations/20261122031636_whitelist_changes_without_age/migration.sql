-- Every writer paid for it, and those who write at the same time met on its last page. Retention finds the oldest changes by
-- the primary key (src/retention.ts).

-- DropIndex
DROP INDEX "whitelist_change_age";
