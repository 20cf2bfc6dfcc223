#include "server/gateway/jobs/job_bucket.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <string_view>

#include "core/artifacts/retry.h"
#include "core/base/error.h"
#include "core/base/id.h"
#include "core/base/sleep.h"
#include "core/checkpoint/checkpoint.h"
#include "core/files/partial_path.h"
#include "core/log/log.h"

namespace navtalk::server {
namespace fs = std::filesystem;

namespace {

using Outcome = Transfer::Outcome;

constexpr std::string_view k_uploads = "uploads/";
constexpr int k_bucket_tries = 3;
constexpr int k_forbidden = 403;
constexpr auto k_bucket_rest = std::chrono::seconds(10);
constexpr std::uint64_t k_bucket_piece = std::uint64_t{4} << 20;  // bytes

// nullopt: it was stopped.
std::optional<Transfer> unless_stopped(const std::function<Transfer()>& act,
                                       const std::stop_token& stop) {
  try {
    return act();
  } catch (const Error&) {
    if (!stop.stop_requested()) throw;
    return std::nullopt;
  }
}

// Speech is named by its SHA-256.
bool has_name_of(const std::string& key, const fs::path& file) {
  return !key.starts_with(k_uploads) || sha256_file(file) == key.substr(k_uploads.size());
}

}  // namespace

JobBucket::JobBucket(const std::string& address,
                     const std::function<std::string(const char*)>& variable, BucketOptions options)
    : bucket_(address, variable, options) {}

std::string JobBucket::upload_key(const std::string& audio) {
  return std::string(k_uploads) + audio;
}

std::string JobBucket::segment_key(const JobId& job, int index) {
  return fmt::format("{}/segments/{:06}.mp4", job.text, index);
}

std::string JobBucket::result_key(const JobId& job, std::uint64_t epoch,
                                  const std::string& format) {
  return fmt::format("{}/{}.{}", job.text, epoch, format);
}

bool JobBucket::rests() const { return Clock::now() < rests_until_.load(); }

// Tries again what may succeed later. Whoever waits for a bucket that is away has other work.
bool JobBucket::done(const char* what, const std::stop_token& stop,
                     const std::function<Transfer()>& act) const {
  if (rests()) return false;
  for (int tries = 1; !stop.stop_requested(); ++tries) {
    const std::optional<Transfer> transfer = unless_stopped(act, stop);
    if (!transfer) break;  // that says nothing about the bucket
    if (transfer->outcome == Outcome::done) return true;
    if (transfer->outcome == Outcome::again && tries < k_bucket_tries) {
      sleep_for(retry_delay(tries, 0, transfer->retry_after), stop);
      continue;
    }
    if (transfer->outcome == Outcome::again) rests_until_ = Clock::now() + k_bucket_rest;
    log::warn(what, {{"error", transfer->why}});
    break;
  }
  return false;
}

bool JobBucket::put(const std::string& key, const fs::path& file,
                    const std::stop_token& stop) const {
  if (rests()) return false;  // before all of the file is read
  const std::string sum = sha256_file(file);
  if (key.starts_with(k_uploads) && sum != key.substr(k_uploads.size())) {
    log::error("damaged speech in jobs.folder is not brought to the bucket",
               {{"file", file.native()}});
    return false;
  }
  return done("a job's file cannot be stored in the bucket now", stop,
              [&] { return bucket_.put_file(key, file, sum, stop); });
}

JobBucket::Found JobBucket::fetch(const std::string& key, const fs::path& file,
                                  const std::stop_token& stop) const {
  std::error_code missing;
  if (fs::exists(file, missing)) return Found::there;
  std::uint64_t bytes = 0;
  if (const Found found = size(key, bytes, stop); found != Found::there) return found;
  // Others may fetch the same at this moment.
  PartialPath partial({.target = file.native() + "." + random_id()});
  std::ofstream to(partial.path(), std::ios::binary);
  for (std::uint64_t at = 0; at < bytes;) {
    const auto piece = read(key, at, std::min(k_bucket_piece, bytes - at), stop);
    if (!piece) return Found::unreachable;
    to.write(piece->data(), static_cast<std::streamsize>(piece->size()));
    at += piece->size();
  }
  to.close();
  if (!to) throw Error(Code::failed, partial.named("a job's file cannot be written"));
  if (!has_name_of(key, partial.path())) {
    log::warn("a job's file in the bucket has other bytes than its name says",
              {{"error", bucket_.name() + "/" + key}});
    return Found::missing;
  }
  partial.commit();
  fs::rename(partial.target(), file);
  return Found::there;
}

JobBucket::Found JobBucket::size(const std::string& key, std::uint64_t& bytes,
                                 const std::stop_token& stop) const {
  Found found = Found::unreachable;
  const bool asked = done("a job's file cannot be found in the bucket now", stop, [&] {
    Transfer transfer = bucket_.size(key, bytes, stop);
    // None of a job's files is empty.
    found = transfer.outcome == Outcome::done && bytes > 0 ? Found::there : Found::missing;
    if (transfer.outcome != Outcome::missing) return transfer;
    // The bucket may mean that its rights are not enough.
    if (transfer.status == k_forbidden)
      log::warn("a job's file is not in the bucket, or its keys may not read it",
                {{"error", transfer.why}});
    transfer.outcome = Outcome::done;
    return transfer;
  });
  return asked ? found : Found::unreachable;
}

std::optional<std::string> JobBucket::read(const std::string& key, std::uint64_t first,
                                           std::uint64_t count, const std::stop_token& stop) const {
  std::string bytes;
  const bool came = done("a job's file cannot be read from the bucket now", stop,
                         [&] { return bucket_.read(key, first, count, bytes, stop); });
  if (!came || bytes.size() != count) return std::nullopt;
  return bytes;
}

bool JobBucket::remove(const std::string& key, const std::stop_token& stop) const {
  return done("a job's file cannot be removed from the bucket now", stop,
              [&] { return bucket_.remove(key, stop); });
}

}  // namespace navtalk::server
