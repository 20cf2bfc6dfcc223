-- What a GPU renders in a minute behind a job's first frame, and what each job takes beside that (microseconds, in the mean of so many).
-- `told` is the work (microseconds) of which that was learnt, as `rates` is that of all.
ALTER TABLE job_lane ADD COLUMN render_rate REAL NOT NULL DEFAULT 0;
ALTER TABLE job_lane ADD COLUMN overhead INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job_lane ADD COLUMN overheads INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job_lane ADD COLUMN told INTEGER NOT NULL DEFAULT 0;
