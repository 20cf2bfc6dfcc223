-- Probes in a row that a GPU's worker did not answer well, and since when: whoever asks next goes on counting.
ALTER TABLE gpus ADD COLUMN misses INTEGER NOT NULL DEFAULT 0;
ALTER TABLE gpus ADD COLUMN missed_since INTEGER NOT NULL DEFAULT 0;
