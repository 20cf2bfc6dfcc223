-- The number of the intent with which an operator paused the GPU; 0: none did. Until now this was a setting.
ALTER TABLE gpus ADD COLUMN operator_pause BIGINT NOT NULL DEFAULT 0;
UPDATE gpus SET operator_pause = COALESCE((
  SELECT substring(value FROM '"' || gpus.id || '":([0-9]{1,18})[,}]')::bigint
  FROM settings WHERE name = 'operator.paused'), 0);
DELETE FROM settings WHERE name = 'operator.paused';
