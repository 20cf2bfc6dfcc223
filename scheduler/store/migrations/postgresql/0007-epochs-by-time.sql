-- A generation is at least the time, in seconds, at which it began: a store that is made after another one was lost gives epochs
-- above those that workers have seen from the lost one.
UPDATE generation SET number = GREATEST(number, floor(extract(epoch FROM clock_timestamp()))::bigint);
