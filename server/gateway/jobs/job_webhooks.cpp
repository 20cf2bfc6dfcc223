#include "server/gateway/jobs/job_webhooks.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <map>
#include <nlohmann/json.hpp>

#include "core/log/log.h"
#include "core/net/hmac.h"
#include "core/text/rfc3339.h"

namespace navtalk::server {
namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr auto k_send_every = 1s;
constexpr auto k_least_wait = 50ms;
constexpr auto k_give_up = 72h;
constexpr auto k_give_up_every = 1min;
constexpr std::size_t k_most_receivers = 8, k_most_given_up = 1000;

std::string notice_time(TimePoint time) {
  return rfc3339(std::chrono::time_point_cast<std::chrono::system_clock::duration>(time));
}

}  // namespace

std::string webhook_secret_of(const TenantId& tenant, const std::string& pools_secret) {
  return hmac_sha256_hex(pools_secret, "webhooks of the jobs of " + tenant.text);
}

WebhookMessage message_of(const JobNotice& notice) {
  const Job& job = notice.job;
  const std::string type =
      "job." + std::string(notice.event == JobEvent::promise ? "promise" : name(notice.to));
  const std::string id = job.id.text + "-" + std::to_string(notice.number);
  const std::string& error = shown_error(job);
  const nlohmann::ordered_json body = {
      {"id", id},
      {"type", type},
      {"at", notice_time(notice.at)},
      {"why", notice.why},
      {"job",
       {{"id", job.id.text},
        {"state", name(notice.to)},
        {"avatar", job.spec.avatar},
        {"video_minutes", job.work.count()},
        {"promised_at", notice.promised_at
                            ? nlohmann::ordered_json(notice_time(*notice.promised_at))
                            : nlohmann::ordered_json(nullptr)},
        {"error", error.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(error)},
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
  co_await give_up();
  if (sending_.size() >= k_most_receivers) co_return;
  std::erase_if(resting_,
                [](const auto& entry) { return Clock::now() >= entry.second.known_until; });
  NoticeShare share{.receivers = k_most_receivers - sending_.size(), .except = sending_};
  for (const auto& [receiver, rest] : resting_) {
    if (Clock::now() < rest.until) share.except.insert(receiver);
  }
  auto take = [&] { return notices_.take(share, hold_, notices_.now()); };
  std::vector<JobNotice> taken = co_await store_threads_.run(take);
  std::map<std::string, std::shared_ptr<std::vector<JobNotice>>> batches;
  for (JobNotice& notice : taken) {
    auto& batch = batches[notice.receiver];
    if (!batch) batch = std::make_shared<std::vector<JobNotice>>();
    batch->push_back(std::move(notice));
  }
  for (const auto& [receiver, batch] : batches) {
    sending_.insert(receiver);
    asio::co_spawn(executor_, send(receiver, batch), asio::detached);
  }
}

asio::awaitable<void> JobWebhooks::give_up() {
  if (Clock::now() < give_up_at_) co_return;
  give_up_at_ = Clock::now() + k_give_up_every;
  auto old = [&] { return notices_.give_up(notices_.now() - k_give_up, k_most_given_up); };
  const std::vector<LostNotices> all = co_await store_threads_.run(old);
  for (const LostNotices& lost : all) {
    log::error("webhooks of jobs were never delivered",
               {{"tenant and host", lost.receiver}, {"messages", std::to_string(lost.notices)}});
  }
}

// What follows a failure waits, too: it is likely to fail as well.
asio::awaitable<void> JobWebhooks::send(std::string receiver,
                                        std::shared_ptr<const std::vector<JobNotice>> batch) {
  bool fails = false;
  try {
    const std::span<const JobNotice> all(*batch);
    std::size_t next = 0;
    while (next < all.size() && !fails && !draining_) {
      if (next > 0) co_await hold(all.subspan(next), hold_);
      const bool delivered = co_await deliver(all[next++]);
      fails = !delivered;
    }
    if (next < all.size()) co_await hold(all.subspan(next), webhook_delay(1));
  } catch (const std::exception& error) {
    errors_.failed("webhooks", error.what());
  }
  sending_.erase(receiver);
  changed_.notify();
}

asio::awaitable<void> JobWebhooks::hold(std::span<const JobNotice> notices, Duration time) {
  std::vector<std::int64_t> numbers;
  for (const JobNotice& notice : notices) numbers.push_back(notice.number);
  auto work = [&] { notices_.hold(numbers, notices_.now() + time); };
  co_await store_threads_.run(work);
}

void JobWebhooks::rest(const std::string& receiver, const WebhookResult& result) {
  if (result.delivered) {
    resting_.erase(receiver);
    return;
  }
  Rest& rest = resting_[receiver];
  rest.until = Clock::now() + webhook_delay(++rest.failures, result.retry_after);
  rest.known_until = rest.until + webhook_delay(rest.failures + 1);
}

asio::awaitable<bool> JobWebhooks::deliver(const JobNotice& notice) {
  WebhookTarget target = target_;
  target.url = notice.job.spec.webhook;
  target.secret = webhook_secret_of(notice.job.spec.tenant, target_.secret);
  auto exchange = [&] {
    WebhookSender sender;
    return sender.send(target, message_of(notice), stop_.get_token());
  };
  const WebhookResult result = co_await senders_.run(exchange);
  if (!result.delivered && stop_.stop_requested()) co_return false;
  rest(notice.receiver, result);
  auto record = [&] {
    if (result.delivered) return notices_.remove(notice.number);
    const auto delay = webhook_delay(notice.failures + 1, result.retry_after);
    log::warn("a webhook of a job was not delivered",
              {{"job", notice.job.id.text},
               {"why", result.why},
               {"again_in_s", std::to_string(delay.count())}});
    notices_.postpone(notice.number, notices_.now() + delay);
  };
  co_await store_threads_.run(record);
  co_return result.delivered;
}

asio::awaitable<void> JobWebhooks::drain() {
  draining_ = true;
  stop_.request_stop();
  changed_.notify();
  while (!stopped_ || !sending_.empty())
    co_await changed_.wait(Signal::Clock::now() + k_send_every);
}

}  // namespace navtalk::server
