// What a job has to satisfy before it is accepted, one rule after the other: its text is judged (input_rules.h), its speech
// is fetched where a URL names it, and is measured (speech/). Of the I/O thread; whatever blocks runs on
// others, and a tenant has only so much under way on them.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "server/gateway/jobs/input_rules.h"
#include "server/gateway/jobs/job_request.h"
#include "server/gateway/jobs/speech/speech_fetches.h"
#include "server/gateway/jobs/speech/speech_probe.h"
#include "server/gateway/pages/avatar_api.h"
#include "server/http/blocking_threads.h"

namespace navtalk::server {

// 503, to be asked again in some seconds.
Response unavailable(const std::string& why);

class JobAdmission {
 public:
  // A tenant has two recordings and texts measured at once, so that no tenant alone occupies the threads.
  static constexpr int k_probe_threads = 4;
  // A tenant has two audio_urls fetched at once, and only one while half of those that may be fetched at once are: however
  // slow their servers are, 96 tenants are needed to keep others from having theirs fetched.
  static constexpr int k_fetches = SpeechFetches::k_at_once;
  struct Parts {
    const InputRules& rules;
    const SpeechProbe& probe;
    BlockingThreads& blocked_words;  // wait for nobody
    SpeechFetches& fetches;
    BlockingThreads& moderation;  // wait for the operator's server
    BlockingThreads& probes;      // k_probe_threads that wait for processes that decode
    AvatarList avatars{};         // whose voices texts are measured with; called on `probes`
  };
  explicit JobAdmission(Parts parts) : parts_(std::move(parts)) {}
  JobAdmission(const JobAdmission&) = delete;
  JobAdmission& operator=(const JobAdmission&) = delete;

  // Fetches, judges, rewrites and measures what is asked for; the answer to one that cannot be judged now. Error{invalid}
  // names the rule that refuses it.
  boost::asio::awaitable<std::optional<Response>> refusal_of(JobRequest& asked);

 private:
  using Counts = std::map<TenantId, int>;
  // How many audio_urls a tenant may have fetched at once now.
  int most_fetches() const;
  boost::asio::awaitable<std::optional<Response>> judge(JobRequest& asked);
  // Of its audio_url. A tenant's count begins here, behind the moderation's answer.
  boost::asio::awaitable<std::optional<Response>> fetch(JobRequest& asked);
  boost::asio::awaitable<std::optional<Response>> measure(JobRequest& asked);
  // "" where it is not known.
  std::string voice_of(const std::string& avatar) const;
  // The voice of a text, and how long it is spoken where it may be too long.
  boost::asio::awaitable<std::optional<Response>> measure_text(JobRequest& asked);
  // What a process finds: seconds, if any.
  using Probing = std::function<std::optional<double>()>;
  boost::asio::awaitable<std::optional<Response>> probed(JobRequest& asked, Probing work);
  // Held until it is over; nullptr: the tenant has as much under way as it may have.
  static std::shared_ptr<void> begin(Counts& under_way, const TenantId& tenant, int most);

  const Parts parts_;
  Counts fetches_{}, probes_{};  // that are under way
};

}  // namespace navtalk::server
