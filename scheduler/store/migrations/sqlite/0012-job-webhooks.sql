-- Where the end of a job, and a change of its promise, is told; and what has not been told yet.
ALTER TABLE jobs ADD COLUMN webhook TEXT NOT NULL DEFAULT '';
CREATE TABLE job_notices (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  job INTEGER NOT NULL,
  event INTEGER NOT NULL,
  to_state INTEGER NOT NULL,
  why TEXT NOT NULL,
  at INTEGER NOT NULL,  -- wall clock
  made_at INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  failures INTEGER NOT NULL
) STRICT;
CREATE INDEX job_notices_due ON job_notices (due_at);
CREATE INDEX job_notices_of_job ON job_notices (job);
-- Jobs that are over, the oldest first.
CREATE INDEX jobs_over ON jobs (changed_at) WHERE state >= 3;
