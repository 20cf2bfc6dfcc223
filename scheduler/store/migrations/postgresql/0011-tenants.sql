-- What a tenant may have of offline rendering, where `navtalk tenant set` has said so. Work is microseconds of audio, rates are
-- video-minutes a minute; 0 is no bound.
CREATE TABLE tenants (
  tenant TEXT COLLATE "C" PRIMARY KEY,
  plan BIGINT NOT NULL,
  weight DOUBLE PRECISION NOT NULL CHECK (weight > 0),
  max_rate DOUBLE PRECISION NOT NULL,
  max_queued BIGINT NOT NULL,
  max_running BIGINT NOT NULL,
  changed_at BIGINT NOT NULL
);

-- The division of the capacity, a row for each tenant that has had jobs (scheduler/jobs/shares/tenant_line.h).
CREATE TABLE job_shares (
  tenant TEXT COLLATE "C" PRIMARY KEY,
  plan BIGINT NOT NULL,
  demand DOUBLE PRECISION NOT NULL,
  period_at BIGINT NOT NULL,
  samples BIGINT NOT NULL,
  sample_sum DOUBLE PRECISION NOT NULL,
  sample_squares DOUBLE PRECISION NOT NULL,
  share DOUBLE PRECISION NOT NULL,
  bucket DOUBLE PRECISION NOT NULL,
  refilled_at BIGINT NOT NULL,
  started DOUBLE PRECISION NOT NULL,
  finished DOUBLE PRECISION NOT NULL
);

-- What the batch lane has learnt, and up to which event it has read. One row.
CREATE TABLE job_lane (
  id BIGINT PRIMARY KEY CHECK (id = 1),
  gpus DOUBLE PRECISION NOT NULL,
  rate DOUBLE PRECISION NOT NULL,
  rates BIGINT NOT NULL,
  seen_event BIGINT NOT NULL,
  seen_promise BIGINT NOT NULL,
  divided_at BIGINT NOT NULL
);
INSERT INTO job_lane VALUES (1, 0, 0, 0, 0, 0, 0);

-- Jobs by tenant and state, counted by the trigger below, so that nobody has to read 100,000 rows.
CREATE TABLE job_totals (
  tenant TEXT COLLATE "C" NOT NULL,
  state BIGINT NOT NULL,
  jobs BIGINT NOT NULL,
  work BIGINT NOT NULL,
  PRIMARY KEY (tenant, state)
);
INSERT INTO job_totals SELECT tenant, state, COUNT(*), CAST(SUM(work) AS BIGINT) FROM jobs GROUP BY tenant, state;
CREATE FUNCTION jobs_count() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND OLD.state = NEW.state AND OLD.work = NEW.work THEN
    RETURN NULL;
  END IF;
  IF TG_OP <> 'INSERT' THEN
    UPDATE job_totals SET jobs = jobs - 1, work = work - OLD.work WHERE tenant = OLD.tenant AND state = OLD.state;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    INSERT INTO job_totals AS total VALUES (NEW.tenant, NEW.state, 1, NEW.work)
      ON CONFLICT (tenant, state) DO UPDATE SET jobs = total.jobs + 1, work = total.work + excluded.work;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER jobs_counted AFTER INSERT OR DELETE OR UPDATE OF state, work ON jobs FOR EACH ROW EXECUTE FUNCTION jobs_count();

-- The order of release, and the first released job of each tenant.
CREATE INDEX jobs_queued_of_tenant ON jobs (tenant, priority DESC, number) WHERE state = 0;
CREATE INDEX jobs_claimable_of_tenant ON jobs (tenant, priority DESC, number) WHERE state = 1 AND not_before = 0;

-- Promised finish times. `first_at` is what was said at submission, `promised_at` what was said last. A job that ends without a
-- result loses its row.
CREATE TABLE job_promises (
  job BIGINT PRIMARY KEY REFERENCES jobs (number),
  made_at BIGINT NOT NULL,
  first_at BIGINT NOT NULL,
  promised_at BIGINT NOT NULL,
  changes BIGINT NOT NULL,
  finished_at BIGINT
);
CREATE INDEX job_promises_due ON job_promises (promised_at) WHERE finished_at IS NULL;
CREATE INDEX job_promises_known ON job_promises (finished_at) WHERE finished_at IS NOT NULL;
