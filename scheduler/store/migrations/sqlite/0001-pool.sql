-- The pool. Times are microseconds since 1970 by the store's clock (events: by the wall clock); empty text means none.

CREATE TABLE gpus (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL UNIQUE,
  source INTEGER NOT NULL,
  state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 5),
  draining INTEGER NOT NULL,
  dedicated_to TEXT NOT NULL,
  slots INTEGER NOT NULL CHECK (slots > 0),
  sessions INTEGER NOT NULL CHECK (sessions >= 0),
  host TEXT NOT NULL,
  device TEXT NOT NULL,
  url TEXT NOT NULL,
  provider_id TEXT NOT NULL,
  usd_per_hour REAL NOT NULL,
  created_at INTEGER NOT NULL,
  since INTEGER NOT NULL,
  seen_at INTEGER NOT NULL,
  last_error TEXT NOT NULL,
  reserved_for TEXT NOT NULL,
  operation INTEGER NOT NULL,
  intent_number INTEGER NOT NULL,
  intent_owner TEXT NOT NULL,
  intent_until INTEGER NOT NULL,
  intent_called INTEGER NOT NULL,
  intent_since INTEGER NOT NULL,
  intent_tries INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  version INTEGER NOT NULL,
  CHECK (state <> 0 OR sessions = 0),
  CHECK (state <> 1 OR sessions > 0)
) STRICT;
-- In the order of claims; it holds only GPUs with room.
CREATE INDEX gpus_with_room ON gpus (dedicated_to, source, sessions DESC, created_at, id)
  WHERE state < 2 AND draining = 0 AND sessions < slots;

-- A session is an open lease on one slot. The unique pair is the last guard against leasing a slot twice.
CREATE TABLE sessions (
  number INTEGER PRIMARY KEY,
  lease TEXT NOT NULL UNIQUE,
  claimant TEXT NOT NULL UNIQUE,
  gpu TEXT NOT NULL REFERENCES gpus (id),
  slot INTEGER NOT NULL CHECK (slot >= 0),
  epoch INTEGER NOT NULL,
  tenant TEXT NOT NULL,
  gateway TEXT NOT NULL,
  url TEXT NOT NULL,
  arrived_at INTEGER NOT NULL,
  claimed_at INTEGER NOT NULL,
  until INTEGER NOT NULL,
  UNIQUE (gpu, slot)
) STRICT;
CREATE INDEX sessions_of_tenant ON sessions (tenant) WHERE tenant <> '';

CREATE TABLE waiters (
  number INTEGER PRIMARY KEY,  -- order of arrival
  id TEXT NOT NULL UNIQUE,
  tenant TEXT NOT NULL,
  plan INTEGER NOT NULL,
  weight REAL NOT NULL,
  gateway TEXT NOT NULL,
  host TEXT NOT NULL,
  max_sessions INTEGER NOT NULL,
  arrived_at INTEGER NOT NULL,
  until INTEGER NOT NULL,
  tag REAL NOT NULL
) STRICT;
CREATE INDEX waiters_in_order ON waiters (plan DESC, tag, number);

-- Weighted fair queueing: a plan's virtual time, and where each tenant's next start tag is at least.
CREATE TABLE fair_plans (plan INTEGER PRIMARY KEY, virtual_time REAL NOT NULL) STRICT;
CREATE TABLE fair_tenants (
  plan INTEGER NOT NULL,
  tenant TEXT NOT NULL,
  finish REAL NOT NULL,
  PRIMARY KEY (plan, tenant)
) STRICT, WITHOUT ROWID;

-- The newest event is never deleted, so that numbers only grow.
CREATE TABLE events (
  number INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  gpu TEXT NOT NULL,
  who TEXT NOT NULL,
  why TEXT NOT NULL,
  from_state INTEGER,
  to_state INTEGER
) STRICT;

CREATE TABLE demand (
  start INTEGER PRIMARY KEY,
  arrivals INTEGER NOT NULL,
  ended INTEGER NOT NULL,
  ended_seconds REAL NOT NULL
) STRICT;

CREATE TABLE attempts (
  number INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  gpu TEXT NOT NULL,
  source INTEGER NOT NULL,
  operation INTEGER NOT NULL,
  result INTEGER NOT NULL,
  took INTEGER NOT NULL,
  detail TEXT NOT NULL
) STRICT;
CREATE INDEX attempts_by_time ON attempts (at);

CREATE TABLE promises (
  number INTEGER PRIMARY KEY,
  waiter TEXT NOT NULL,
  made_at INTEGER NOT NULL,
  promised INTEGER NOT NULL,
  actual INTEGER
) STRICT;
CREATE INDEX promises_by_time ON promises (made_at);
CREATE INDEX promises_open ON promises (waiter) WHERE actual IS NULL;

CREATE TABLE decisions (
  number INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  policy TEXT NOT NULL,
  shadow INTEGER NOT NULL,
  target INTEGER NOT NULL,
  supply INTEGER NOT NULL,
  busy INTEGER NOT NULL,
  queued INTEGER NOT NULL,
  cloud INTEGER NOT NULL,
  actions TEXT NOT NULL
) STRICT;
CREATE INDEX decisions_by_time ON decisions (at);

CREATE TABLE paid_spans (
  number INTEGER PRIMARY KEY,
  gpu TEXT NOT NULL,
  provider_id TEXT NOT NULL,
  usd_per_hour REAL NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at INTEGER
) STRICT;
CREATE UNIQUE INDEX paid_spans_open ON paid_spans (gpu) WHERE ended_at IS NULL;

CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- One row each.
CREATE TABLE scaler (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  owner TEXT NOT NULL,
  fence INTEGER NOT NULL,
  until INTEGER NOT NULL
) STRICT;
INSERT INTO scaler VALUES (1, '', 0, 0);

-- The store's clock is wall_minus_boot + CLOCK_BOOTTIME while boot_id is this boot's. last is a time that it has shown. The
-- generation grows with every boot: claims that a crash of the machine took back had lower epochs.
CREATE TABLE clock (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  boot_id TEXT NOT NULL,
  wall_minus_boot INTEGER NOT NULL,
  last INTEGER NOT NULL,
  generation INTEGER NOT NULL
) STRICT;
INSERT INTO clock VALUES (1, '', 0, 0, 0);
