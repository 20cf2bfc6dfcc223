-- A generation is at least the time, in seconds, at which it began: a store that is made after another one was lost gives epochs
-- above those that workers have seen from the lost one.
UPDATE clock SET generation = MAX(generation, CAST(strftime('%s', 'now') AS INTEGER));
