-- The number of the intent with which an operator paused the GPU; 0: none did. Until now this was a setting.
ALTER TABLE gpus ADD COLUMN operator_pause INTEGER NOT NULL DEFAULT 0;
UPDATE gpus SET operator_pause = COALESCE((
  SELECT pauses.value
  FROM settings, json_each(CASE WHEN json_valid(settings.value) THEN settings.value ELSE '{}' END) AS pauses
  WHERE settings.name = 'operator.paused' AND pauses.key = gpus.id AND pauses.type = 'integer'), 0);
DELETE FROM settings WHERE name = 'operator.paused';
