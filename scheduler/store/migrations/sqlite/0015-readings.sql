-- What a worker said last of its GPU, in bytes, per cent and degrees Celsius, and when. A time of 0: it said nothing.
ALTER TABLE gpus ADD COLUMN memory_used INTEGER NOT NULL DEFAULT 0;
ALTER TABLE gpus ADD COLUMN memory_total INTEGER NOT NULL DEFAULT 0;
ALTER TABLE gpus ADD COLUMN load_percent INTEGER;
ALTER TABLE gpus ADD COLUMN temperature_c INTEGER;
ALTER TABLE gpus ADD COLUMN read_at INTEGER NOT NULL DEFAULT 0;
