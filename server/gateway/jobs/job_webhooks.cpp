#include "server/gateway/jobs/job_webhooks.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <map>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/log/log.h"
#include "core/net/url.h"
#include "core/text/rfc3339.h"

namespace navtalk::server {
namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr auto k_send_every = 1s;
constexpr auto k_least_wait = 50ms;
constexpr auto k_hold = 5min;  // notices that were taken: above the time of as many exchanges
constexpr auto k_give_up = 72h;
constexpr std::size_t k_most_taken = 16, k_most_hosts = 8;

std::string host_of(const std::string& url) {
  try {
    return parse_http_url(url).authority();
  } catch (const Error&) {
    return url;
  }
}

}  // namespace

WebhookMessage message_of(const JobNotice& notice) {
  const Job& job = notice.job;
  const auto at = std::chrono::time_point_cast<std::chrono::system_clock::duration>(notice.at);
  const std::string type =
      "job." + std::string(notice.event == JobEvent::promise ? "promise" : name(notice.to));
  const std::string id = job.id.text + "-" + std::to_string(notice.number);
  const bool done = notice.to == JobState::done;
  const nlohmann::ordered_json body = {
      {"id", id},
      {"type", type},
      {"at", rfc3339(at)},
      {"why", notice.why},
      {"job",
       {{"id", job.id.text},
        {"state", name(notice.to)},
        {"avatar", job.spec.avatar},
        {"video_minutes", job.work.count()},
        {"error", done || job.error.empty() ? nlohmann::ordered_json(nullptr)
                                            : nlohmann::ordered_json(job.error)},
        {"url", "/v1/jobs/" + job.id.text}}}};
  return {id, type, body.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)};
}

asio::awaitable<void> JobWebhooks::run() {
  while (!draining_) {
    try {
      co_await round();
      errors_.well("webhooks");
    } catch (const std::exception& error) {
      errors_.failed("webhooks", error.what());
    }
    if (draining_) break;
    asio::steady_timer pause(executor_, k_least_wait);
    co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
    co_await changed_.wait(Signal::Clock::now() + k_send_every);
  }
  stopped_ = true;
  changed_.notify();
}

asio::awaitable<void> JobWebhooks::round() {
  if (hosts_.size() >= k_most_hosts) co_return;
  auto take = [&] { return notices_.take(k_most_taken, k_hold, notices_.now()); };
  std::vector<JobNotice> taken = co_await store_threads_.run(take);
  std::map<std::string, std::shared_ptr<Batch>> batches;
  for (JobNotice& notice : taken) {
    const std::string host = host_of(notice.job.spec.webhook);
    // After what is under way to that host.
    if (hosts_.contains(host) || (batches.size() >= k_most_hosts && !batches.contains(host))) {
      auto later = [&] { notices_.hold(notice.number, notices_.now() + k_send_every); };
      co_await store_threads_.run(later);
      continue;
    }
    std::shared_ptr<Batch>& batch = batches[host];
    if (!batch) batch = std::make_shared<Batch>(Batch{.host = host});
    batch->notices.push_back(std::move(notice));
  }
  for (const auto& [host, batch] : batches) {
    hosts_.insert(host);
    asio::co_spawn(executor_, send(batch), asio::detached);
  }
}

// What follows a failure waits, too: the host is likely to fail it as well.
asio::awaitable<void> JobWebhooks::send(std::shared_ptr<const Batch> batch) {
  bool fails = false;
  try {
    for (const JobNotice& notice : batch->notices) {
      if (!fails && !draining_) {
        const bool delivered = co_await deliver(notice);
        fails = !delivered;
        continue;
      }
      auto later = [&] { notices_.hold(notice.number, notices_.now() + webhook_delay(1)); };
      co_await store_threads_.run(later);
    }
  } catch (const std::exception& error) {
    errors_.failed("webhooks", error.what());
  }
  hosts_.erase(batch->host);
  changed_.notify();
}

asio::awaitable<bool> JobWebhooks::deliver(const JobNotice& notice) {
  WebhookTarget target = target_;
  target.url = notice.job.spec.webhook;
  auto exchange = [&] {
    WebhookSender sender;
    return sender.send(target, message_of(notice), stop_.get_token());
  };
  const WebhookResult result = co_await senders_.run(exchange);
  if (!result.delivered && stop_.stop_requested()) co_return false;
  auto record = [&] {
    const TimePoint now = notices_.now();
    if (result.delivered) return notices_.remove(notice.number);
    if (now - notice.made_at >= k_give_up) {
      log::error("a webhook of a job was never delivered",
                 {{"job", notice.job.id.text}, {"why", result.why}});
      return notices_.remove(notice.number);
    }
    const auto delay = webhook_delay(notice.failures + 1, result.retry_after);
    log::warn("a webhook of a job was not delivered",
              {{"job", notice.job.id.text},
               {"why", result.why},
               {"again_in_s", std::to_string(delay.count())}});
    notices_.postpone(notice.number, now + delay);
  };
  co_await store_threads_.run(record);
  co_return result.delivered;
}

asio::awaitable<void> JobWebhooks::drain() {
  draining_ = true;
  stop_.request_stop();
  changed_.notify();
  while (!stopped_ || !hosts_.empty()) co_await changed_.wait(Signal::Clock::now() + k_send_every);
}

}  // namespace navtalk::server
