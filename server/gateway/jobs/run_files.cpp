#include "server/gateway/jobs/run_files.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <stop_token>
#include <system_error>
#include <utility>

#include "core/log/log.h"
#include "server/gateway/jobs/faults/own_fault.h"
#include "server/gateway/jobs/job_bucket.h"

namespace navtalk::server {
namespace asio = boost::asio;
namespace fs = std::filesystem;

std::ifstream open_file(const fs::path& path) {
  errno = 0;
  std::ifstream from(path, std::ios::binary);
  if (!from) throw_unread(path.filename().native(), errno);
  return from;
}

std::string read_piece(const fs::path& path, std::ifstream& from, std::uint64_t most) {
  std::string piece(std::min<std::uint64_t>(k_file_piece, most), '\0');
  errno = 0;
  from.read(piece.data(), static_cast<std::streamsize>(piece.size()));
  const int error = from.bad() ? errno : 0;
  piece.resize(static_cast<std::size_t>(from.gcount()));
  if (piece.empty() || from.bad()) throw_unread(path.filename().native(), error);
  return piece;
}

RunFiles::RunFiles(const JobFiles& files, BlockingThreads& threads, BlockingThreads& bucket_threads,
                   RunLeave& leave, JobLease lease)
    : files_(files),
      threads_(threads),
      bucket_threads_(bucket_threads),
      leave_(leave),
      lease_(std::move(lease)) {}

RunFiles::Speech RunFiles::gather_local(const std::string& audio,
                                        const std::vector<JobSegment>& segments, JobStart& start,
                                        std::vector<RunFile>& files) const {
  files_.prepare(lease_.job);
  std::error_code missing;
  if (!audio.empty()) {
    const fs::path speech = files_.upload(audio);
    start.audio_bytes = fs::file_size(speech, missing);
    if (missing) return Speech::missing;
    // A worker would call it the sender's fault.
    if (files_.is_damaged(audio))
      throw UnreadableFile(Code::failed, "the job's speech is damaged in the gateway's folder");
    files.push_back({speech, start.audio_bytes});
  }
  for (const JobSegment& segment : segments) {
    const fs::path file = files_.segment(lease_.job, segment.index);
    const std::uint64_t bytes = fs::file_size(file, missing);
    if (missing) {
      log::warn("a finished segment is missing: it is rendered again",
                {{"job", lease_.job.text}, {"segment", std::to_string(segment.index)}});
      break;
    }
    files.push_back({file, bytes});
    start.segments.push_back({.bytes = bytes, .record = segment.result});
  }
  return Speech::here;
}

asio::awaitable<RunFiles::Speech> RunFiles::gather(const std::string& audio,
                                                   const std::vector<JobSegment>& segments,
                                                   JobStart& start,
                                                   std::vector<RunFile>& files) const {
  bool answers = true;
  if (shared() && (!audio.empty() || !segments.empty())) {
    const auto had = std::make_shared<bool>(false);
    const RunLeave::Work obtain = [&disk = files_, job = lease_.job, audio, count = segments.size(),
                                   had](const std::stop_token& stop) {
      *had = on_own_disk([&] { return disk.obtain(job, audio, count, stop); });
    };
    const bool over = co_await leave_.call(bucket_threads_, obtain);
    answers = over && *had;
  }
  auto look = [&] {
    return on_own_disk([&] { return gather_local(audio, segments, start, files); });
  };
  const Speech speech = co_await threads_.run(look);
  // What the bucket may have is not rendered again because it does not answer now.
  const bool whole = speech == Speech::here && start.segments.size() == segments.size();
  co_return answers || whole ? speech : Speech::unreachable;
}

asio::awaitable<std::string> RunFiles::read(const RunFile& file, std::ifstream& from,
                                            std::uint64_t most) const {
  auto work = [&] { return read_piece(file.path, from, most); };
  co_return co_await threads_.run(work);
}

asio::awaitable<std::ifstream> RunFiles::open(const RunFile& file) const {
  auto work = [&] { return open_file(file.path); };
  co_return co_await threads_.run(work);
}

asio::awaitable<std::unique_ptr<Incoming>> RunFiles::incoming() const {
  auto make = [&] {
    return on_own_disk([&] {
      auto made = std::make_unique<Incoming>(
          Incoming{PartialPath(files_.incoming(lease_.job, lease_.epoch)), {}});
      made->to.open(made->whole.path(), std::ios::binary);
      return made;
    });
  };
  co_return co_await threads_.run(make);
}

asio::awaitable<void> RunFiles::append(Incoming& into, const std::string& bytes) const {
  auto work = [&] {
    into.to.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    into.to.flush();
    if (!into.to) throw OwnFault(Code::failed, into.whole.named("a job's file cannot be written"));
  };
  co_await threads_.run(work);
}

asio::awaitable<void> RunFiles::discard(std::unique_ptr<Incoming>& whole) const {
  auto work = [&] { whole.reset(); };
  co_await threads_.run(work);
}

asio::awaitable<void> RunFiles::keep(std::unique_ptr<Incoming>& whole, const fs::path& name) const {
  auto put = [&] {
    const std::unique_ptr<Incoming> ending = std::move(whole);
    on_own_disk([&] {
      ending->to.close();
      ending->whole.commit();
      files_.put(ending->whole.target(), name);
    });
  };
  co_await threads_.run(put);
}

asio::awaitable<void> RunFiles::keep_segment(std::unique_ptr<Incoming>& whole, int index) const {
  const fs::path name = files_.segment(lease_.job, index);
  co_await keep(whole, name);
  if (!shared()) co_return;
  const RunLeave::Work share = [&disk = files_, job = lease_.job,
                                index](const std::stop_token& stop) {
    on_own_disk([&] { disk.share_segment(job, index, stop); });
  };
  co_await leave_.call(bucket_threads_, share);
}

asio::awaitable<void> RunFiles::keep_result(std::unique_ptr<Incoming>& whole,
                                            const std::string& format) const {
  const fs::path name = files_.result(lease_.job, format);
  co_await keep(whole, name);
  if (!shared()) co_return;
  const std::string key = result_key(format);
  const RunLeave::Work share = [&disk = files_, job = lease_.job, format,
                                key](const std::stop_token& stop) {
    on_own_disk([&] { disk.share_result(job, format, key, stop); });
  };
  co_await leave_.call(bucket_threads_, share);
}

std::string RunFiles::result_key(const std::string& format) const {
  return JobBucket::result_key(lease_.job, lease_.epoch, format);
}

asio::awaitable<void> RunFiles::remove_segments(std::size_t count) const {
  std::vector<std::string> keys;
  for (std::size_t i = 0; shared() && i < count; ++i)
    keys.push_back(JobBucket::segment_key(lease_.job, static_cast<int>(i)));
  if (!keys.empty()) bucket_threads_.post([&files = files_, keys] { files.unshare(keys); });
  auto remove = [&] { files_.remove_segments(lease_.job); };
  co_await threads_.run(remove);
}

}  // namespace navtalk::server
