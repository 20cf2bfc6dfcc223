-- The worker that has this slot for offline work has missed a heartbeat: others give it no work.
ALTER TABLE sessions ADD COLUMN late INTEGER NOT NULL DEFAULT 0;
