#include "cmd/job/segment_folders.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "cmd/job/job_file.h"
#include "core/log/log.h"

namespace navtalk::cmd {

namespace fs = std::filesystem;

SegmentFolders::SegmentFolders(const fs::path& state) : folder_(job_file(state)) {
  folder_ += ".segments";
}

fs::path SegmentFolders::of(const JobId& job) const { return folder_ / job.text; }

void SegmentFolders::remove(const JobId& job) const {
  std::error_code error;
  fs::remove_all(of(job), error);
  if (error)
    log::warn(
        fmt::format("the segments in {} cannot be removed: {}", of(job).string(), error.message()));
  fs::remove(folder_, error);  // the last one; it stays while it holds others
}

void SegmentFolders::sweep(JobStore& store) const {
  std::error_code error;
  std::vector<JobId> over;
  for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    const JobId id{at->path().filename().native()};
    const auto job = store.find(id);
    if (!job || (is_final(job->state) && job->state != JobState::dead)) over.push_back(id);
  }
  for (const JobId& id : over) remove(id);
}

}  // namespace navtalk::cmd
