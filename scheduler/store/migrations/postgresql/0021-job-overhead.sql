-- What a GPU renders in a minute behind a job's first frame, and what each job takes beside that (microseconds, in the mean of so many).
ALTER TABLE job_lane ADD COLUMN render_rate DOUBLE PRECISION NOT NULL DEFAULT 0;
ALTER TABLE job_lane ADD COLUMN overhead BIGINT NOT NULL DEFAULT 0;
ALTER TABLE job_lane ADD COLUMN overheads BIGINT NOT NULL DEFAULT 0;
