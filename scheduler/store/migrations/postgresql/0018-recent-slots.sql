-- What a tenant has had of the slots lately, in the mean (slot_history.h).
ALTER TABLE job_shares ADD COLUMN recent_slots DOUBLE PRECISION NOT NULL DEFAULT 0;
