-- Offline renderings. Times and amounts of work (the length of the decoded audio) are microseconds.
CREATE TABLE jobs (
  number INTEGER PRIMARY KEY AUTOINCREMENT,  -- order of submission
  id TEXT NOT NULL UNIQUE,
  tenant TEXT NOT NULL,
  avatar TEXT NOT NULL,
  audio TEXT NOT NULL,
  text TEXT NOT NULL,
  voice TEXT NOT NULL,
  output TEXT NOT NULL,
  options TEXT NOT NULL,
  priority INTEGER NOT NULL,
  work INTEGER NOT NULL CHECK (work >= 0),
  estimated INTEGER NOT NULL,
  key TEXT NOT NULL,
  submitted_at INTEGER NOT NULL,
  state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 6),
  changed_at INTEGER NOT NULL,
  not_before INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  worker TEXT NOT NULL,
  lease_until INTEGER NOT NULL,
  segments INTEGER NOT NULL,
  finished INTEGER NOT NULL,
  result TEXT NOT NULL,
  error TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX jobs_by_key ON jobs (tenant, key) WHERE key <> '';
CREATE INDEX jobs_of_tenant ON jobs (tenant, number);
CREATE INDEX jobs_of_tenant_by_state ON jobs (tenant, state, number);
-- In the order of claims.
CREATE INDEX jobs_claimable ON jobs (priority DESC, number) WHERE state = 1 AND not_before = 0;
CREATE INDEX jobs_delayed ON jobs (not_before) WHERE not_before > 0;
CREATE INDEX jobs_leased ON jobs (lease_until) WHERE state = 2;

CREATE TABLE job_segments (
  job INTEGER NOT NULL REFERENCES jobs (number),
  part INTEGER NOT NULL CHECK (part >= 0),
  work INTEGER NOT NULL,
  result TEXT NOT NULL,
  PRIMARY KEY (job, part)
) STRICT, WITHOUT ROWID;

-- By the wall clock.
CREATE TABLE job_events (
  number INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  job INTEGER NOT NULL,
  event INTEGER NOT NULL,
  to_state INTEGER NOT NULL,
  who TEXT NOT NULL,
  why TEXT NOT NULL
) STRICT;
CREATE INDEX job_events_of_job ON job_events (job, number);
