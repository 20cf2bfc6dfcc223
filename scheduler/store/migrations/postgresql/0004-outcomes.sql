-- Promises by the time at which their outcome became known, so that each is read once; paid spans by their end.
CREATE INDEX promises_by_outcome ON promises ((made_at + actual)) WHERE actual IS NOT NULL;
CREATE INDEX paid_spans_by_end ON paid_spans (ended_at);
