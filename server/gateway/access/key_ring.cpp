#include "server/gateway/access/key_ring.h"

#include "server/http/as_tuple.h"

namespace navtalk::server {
namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr auto k_read_every = 5s, k_read_at_most_every = 1s, k_counts_for = 25s;
constexpr TokenBucket::Rate k_unknown{.burst = 20, .per_second = 1};

}  // namespace

KeyRing::KeyRing(asio::any_io_executor executor, KeyStore* keys, BlockingThreads& threads)
    : store_(keys),
      threads_(threads),
      timer_(executor),
      unknown_(k_unknown, Clock::now()),
      read_ended_(executor, asio::steady_timer::time_point::max()) {
  if (store_ != nullptr) take(store_->list());
}

void KeyRing::take(const KeyList& list) {
  read_at_ = Clock::now();
  store_now_ = list.now;
  keys_by_id_.clear();
  for (const ApiKey& key : list.keys) keys_by_id_.emplace(key.id, key);
}

asio::awaitable<void> KeyRing::refresh() {
  if (store_ == nullptr) co_return;
  // What a read under way asked for may be older than the key.
  while (reading_) co_await read_ended_.async_wait(k_tuple);
  reading_ = true;
  // What is revoked while the list comes may be missing from it.
  const auto asked_at = Clock::now();
  try {
    const KeyList list = co_await threads_.run([this] { return store_->list(); });
    take(list);
    read_at_ = asked_at;
    errors_.well("keys");
    if (on_read_) on_read_();
  } catch (const std::exception& error) {
    errors_.failed("keys", error.what());
  }
  reading_ = false;
  read_ended_.cancel();
}

asio::awaitable<void> KeyRing::run() {
  refresh_by(Clock::now() + k_read_every);
  while (!stopped_) {
    while (!stopped_ && Clock::now() < next_read_) {
      timer_.expires_at(next_read_);
      co_await timer_.async_wait(k_tuple);
    }
    next_read_ = Clock::now() + k_read_every;  // a change during the read brings it forward
    if (!stopped_) co_await refresh();
  }
}

void KeyRing::refresh_by(Clock::time_point when) {
  next_read_ = when;
  timer_.cancel();
}

void KeyRing::note_change() {
  const auto soon = read_at_ + k_read_at_most_every;
  if (soon < next_read_) refresh_by(soon);
}

void KeyRing::stop() {
  stopped_ = true;
  timer_.cancel();
}

TimePoint KeyRing::now() const {
  return store_now_ + std::chrono::duration_cast<Duration>(Clock::now() - read_at_);
}

bool KeyRing::outdated() const { return Clock::now() - read_at_ >= k_counts_for; }

KeyRing::Verdict KeyRing::verdict_on(const ApiKey& key) const {
  switch (state_of(key, now())) {
    case KeyState::valid:
      return outdated() ? Verdict::unreachable : Verdict::valid;
    case KeyState::expired:
      return Verdict::expired;
    case KeyState::revoked:
      return Verdict::revoked;
  }
  return Verdict::unknown;
}

KeyRing::Verdict KeyRing::judge_id(const std::string& id) const {
  const auto found = keys_by_id_.find(id);
  return found == keys_by_id_.end() ? Verdict::unknown : verdict_on(found->second);
}

bool KeyRing::is_revoked(const std::string& id) const {
  const Verdict verdict = judge_id(id);
  return verdict == Verdict::revoked || verdict == Verdict::unknown;
}

asio::awaitable<KeyRing::Answer> KeyRing::judge(std::string text) {
  const std::optional<std::string> id = key_id(text);
  if (!id) co_return Answer{};
  if (!keys_by_id_.contains(*id) && unknown_.available(Clock::now()) > 0) {
    unknown_.take(1, Clock::now());
    co_await refresh();
  }
  const auto found = keys_by_id_.find(*id);
  if (found == keys_by_id_.end() || !is_key(text, found->second))
    co_return Answer{.verdict = outdated() ? Verdict::unreachable : Verdict::unknown};
  co_return Answer{.verdict = verdict_on(found->second), .key = found->second};
}

}  // namespace navtalk::server
