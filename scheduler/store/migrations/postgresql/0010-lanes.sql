-- Slots that are lent to offline work: how many of a GPU's sessions are, and which. 0 is the live lane, 1 batch.
ALTER TABLE gpus ADD COLUMN lent BIGINT NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN lane BIGINT NOT NULL DEFAULT 0;
