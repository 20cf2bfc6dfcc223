// The file in which `navtalk job` keeps its jobs.
#pragma once

#include <filesystem>

#include "scheduler/jobs/job_store.h"

namespace navtalk::cmd {

// jobs.db in the state directory, which is made, where `state` is empty; else `state`.
std::filesystem::path job_file(const std::filesystem::path& state);
// The jobs in that file.
JobStore open_job_file(const std::filesystem::path& state);

}  // namespace navtalk::cmd
