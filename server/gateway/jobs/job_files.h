// The files of a gateway's jobs, below one folder. Blocks on the disk; thread-safe for different jobs.
//
//   uploads/SHA256            speech that was sent with a job; the same speech is one file
//   ID/segments/000000.mp4    of a job that is not finished
//   ID/segments/EPOCH         what comes under that lease, until it is whole
//   ID/video.mp4              its result
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/files/partial_path.h"
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
  // Removes speech that no job of these needs any more and that is older than an hour, and what was
  // left of an upload whose process has ended.
  void sweep_uploads(const std::set<std::string>& in_use) const;
  // The jobs that have segments here, or what is left of them.
  std::vector<JobId> with_segments() const;

  // Makes the job's folders.
  void prepare(const JobId& job) const;
  std::filesystem::path segment(const JobId& job, int index) const;
  std::filesystem::path result(const JobId& job, const std::string& format) const;
  // Where a file is written that comes under that lease: nobody else writes there.
  PartialPath::Options incoming(const JobId& job, std::uint64_t epoch) const;
  // Gives it another name of the same job, in place of what has that name. On the disk when it returns.
  void put(const std::filesystem::path& file, const std::filesystem::path& name) const;
  // What cannot be removed is logged.
  void remove_segments(const JobId& job) const;
  void remove(const JobId& job) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace navtalk::server
