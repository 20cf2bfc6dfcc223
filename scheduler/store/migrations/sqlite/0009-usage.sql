-- What ended sessions used, by the day (UTC, wall clock: microseconds since 1970 at its midnight), tenant and source of GPUs.
CREATE TABLE usage (
  day INTEGER NOT NULL,
  tenant TEXT NOT NULL,
  source INTEGER NOT NULL,
  sessions INTEGER NOT NULL,
  seconds REAL NOT NULL,
  usd REAL NOT NULL,
  PRIMARY KEY (day, tenant, source)
) STRICT, WITHOUT ROWID;
