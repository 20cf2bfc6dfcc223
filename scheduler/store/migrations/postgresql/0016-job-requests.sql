-- What the request asked for that made the job under its key, as lower-case hexadecimal SHA-256; empty: it is not known.
ALTER TABLE jobs ADD COLUMN request TEXT COLLATE "C" NOT NULL DEFAULT '';
