// Posts the notices of jobs (scheduler/jobs/notices/job_notices.h) to their webhooks: several at once, one
// at a time for each receiver, and none for a while to one that fails, so that an endpoint that hangs delays
// nobody else's. Of the I/O thread, with the store's calls and the exchanges on blocking threads.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "core/log/error_throttle.h"
#include "core/net/webhook.h"
#include "scheduler/jobs/notices/job_notices.h"
#include "server/http/blocking_threads.h"
#include "server/http/signal.h"

namespace navtalk::server {

class JobWebhooks {
 public:
  // What was taken is others' after that, unless it is renewed: well above the time of an exchange.
  static constexpr Duration k_hold = std::chrono::seconds(60);

  // `target`: the secret, and what addresses are allowed; its url is each job's own. All outlive it.
  JobWebhooks(boost::asio::any_io_executor executor, JobNotices& notices, WebhookTarget target,
              BlockingThreads& store_threads, BlockingThreads& senders, Duration hold = k_hold)
      : executor_(executor),
        notices_(notices),
        target_(std::move(target)),
        store_threads_(store_threads),
        senders_(senders),
        hold_(hold),
        changed_(executor) {}

  // Until drain().
  boost::asio::awaitable<void> run();
  // A job is over.
  void note_change() { changed_.notify(); }
  // Returns when nothing is under way. What is due goes out from the next gateway.
  boost::asio::awaitable<void> drain();

 private:
  using Clock = Signal::Clock;
  struct Rest {
    int failures = 0;  // one after another
    Clock::time_point until{};
    Clock::time_point known_until{};  // its failures count until then
  };

  boost::asio::awaitable<void> round();
  boost::asio::awaitable<void> give_up();
  boost::asio::awaitable<void> send(std::string receiver,
                                    std::shared_ptr<const std::vector<JobNotice>> batch);
  // They are due again after that time.
  boost::asio::awaitable<void> hold(std::span<const JobNotice> notices, Duration time);
  // False: it was not delivered.
  boost::asio::awaitable<bool> deliver(const JobNotice& notice);
  void rest(const std::string& receiver, const WebhookResult& result);

  const boost::asio::any_io_executor executor_;
  JobNotices& notices_;
  const WebhookTarget target_;
  BlockingThreads& store_threads_;
  BlockingThreads& senders_;
  const Duration hold_;
  Signal changed_;
  ErrorThrottleLog errors_{"the webhooks of jobs"};
  std::stop_source stop_{};
  std::set<std::string> sending_{};        // receivers
  std::map<std::string, Rest> resting_{};  // receivers that failed
  Clock::time_point give_up_at_{};
  bool draining_ = false, stopped_ = false;
};

// What signs the messages of a tenant's jobs: whoever checks them can sign neither for another tenant nor for the pool.
// 64 hexadecimal digits. Error{failed} where OpenSSL offers no HMAC.
std::string webhook_secret_of(const TenantId& tenant, const std::string& pools_secret);

// The type, "job.done" or "job.promise", and the JSON of a notice.
WebhookMessage message_of(const JobNotice& notice);

}  // namespace navtalk::server
