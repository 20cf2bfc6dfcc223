-- What a tenant may have of offline rendering, where `navtalk tenant set` has said so. Work is microseconds of audio, rates are
-- video-minutes a minute; 0 is no bound.
CREATE TABLE tenants (
  tenant TEXT PRIMARY KEY,
  plan INTEGER NOT NULL,
  weight REAL NOT NULL CHECK (weight > 0),
  max_rate REAL NOT NULL,
  max_queued INTEGER NOT NULL,
  max_running INTEGER NOT NULL,
  changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The division of the capacity, a row for each tenant that has had jobs (scheduler/jobs/shares/tenant_line.h).
CREATE TABLE job_shares (
  tenant TEXT PRIMARY KEY,
  plan INTEGER NOT NULL,
  demand REAL NOT NULL,
  period_at INTEGER NOT NULL,
  samples INTEGER NOT NULL,
  sample_sum REAL NOT NULL,
  sample_squares REAL NOT NULL,
  share REAL NOT NULL,
  bucket REAL NOT NULL,
  refilled_at INTEGER NOT NULL,
  started REAL NOT NULL,
  finished REAL NOT NULL
) STRICT, WITHOUT ROWID;

-- What the batch lane has learnt, and up to which event it has read. One row.
CREATE TABLE job_lane (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  gpus REAL NOT NULL,
  rate REAL NOT NULL,
  rates INTEGER NOT NULL,
  seen_event INTEGER NOT NULL,
  seen_promise INTEGER NOT NULL,
  divided_at INTEGER NOT NULL
) STRICT;
INSERT INTO job_lane VALUES (1, 0, 0, 0, 0, 0, 0);

-- Jobs by tenant and state, counted by the triggers below, so that nobody has to read 100,000 rows.
CREATE TABLE job_totals (
  tenant TEXT NOT NULL,
  state INTEGER NOT NULL,
  jobs INTEGER NOT NULL,
  work INTEGER NOT NULL,
  PRIMARY KEY (tenant, state)
) STRICT, WITHOUT ROWID;
INSERT INTO job_totals SELECT tenant, state, COUNT(*), SUM(work) FROM jobs GROUP BY tenant, state;
CREATE TRIGGER jobs_counted_in AFTER INSERT ON jobs BEGIN
  INSERT INTO job_totals VALUES (NEW.tenant, NEW.state, 1, NEW.work)
    ON CONFLICT (tenant, state) DO UPDATE SET jobs = jobs + 1, work = work + excluded.work;
END;
CREATE TRIGGER jobs_counted_out AFTER DELETE ON jobs BEGIN
  UPDATE job_totals SET jobs = jobs - 1, work = work - OLD.work WHERE tenant = OLD.tenant AND state = OLD.state;
END;
CREATE TRIGGER jobs_counted_again AFTER UPDATE OF state, work ON jobs WHEN OLD.state <> NEW.state OR OLD.work <> NEW.work BEGIN
  UPDATE job_totals SET jobs = jobs - 1, work = work - OLD.work WHERE tenant = OLD.tenant AND state = OLD.state;
  INSERT INTO job_totals VALUES (NEW.tenant, NEW.state, 1, NEW.work)
    ON CONFLICT (tenant, state) DO UPDATE SET jobs = jobs + 1, work = work + excluded.work;
END;

-- The order of release, and the first released job of each tenant.
CREATE INDEX jobs_queued_of_tenant ON jobs (tenant, priority DESC, number) WHERE state = 0;
CREATE INDEX jobs_claimable_of_tenant ON jobs (tenant, priority DESC, number) WHERE state = 1 AND not_before = 0;

-- Promised finish times. `first_at` is what was said at submission, `promised_at` what was said last. A job that ends without a
-- result loses its row.
CREATE TABLE job_promises (
  job INTEGER PRIMARY KEY REFERENCES jobs (number),
  made_at INTEGER NOT NULL,
  first_at INTEGER NOT NULL,
  promised_at INTEGER NOT NULL,
  changes INTEGER NOT NULL,
  finished_at INTEGER
) STRICT;
CREATE INDEX job_promises_due ON job_promises (promised_at) WHERE finished_at IS NULL;
CREATE INDEX job_promises_known ON job_promises (finished_at) WHERE finished_at IS NOT NULL;
