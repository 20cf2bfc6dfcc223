-- The budget of the batch lane as it was lately (video-minutes a minute, batch_capacity.h): what tenants have saved is measured by it.
ALTER TABLE job_lane ADD COLUMN recent_budget REAL NOT NULL DEFAULT 0;
