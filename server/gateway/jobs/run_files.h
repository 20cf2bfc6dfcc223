// The files of one run: what its worker is sent, and what comes from there. OwnFault for whatever goes wrong here,
// since it is of this gateway. Of the I/O thread.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "core/files/partial_path.h"
#include "scheduler/jobs/job.h"
#include "server/gateway/jobs/job_files.h"
#include "server/gateway/jobs/run_leave.h"
#include "server/http/blocking_threads.h"
#include "server/protocol/job_frame.h"

namespace navtalk::server {

// One for the worker.
struct RunFile {
  std::filesystem::path path;
  std::uint64_t bytes = 0;
};

// Of a file that goes to the worker. Both throw as throw_unread(); of the threads for files.
std::ifstream open_file(const std::filesystem::path& path);
// The next piece, of at most so many bytes.
std::string read_piece(const std::filesystem::path& path, std::ifstream& from, std::uint64_t most);

// A file that comes from the worker. Made, ended and removed by RunFiles alone.
struct Incoming {
  PartialPath whole;
  std::ofstream to;
};

class RunFiles {
 public:
  template <class T>
  using Awaitable = boost::asio::awaitable<T>;

  // All outlive it. `bucket_threads` wait for the bucket, and nobody for them beyond `leave`.
  RunFiles(const JobFiles& files, BlockingThreads& threads, BlockingThreads& bucket_threads,
           RunLeave& leave, JobLease lease);
  RunFiles(const RunFiles&) = delete;
  RunFiles& operator=(const RunFiles&) = delete;

  enum class Speech {
    here,
    missing,
    unreachable,  // the bucket that may have it does not answer, or has not until the run was due
  };
  // Makes the job's folders, fetches what the bucket has, and adds to `start` and `files` what the worker is
  // sent: the speech, and the segments up to the first whose file is not here. What follows that one is
  // rendered again.
  Awaitable<Speech> gather(const std::string& audio, const std::vector<JobSegment>& segments,
                           JobStart& start, std::vector<RunFile>& files) const;
  // open_file() and read_piece() on their threads.
  Awaitable<std::ifstream> open(const RunFile& file) const;
  Awaitable<std::string> read(const RunFile& file, std::ifstream& from, std::uint64_t most) const;

  Awaitable<std::unique_ptr<Incoming>> incoming() const;
  Awaitable<void> append(Incoming& into, const std::string& bytes) const;
  Awaitable<void> discard(std::unique_ptr<Incoming>& whole) const;
  // Give what came its name, and share it: nothing is lost if a bucket does not take it now, or not before the run is due
  // (OldFiles::share_results()).
  Awaitable<void> keep_segment(std::unique_ptr<Incoming>& whole, int index) const;
  Awaitable<void> keep_result(std::unique_ptr<Incoming>& whole, const std::string& format) const;
  bool shared() const { return files_.bucket() != nullptr; }
  // In the bucket.
  std::string result_key(const std::string& format) const;
  // Of a job that is done, in the bucket as many as there were. Nobody waits for that.
  Awaitable<void> remove_segments(std::size_t count) const;

 private:
  Speech gather_local(const std::string& audio, const std::vector<JobSegment>& segments,
                      JobStart& start, std::vector<RunFile>& files) const;
  Awaitable<void> keep(std::unique_ptr<Incoming>& whole, const std::filesystem::path& name) const;

  const JobFiles& files_;
  BlockingThreads& threads_;
  BlockingThreads& bucket_threads_;
  RunLeave& leave_;
  const JobLease lease_;
};

}  // namespace navtalk::server
