#include "cmd/job/job_file.h"

#include <chrono>

#include "core/files/state_directory.h"

namespace navtalk::cmd {

std::filesystem::path job_file(const std::filesystem::path& state) {
  return state.empty() ? made_state_directory() / "jobs.db" : state;
}

// What fails on this machine fails again at once more often than what fails in a pool.
JobStore open_job_file(const std::filesystem::path& state) {
  return JobStore(StoreBackend::open("sqlite:" + job_file(state).native()),
                  {.first_delay = std::chrono::seconds(1)});
}

}  // namespace navtalk::cmd
