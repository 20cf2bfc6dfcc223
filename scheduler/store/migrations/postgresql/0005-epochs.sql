-- New rows and old ones get epochs above those of all rows that were removed: a worker that is removed and added again has
-- seen the epochs of its old row. One row.
CREATE TABLE epochs (
  one BIGINT PRIMARY KEY CHECK (one = 1),
  removed BIGINT NOT NULL  -- the highest epoch of a removed row
);
INSERT INTO epochs SELECT 1, COALESCE(MAX(epoch), 0) FROM gpus;
