#include "server/gateway/jobs/job_admission.h"

#include <string>

#include "server/gateway/jobs/speech/plain_wav.h"

namespace navtalk::server {
namespace asio = boost::asio;

namespace {

constexpr int k_most_fetches = 2, k_most_probes = 2;  // of a tenant at once
constexpr int k_most_waiting_probes = 16;             // of all tenants

int total(const std::map<TenantId, int>& under_way) {
  int sum = 0;
  for (const auto& [tenant, count] : under_way) sum += count;
  return sum;
}

Response too_many(const std::string& what) {
  Response later = error_response(429, "tenant_limit", what);
  later.headers.emplace_back("Retry-After", "5");
  return later;
}

}  // namespace

Response unavailable(const std::string& why) {
  Response later = error_response(503, "unavailable", why);
  later.headers.emplace_back("Retry-After", "5");
  return later;
}

std::shared_ptr<void> JobAdmission::begin(Counts& under_way, const TenantId& tenant, int most) {
  if (under_way[tenant] >= most) return nullptr;
  ++under_way[tenant];
  const auto end = [&under_way, tenant](const void*) {
    if (--under_way[tenant] == 0) under_way.erase(tenant);
  };
  return {&under_way, end};
}

asio::awaitable<std::optional<Response>> JobAdmission::refusal_of(JobRequest& asked) {
  std::optional<Response> refusal = co_await judge(asked);
  if (!refusal && !asked.audio_url.empty()) refusal = co_await fetch(asked);
  if (refusal) co_return refusal;
  if (asked.audio.empty()) co_return co_await measure_text(asked);
  co_return co_await measure(asked);
}

int JobAdmission::most_fetches() const {
  return total(fetches_) < k_fetches / 2 ? k_most_fetches : 1;
}

asio::awaitable<std::optional<Response>> JobAdmission::judge(JobRequest& asked) {
  std::string failed;
  const std::string before = asked.job.spec.text;
  auto work = [&] { parts_.rules.judge(asked.job.spec); };
  const bool asks = parts_.rules.asks_others(asked.job.spec);
  try {
    co_await (asks ? parts_.moderation : parts_.blocked_words).run(work);
  } catch (const Error& error) {
    if (error.code() != Code::failed) throw;
    failed = error.message();
  }
  if (!failed.empty()) co_return unavailable(failed);
  if (asked.job.spec.text != before) guess_work(asked);
  co_return std::nullopt;
}

asio::awaitable<std::optional<Response>> JobAdmission::fetch(JobRequest& asked) {
  const int most = most_fetches();
  const std::shared_ptr<void> fetch = begin(fetches_, asked.job.spec.tenant, most);
  if (!fetch)
    co_return too_many(
        "as many audio_urls of yours are being fetched as may be at once, which is " +
        std::to_string(most) + " now: try again, or send the speech with the job");
  if (total(fetches_) > k_fetches)
    co_return unavailable("too many audio_urls are being fetched: try again later");
  std::string failed;
  try {
    asked.fetched = co_await parts_.fetches.fetch(asked.job.spec.tenant, asked.audio_url);
    take_audio(asked, *asked.fetched);
  } catch (const Error& error) {
    if (error.code() != Code::failed) throw;
    failed = error.message();
  }
  if (failed.empty()) co_return std::nullopt;
  co_return unavailable(failed);
}

asio::awaitable<std::optional<Response>> JobAdmission::measure(JobRequest& asked) {
  if (!parts_.probe.enabled()) co_return std::nullopt;
  SpeechProbe::check_whole(asked.audio);
  if (const auto seconds = plain_wav_seconds(asked.audio)) {
    take_measured(asked, parts_.probe.check_duration(*seconds));
    co_return std::nullopt;
  }
  Probing work = [&] { return std::optional(parts_.probe.measure(asked.audio)); };
  co_return co_await probed(asked, std::move(work));
}

std::string JobAdmission::voice_of(const std::string& avatar) const {
  if (!parts_.avatars) return {};
  for (const ServedAvatar& one : parts_.avatars())
    if (one.id == avatar) return one.voice;
  return {};
}

asio::awaitable<std::optional<Response>> JobAdmission::measure_text(JobRequest& asked) {
  if (!parts_.probe.enabled()) co_return std::nullopt;
  const JobSpec& spec = asked.job.spec;
  const JobText text{
      .text = spec.text, .voice = spec.voice, .ssml = video_choice(spec).options.contains("ssml")};
  if (parts_.probe.knows(text)) co_return std::nullopt;
  Probing work = [&] {
    JobText voiced = text;
    if (text.voice.empty()) voiced.avatar_voice = voice_of(spec.avatar);
    return parts_.probe.speak(voiced);
  };
  co_return co_await probed(asked, std::move(work));
}

asio::awaitable<std::optional<Response>> JobAdmission::probed(JobRequest& asked, Probing work) {
  const std::shared_ptr<void> probe = begin(probes_, asked.job.spec.tenant, k_most_probes);
  if (!probe)
    co_return too_many(
        "as many recordings and texts of yours are being measured as may be at once, which is " +
        std::to_string(k_most_probes) + ": try again");
  if (total(probes_) > k_probe_threads + k_most_waiting_probes)
    co_return unavailable("too many recordings and texts wait to be measured: try again later");
  std::string failed;
  try {
    const std::optional<double> seconds = co_await parts_.probes.run(work);
    if (seconds) take_measured(asked, *seconds);
  } catch (const Error& error) {
    if (error.code() != Code::failed) throw;
    failed = error.message();
  }
  if (failed.empty()) co_return std::nullopt;
  co_return unavailable(failed);
}

}  // namespace navtalk::server
