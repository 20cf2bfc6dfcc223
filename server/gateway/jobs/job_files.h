// The files of a gateway's jobs, below one folder. Blocks on the disk; thread-safe for different jobs.
//
//   uploads/SHA256            speech that was sent with a job; the same speech is one file
//   ID/segments/000000.mp4    of a job that is not finished
//   ID/video.mp4              its result
#pragma once

#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>

#include "scheduler/jobs/job.h"

namespace navtalk::server {

class JobFiles {
 public:
  explicit JobFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // Keeps speech; returns its JobSpec::audio. On the disk when it returns. Error{failed} with the system's
  // reason.
  std::string keep_upload(std::string_view bytes) const;
  // Of a JobSpec::audio.
  std::filesystem::path upload(const std::string& audio) const;
  // Removes speech that no job of these needs any more, and that is older than an hour.
  void sweep_uploads(const std::set<std::string>& in_use) const;

  // Makes the job's folders.
  void prepare(const JobId& job) const;
  std::filesystem::path segment(const JobId& job, int index) const;
  std::filesystem::path result(const JobId& job, const std::string& format) const;
  // What cannot be removed is logged.
  void remove_segments(const JobId& job) const;
  void remove(const JobId& job) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace navtalk::server
