-- API keys by their hash: the key itself is in no table. A row is never deleted, so that a pool which has had a key never
-- serves without one again.
CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  hash TEXT NOT NULL,
  tenant TEXT NOT NULL,
  role INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER
) STRICT, WITHOUT ROWID;

-- Browser tokens that have opened their session, until they would have expired.
CREATE TABLE used_client_tokens (id TEXT PRIMARY KEY, expires_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX used_client_tokens_by_expiry ON used_client_tokens (expires_at);
