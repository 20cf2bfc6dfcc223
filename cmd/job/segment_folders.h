// Where unfinished jobs of a state file keep their finished segments: a folder for each job, beside the
// state file. Thread-safe; shared by processes.
#pragma once

#include <filesystem>

#include "scheduler/jobs/job_store.h"

namespace navtalk::cmd {

class SegmentFolders {
 public:
  // `state`: as open_job_file() takes it.
  explicit SegmentFolders(const std::filesystem::path& state);

  std::filesystem::path of(const JobId& job) const;
  // What cannot be removed is logged, and the next sweep() tries again.
  void remove(const JobId& job) const;
  // Removes the folders of jobs that are done, failed, cancelled or not in the store. A dead job keeps its
  // segments for the run that tries it again.
  void sweep(JobStore& store) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace navtalk::cmd
