-- With the work, which is added up for whoever asks how much is ahead of a queued job.
DROP INDEX jobs_queued_of_tenant;
CREATE INDEX jobs_queued_of_tenant ON jobs (tenant, priority DESC, number, work) WHERE state = 0;
