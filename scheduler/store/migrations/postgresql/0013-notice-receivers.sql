-- Who is told: a tenant's host. What is due is taken by receiver, so that one with many notices delays nobody.
ALTER TABLE job_notices ADD COLUMN receiver TEXT COLLATE "C" NOT NULL DEFAULT '';
DROP INDEX job_notices_due;
CREATE INDEX job_notices_by_receiver ON job_notices (receiver, due_at);
