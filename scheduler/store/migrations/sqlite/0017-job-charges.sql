-- What a job has cost its tenant (scheduler/jobs/shares/charges.h), in microseconds of audio: of the bucket at its release, and of the
-- place in the fair order at its claim; and the weight by which the place counts it. 0: nothing to settle.
ALTER TABLE jobs ADD COLUMN charged INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN placed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job_shares ADD COLUMN weight REAL NOT NULL DEFAULT 1;
