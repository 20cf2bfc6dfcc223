// What `navtalk bench jobs` prints of its simulations.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "scheduler/simulator/jobs/job_simulator.h"

namespace navtalk::cmd {

struct Context;

// Of one policy.
struct JobsRow {
  std::string policy;
  double unfairness = 0;  // when all jobs are submitted at once
  JobSimulatorResult usual{}, flooded{};
};

struct BenchJobsRun {
  const JobSimulatorOptions& simulator;
  int flood = 1;  // times that the flooding tenant submits each of its jobs
};

// Tables: of jobs, and of users where there were some.
void print(const JobTrace& trace, const std::vector<JobsRow>& rows, const BenchJobsRun& run,
           Context& context);
nlohmann::ordered_json rows_json(const std::vector<JobsRow>& rows, const std::string& flooder);

}  // namespace navtalk::cmd
