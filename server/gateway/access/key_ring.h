// The pool's API keys, as this gateway knows them: all keys in memory, read from the store every 5 s, and
// a second after a change in the store, so that a request asks no database, whatever key it carries. A
// key that was revoked on another machine is refused within 25 s here, also while the store is away:
// keys that were read longer ago count no more. An unknown key is looked for in the store at once, so that one which was just made
// is taken; for all together twenty times, and then once a second. Of the I/O thread, except for the constructor, which blocks.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "core/log/error_throttle.h"
#include "scheduler/access/key_store.h"
#include "server/http/blocking_threads.h"
#include "server/http/socket/token_bucket.h"

namespace navtalk::server {

class KeyRing {
 public:
  enum class Verdict : std::uint8_t { valid, unknown, expired, revoked, unreachable };
  struct Answer {
    Verdict verdict = Verdict::unknown;
    ApiKey key{};  // of a valid one
  };

  // nullptr: a pool without keys. Error{failed} when the store cannot be reached.
  KeyRing(boost::asio::any_io_executor executor, KeyStore* keys, BlockingThreads& threads);

  // Whether requests need a key: once the pool has had one, even if it is revoked now.
  bool required() const { return !keys_by_id_.empty(); }
  boost::asio::awaitable<Answer> judge(std::string text);
  // What is known of a key by its id, without asking the store.
  Verdict judge_id(const std::string& id) const;
  // Whether it was revoked, or is gone from the store; false for as long as nobody knows.
  bool is_revoked(const std::string& id) const;
  // The store's time, as far as it is known.
  TimePoint now() const;

  // Reads again and again, until stop().
  boost::asio::awaitable<void> run();
  void stop();
  // Called whenever the keys were read.
  void on_read(std::function<void()> read) { on_read_ = std::move(read); }
  // Reads as soon as possible.
  void refresh_now() { refresh_by(Clock::now()); }
  // Something changed in the store, perhaps a key: reads, but once a second at most.
  void note_change();

 private:
  using Clock = std::chrono::steady_clock;

  void take(const KeyList& list);
  boost::asio::awaitable<void> refresh();
  void refresh_by(Clock::time_point when);
  bool outdated() const;
  Verdict verdict_on(const ApiKey& key) const;

  KeyStore* const store_;
  BlockingThreads& threads_;
  boost::asio::steady_timer timer_;
  ErrorThrottleLog errors_{"reading the API keys"};
  std::map<std::string, ApiKey> keys_by_id_{};
  TimePoint store_now_{};
  Clock::time_point read_at_{}, next_read_{};
  std::function<void()> on_read_{};
  TokenBucket unknown_;
  boost::asio::steady_timer read_ended_;  // never expires: cancelling it wakes all who wait
  bool reading_ = false, stopped_ = false;
};

}  // namespace navtalk::server
