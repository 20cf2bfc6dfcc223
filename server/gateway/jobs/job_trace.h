// The way of one job as spans (core/trace/), from its history, told when it is over:
//
//   job             from its submission, the last one, to its end
//     allocation    from there, or from the end of a run, to the claim: what it waited for a slot
//     run           from a claim to the end of that try, each time; with its error
//       segment     from the claim, or the segment before, to its record
//       result      from the announced result to the end
//
// Runs at other gateways, and those whose gateway was killed, are among them.
#pragma once

#include <string>
#include <vector>

#include "core/trace/span.h"
#include "scheduler/jobs/job.h"

namespace navtalk::server {

// Why a slot's gateway claims a job, for the job's history: "claimed on cloud-4f99".
std::string claimed_on(const GpuId& gpu);

// `history`: whole, in order. Empty while the job is not over.
std::vector<Span> job_spans(const Job& job, const std::vector<JobHistory>& history);

}  // namespace navtalk::server
