#include "server/gateway/jobs/old_files.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <filesystem>
#include <utility>
#include <vector>

#include "core/log/log.h"
#include "server/gateway/jobs/job_request.h"
#include "server/gateway/jobs/shared_result.h"

namespace navtalk::server {
namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr auto k_look_at_files_every = 5s;
constexpr auto k_sweep_every = 1h;
constexpr std::size_t k_forgotten_at_once = 200;

}  // namespace

void OldFiles::look_if_due() {
  if (looks_ || Clock::now() < next_) return;
  looks_ = true;
  next_ = Clock::now() + k_look_at_files_every;
  asio::co_spawn(executor_, look(), asio::detached);
}

// Of jobs that were done when a gateway ended, before it removed what they no longer need, and of jobs that
// another gateway has forgotten.
void OldFiles::sweep() {
  JobStore& store = parts_.store;
  const JobFiles& files = parts_.files;
  files.sweep_uploads([&] { return store.audio_in_use(); }, parts_.stop);
  for (const JobId& id : files.with_segments()) {
    const std::optional<Job> job = store.find(id);
    if (job && job->state == JobState::done) files.remove_segments(id);
    if (job && job->state == JobState::cancelled) files.remove(id);
  }
  // A store that was restored, or is the wrong one, knows nothing of younger ones, which are not lost for that.
  if (parts_.keep > Duration{})
    for (const JobId& id : store.unknown_of(files.with_folders(parts_.keep))) files.remove(id);
}

asio::awaitable<void> OldFiles::look() {
  const bool sweeps = !swept_ || Clock::now() - *swept_ >= k_sweep_every;
  if (sweeps) swept_ = Clock::now();
  auto work = [&] {
    try {
      if (sweeps) sweep();
      const JobFiles& files = parts_.files;
      if (files.bucket() == nullptr) return forget_old();
      files.share_uploads([&] { return parts_.store.audio_in_use(); }, parts_.stop);
      share_results();
      forget_shared();
    } catch (const std::exception& error) {
      log::warn("old files of jobs are not looked after now", {{"error", error.what()}});
    }
  };
  co_await parts_.threads.run(work);
  looks_ = false;
}

void OldFiles::forget_old() {
  if (parts_.keep <= Duration{}) return;
  JobStore& store = parts_.store;
  const std::vector<JobId> old = store.over_since(store.now() - parts_.keep, k_forgotten_at_once);
  for (const JobId& job : old) parts_.files.remove(job);
  store.forget(old);
}

// Of jobs that are done. A file that is not the recorded result came under a lease that was lost.
void OldFiles::share_results() {
  const JobFiles& files = parts_.files;
  for (const JobId& id : files.with_results()) {
    const std::optional<Job> job = parts_.store.find(id);
    const std::optional<SharedResult> result = job ? shared_result(*job) : std::nullopt;
    if (!result) continue;
    const std::string format = video_choice(job->spec).format;
    std::error_code gone;
    if (std::filesystem::file_size(files.result(id, format), gone) != result->bytes) {
      if (!gone) files.remove(id);
      continue;
    }
    if (!files.share_result(id, format, result->key, parts_.stop)) return;  // the bucket is away
  }
}

// The store forgets a job when the bucket has nothing of it any more.
void OldFiles::forget_shared() {
  if (parts_.keep <= Duration{}) return;
  JobStore& store = parts_.store;
  const JobFiles& files = parts_.files;
  std::vector<JobId> gone;
  std::set<std::string> speech;
  for (const JobId& id : store.over_since(store.now() - parts_.keep, k_forgotten_at_once)) {
    const std::optional<Job> job = store.find(id);
    if (!job) continue;
    std::vector<std::string> keys;
    if (const auto result = shared_result(*job)) keys.push_back(result->key);
    for (const JobSegment& segment : store.segments(id))
      keys.push_back(JobBucket::segment_key(id, segment.index));
    if (!files.unshare(keys, parts_.stop)) break;  // the bucket is away
    if (!job->spec.audio.empty()) speech.insert(job->spec.audio);
    gone.push_back(id);
  }
  if (!unshare_speech(std::move(speech))) return;
  for (const JobId& id : gone) files.remove(id);
  store.forget(gone);
}

// As JobFiles::sweep_uploads(). What a job needs by then comes back only where this gateway has a copy: otherwise the
// gateway that recorded that job brings it back, if it looked behind the removal.
bool OldFiles::unshare_speech(std::set<std::string> speech) {
  if (speech.empty()) return true;
  JobStore& store = parts_.store;
  const JobFiles& files = parts_.files;
  const std::set<std::string> needed = store.audio_in_use();
  std::erase_if(speech, [&](const std::string& audio) { return needed.contains(audio); });
  if (speech.empty()) return true;
  std::vector<std::string> keys;
  for (const std::string& audio : speech) keys.push_back(JobBucket::upload_key(audio));
  const bool left = files.unshare(keys, parts_.stop);
  const std::set<std::string> needed_now = store.audio_in_use();
  for (const std::string& audio : speech)
    if (needed_now.contains(audio)) files.share_again(audio);
  return left;
}

}  // namespace navtalk::server
