// Rows of the tables `jobs`, `job_segments` and `job_events`. Stateless; all within the caller's
// transaction.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scheduler/jobs/job.h"
#include "scheduler/pool/gpu.h"
#include "scheduler/pool/pool_store.h"
#include "scheduler/store/transaction.h"

namespace navtalk {

std::optional<Job> find_job(Transaction& transaction, const JobId& id);
std::optional<Job> find_job(Transaction& transaction, std::int64_t number);
std::optional<Job> find_job(Transaction& transaction, const TenantId& tenant,
                            const std::string& key);
// Those that match the rest of a SELECT, behind its FROM.
std::vector<Job> select_jobs(Transaction& transaction, const std::string& rest, DbValues values,
                             JobTexts texts = JobTexts::whole);
// The first of them.
std::optional<Job> first_job(Transaction& transaction, const std::string& rest, DbValues values);

// Whether one may be claimed, by now.
bool any_claimable(Transaction& transaction, TimePoint now);
// Whether the pause of one between two tries has ended, and no claim has seen that yet.
bool any_delay_over(Transaction& transaction, TimePoint now);

// A queued row with a new id, and its event.
Job insert_job(Transaction& transaction, const NewJob& job, const Cause& cause, TimePoint now);
// Moves the job as its state machine says (broken invariant: it cannot happen in its state), sets
// changed_at, settles what the job costs its tenant, and writes the row with what else the caller has changed, and the
// event.
void apply(Transaction& transaction, Job& job, JobEvent event, const Cause& cause, TimePoint now);

// The job's work is what its decoded audio says.
void write_measured(Transaction& transaction, Job& job, VideoMinutes work);

// An event that changes nothing in the row.
void insert_event(Transaction& transaction, const Job& job, JobEvent event, const Cause& cause);

// With everything that refers to it.
void delete_job(Transaction& transaction, std::int64_t number);

void insert_segment(Transaction& transaction, const Job& job, const JobSegment& segment);
// Of one that is there.
void update_segment(Transaction& transaction, const Job& job, const JobSegment& segment);
// Whether a segment was finished since the job was last claimed.
bool segment_since_claim(Transaction& transaction, const Job& job);
// How often the job was lost since its last segment, or since it was submitted again.
int losses_since_segment(Transaction& transaction, const Job& job);
std::vector<JobSegment> segments_of(Transaction& transaction, const JobId& id);
// Of one job, oldest first.
std::vector<JobHistory> history_of(Transaction& transaction, const JobId& id,
                                   std::int64_t after = 0);

}  // namespace navtalk
