-- What ended sessions used, by the day (UTC, wall clock: microseconds since 1970 at its midnight), tenant and source of GPUs.
CREATE TABLE usage (
  day BIGINT NOT NULL,
  tenant TEXT NOT NULL,
  source BIGINT NOT NULL,
  sessions BIGINT NOT NULL,
  seconds DOUBLE PRECISION NOT NULL,
  usd DOUBLE PRECISION NOT NULL,
  PRIMARY KEY (day, tenant, source)
);
