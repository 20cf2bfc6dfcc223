-- From which tenant slots are kept free, with how many running jobs of all tenants its own ones wait, and until when
-- (flood_headroom.h).
ALTER TABLE job_lane ADD COLUMN headroom_tenant TEXT NOT NULL DEFAULT '';
ALTER TABLE job_lane ADD COLUMN headroom_running BIGINT NOT NULL DEFAULT 0;
ALTER TABLE job_lane ADD COLUMN headroom_until BIGINT NOT NULL DEFAULT 0;
-- How many jobs of a tenant waited lately, and when a turn last saw that it had submitted some.
ALTER TABLE job_shares ADD COLUMN recent_waiting DOUBLE PRECISION NOT NULL DEFAULT 0;
ALTER TABLE job_shares ADD COLUMN submitted_at BIGINT NOT NULL DEFAULT 0;
