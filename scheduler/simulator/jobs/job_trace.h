// Offline jobs as they were submitted: read from a file, or made by a seed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "scheduler/jobs/video_minutes.h"

namespace navtalk {

struct TracedJob {
  Duration submitted{};  // since the beginning of the trace
  std::string tenant{};
  VideoMinutes work{};
  int plan = 0;
  double weight = 1;
};
using JobTrace = std::vector<TracedJob>;  // sorted by submission

// CSV (csv_record.h) with a heading that names at least the columns submitted_s, tenant and
// video_minutes; plan and weight too where they are given. Sorted by submission, within 400 days,
// jobs of up to a day. Error{invalid} naming file and line; Error{not_found}.
JobTrace read_job_trace(const std::filesystem::path& file);
std::string as_csv(const JobTrace& trace);

// Customers of Zipf's law: the i-th largest submits in proportion to i^-s. Each submits batches at
// random times, and a batch has a geometric number of jobs.
struct JobTraceOptions {
  int tenants = 20;
  double zipf = 1;  // s
  double hours = 24;
  double arriving = 10;    // video-minutes a minute, of all together
  double batch_jobs = 10;  // mean
  double job_minutes = 2;  // mean, lognormal
  double job_sigma = 0.8;
  std::uint64_t seed = 1;
};
JobTrace generate(const JobTraceOptions& options);

// The same trace, in which one tenant submits each job `factor` times at once. Error{invalid}: nobody
// is called so.
JobTrace flooded(const JobTrace& trace, const std::string& tenant, int factor);
// The tenant with the most work.
std::string largest_tenant(const JobTrace& trace);

}  // namespace navtalk
