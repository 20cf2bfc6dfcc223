// The files of a gateway's jobs, below one folder. Blocks on the disk; thread-safe for different jobs.
//
//   uploads/SHA256            speech that was sent with a job; the same speech is one file
//   unshared/SHA256           empty: the bucket may not have that speech yet, also when the gateway begins again
//   ID/segments/000000.mp4    of a job that is not finished
//   ID/segments/EPOCH         what comes under that lease, until it is whole
//   ID/video.mp4              its result
//
// With a bucket (job_bucket.h) the folder is this gateway's own: results lie here until the bucket has them, and
// speech and segments that came to another gateway are fetched from there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/guarded.h"
#include "core/files/partial_path.h"
#include "scheduler/jobs/job.h"
#include "server/gateway/jobs/job_bucket.h"

namespace navtalk::server {

class JobFiles {
 public:
  // `bucket`: nullptr where no other gateway sees these files, or the folder is shared.
  explicit JobFiles(std::filesystem::path folder, std::shared_ptr<const JobBucket> bucket = nullptr)
      : folder_(std::move(folder)), bucket_(std::move(bucket)) {}

  const JobBucket* bucket() const { return bucket_.get(); }

  // Makes the folder where it is missing. Error{failed} with the system's reason when nothing can be written in it, however
  // much room there is; a full disk is fine.
  void check_folder() const;

  // Keeps speech; returns its JobSpec::audio. On the disk when it returns, and to be shared. OwnFault with the system's
  // reason.
  std::string keep_upload(std::string_view bytes) const;
  // Of a JobSpec::audio.
  std::filesystem::path upload(const std::string& audio) const;
  // Whether its file holds other bytes than were sent. Reads all of it; false for one that cannot be read.
  bool is_damaged(const std::string& audio) const;
  // JobSpec::audio of all jobs that are not over, read anew by each call.
  using InUse = std::function<std::set<std::string>()>;
  // Removes speech that no job needs any more and that is older than an hour, here once the bucket has it
  // no more, and what was left of an upload whose process has ended. What a job needs by then, since another gateway took the
  // same speech meanwhile, comes back to the bucket.
  void sweep_uploads(const InUse& in_use, const std::stop_token& stop = {}) const;
  // The jobs that have segments here, or what is left of them.
  std::vector<JobId> with_segments() const;
  // The jobs that have had a folder here for that long.
  std::vector<JobId> with_folders(Duration age) const;
  // The jobs that have a result here.
  std::vector<JobId> with_results() const;

  // A message about files of this folder, without where it is.
  std::string without_folder(std::string message) const;
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

  // With a bucket alone. What cannot be done now is logged. A request to stop: as JobBucket.

  // Fetches what is not here of the job's speech, and of its first segments, as many as there are. False: the bucket
  // did not answer. Error{failed} when something cannot be written.
  bool obtain(const JobId& job, const std::string& audio, std::size_t segments,
              const std::stop_token& stop) const;
  // Speech that keep_upload() has kept. False: it stays to be shared, or another thread is doing that.
  bool share_upload(const std::string& audio, const std::stop_token& stop = {}) const;
  // Behind the record of a job whose speech keep_upload() has kept: puts it there again where another gateway has removed it
  // since, which found no job that needs it. Where the bucket does not say what it has, it stays to be shared.
  void ensure_shared(const std::string& audio, const std::stop_token& stop) const;
  // What is still to be shared and some job needs.
  void share_uploads(const InUse& in_use, const std::stop_token& stop) const;
  // As ensure_shared(), where this gateway itself removed it. Nothing where it has no copy. Ends with the bucket's tries.
  void share_again(const std::string& audio) const;
  // False: it stays here.
  bool share_segment(const JobId& job, int index, const std::stop_token& stop) const;
  bool share_result(const JobId& job, const std::string& format, const std::string& key,
                    const std::stop_token& stop) const;
  // From the bucket; false where it could not be told to.
  bool unshare(const std::vector<std::string>& keys, const std::stop_token& stop = {}) const;

 private:
  // Makes it young where it is there, whole.
  void write_upload(const std::filesystem::path& file, std::string_view bytes) const;
  std::filesystem::path unshared(const std::string& audio) const;
  void mark_unshared(const std::string& audio) const;
  void forget_unshared(const std::string& audio) const;
  // Calls `put`, which tells whether the bucket has it, unless another thread of this gateway has called it for the
  // same speech and waits.
  bool share(const std::string& audio, const std::function<bool()>& put) const;
  void remove_damaged(const std::string& audio) const;

  std::filesystem::path folder_;
  std::shared_ptr<const JobBucket> bucket_;
  mutable Guarded<std::set<std::string>> sharing_{};  // by some thread now
};

}  // namespace navtalk::server
