// The jobs' files that gateways share through a bucket of S3: speech, finished segments, results. What a gateway
// writes lies in its folder first (job_files.h). Blocks on the network; thread-safe.
//
//   uploads/SHA256            speech that was sent with a job
//   ID/segments/000000.mp4    of a job that is not finished
//   ID/EPOCH.mp4              its result, named for the lease under which it came
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "core/artifacts/bucket.h"
#include "scheduler/jobs/job.h"

namespace navtalk::server {

class JobBucket {
 public:
  // As Bucket.
  JobBucket(const std::string& address, const std::function<std::string(const char*)>& variable,
            BucketOptions options = {});
  JobBucket(const JobBucket&) = delete;
  JobBucket& operator=(const JobBucket&) = delete;

  static std::string upload_key(const std::string& audio);
  static std::string segment_key(const JobId& job, int index);
  // Two who both believe that they have the job do not write the same object.
  static std::string result_key(const JobId& job, std::uint64_t epoch, const std::string& format);

  // A request to stop is answered as a bucket's that does not answer, and at once.

  // False when the bucket does not take it, after three tries; and for 10 s after that at once. It is
  // logged. Error{not_found}, Error{invalid} when the file cannot be read.
  bool put(const std::string& key, const std::filesystem::path& file,
           const std::stop_token& stop = {}) const;
  enum class Found { there, missing, unreachable };
  // Makes the file, whose folder exists, unless it is there. An empty object, and speech with other bytes than its
  // name says, is `missing`. Error{failed} when the file cannot be written.
  Found fetch(const std::string& key, const std::filesystem::path& file,
              const std::stop_token& stop = {}) const;
  Found size(const std::string& key, std::uint64_t& bytes, const std::stop_token& stop = {}) const;
  // nullopt when they cannot be had, or fewer are there.
  std::optional<std::string> read(const std::string& key, std::uint64_t first, std::uint64_t count,
                                  const std::stop_token& stop = {}) const;
  // True also where there was none.
  bool remove(const std::string& key, const std::stop_token& stop = {}) const;

 private:
  using Clock = std::chrono::steady_clock;
  bool rests() const;
  bool done(const char* what, const std::stop_token& stop,
            const std::function<Transfer()>& act) const;

  const Bucket bucket_;
  mutable std::atomic<Clock::time_point> rests_until_{};  // it did not answer
};

}  // namespace navtalk::server
