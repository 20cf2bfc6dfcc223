-- The GPUs on which a waiter's session has just failed, by id, with spaces between: it needs no slot there, and those
-- behind it may have it.
ALTER TABLE waiters ADD COLUMN refuse TEXT NOT NULL DEFAULT '';
