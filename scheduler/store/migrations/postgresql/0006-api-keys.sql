-- API keys by their hash: the key itself is in no table. A row is never deleted, so that a pool which has had a key never
-- serves without one again.
CREATE TABLE api_keys (
  id TEXT COLLATE "C" PRIMARY KEY,
  hash TEXT COLLATE "C" NOT NULL,
  tenant TEXT COLLATE "C" NOT NULL,
  role BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT,
  revoked_at BIGINT
);

-- Browser tokens that have opened their session, until they would have expired.
CREATE TABLE used_client_tokens (id TEXT COLLATE "C" PRIMARY KEY, expires_at BIGINT NOT NULL);
CREATE INDEX used_client_tokens_by_expiry ON used_client_tokens (expires_at);
