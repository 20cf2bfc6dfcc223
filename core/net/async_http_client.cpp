#include "core/net/async_http_client.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <unordered_map>
#include <vector>

#include "core/base/check.h"
#include "core/base/unique_fd.h"
#include "core/net/attended_clock.h"
#include "core/net/http_exchange.h"

namespace navtalk {
namespace {

using Clock = std::chrono::steady_clock;
using Easy = CPtr<CURL, curl_easy_cleanup>;
using Deadlines = std::multimap<Clock::duration, CURL*>;  // by attended time

// A loop that waits looks at the clock so often, since it counts a longer round as its own lateness.
constexpr std::chrono::milliseconds k_round{100};

// curl closes a connection that was idle for so long.
constexpr std::chrono::minutes k_idle{2};

struct Transfer {
  Transfer(HttpRequest request, AsyncHttpClient::Done answered)
      : connect_timeout(request.connect_timeout),
        timeout(request.timeout),
        curls_patience(request.connect_timeout),
        exchange(std::move(request)),
        done(std::move(answered)) {}
  const Clock::duration connect_timeout, timeout;
  std::chrono::milliseconds curls_patience;  // with connecting, by the clock on the wall
  HttpExchange exchange;
  AsyncHttpClient::Done done;
  Easy easy{};
  Clock::duration begun{};  // attended time
  Deadlines::iterator deadline{};
};

// Without a cache curl looks through no names when a transfer ends. It would look through all of them.
// A connection that is kept needs no name.
void forget_names(CURL* easy) {
  NAVTALK_CHECK(curl_easy_setopt(easy, CURLOPT_DNS_CACHE_TIMEOUT, 0L) == CURLE_OK);
}

// The whole exchange is timed by this client; curl would take its own lateness for the server's. It
// keeps the timeout of connecting, because it shares that among the addresses of a name.
void leave_timeout_to_client(CURL* easy) {
  NAVTALK_CHECK(curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, 0L) == CURLE_OK);
}

AsyncHttpOptions within_limits(AsyncHttpOptions options) {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return options;
  const std::size_t most =
      std::max<std::size_t>(16, files.rlim_cur / AsyncHttpOptions::k_share_of_open_files);
  options.kept_connections = std::min(options.kept_connections, most);
  // Half of them at most are under way, so that the others stay open.
  options.at_once = std::clamp<std::size_t>(options.at_once, 1,
                                            std::max<std::size_t>(1, options.kept_connections / 2));
  return options;
}

}  // namespace

// All but `arrived` and `stopped` belongs to the thread.
struct AsyncHttpClient::State {
  AsyncHttpOptions options;
  UniqueFd epoll{::epoll_create1(EPOLL_CLOEXEC)};
  UniqueFd bell{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};  // something arrived, or a stop
  std::mutex mutex{};
  std::deque<std::unique_ptr<Transfer>> arrived{};
  bool stopped = false;  // of all transfers; under `mutex`
  std::unordered_map<CURL*, std::unique_ptr<Transfer>> under_way{};
  std::vector<Easy> spare{};
  std::unordered_map<std::string, Clock::time_point> kept{};  // authorities, and when last used
  Clock::time_point kept_looked_at{};
  Deadlines deadlines{};
  AttendedClock clock{Clock::now()};
  std::vector<epoll_event> events{};                         // room for all sockets
  std::optional<Clock::time_point> timer{};                  // when curl wants to be called
  CPtr<CURLM, curl_multi_cleanup> multi{curl_multi_init()};  // keeps the connections
  std::jthread thread{};

  explicit State(AsyncHttpOptions wanted);
  ~State();
  void ring() const;
  void run(const std::stop_token& stop);
  void begin_arrived();
  bool keeps(const std::string& authority);
  int most_wait_ms() const;
  void wait();
  void end_stopped();
  void end_done();
  void end_late();
  bool connects_again(CURL* easy, CURLcode code);
  void end(CURL* easy, std::optional<CURLcode> code);
  static int on_socket(CURL*, curl_socket_t socket, int what, void* self, void*);
  static int on_timer(CURLM*, long in_ms, void* self);
};

AsyncHttpClient::State::State(AsyncHttpOptions wanted) : options(within_limits(wanted)) {
  NAVTALK_CHECK(multi && epoll && bell);
  events.resize(2 * options.at_once + 1);  // a transfer may try two addresses at a time
  epoll_event event{.events = EPOLLIN, .data = {.fd = bell.value()}};
  NAVTALK_CHECK(::epoll_ctl(epoll.value(), EPOLL_CTL_ADD, bell.value(), &event) == 0);
  const auto set = [this](CURLMoption option, auto value) {
    NAVTALK_CHECK(curl_multi_setopt(multi.get(), option, value) == CURLM_OK);
  };
  set(CURLMOPT_MAXCONNECTS, static_cast<long>(options.kept_connections));
  set(CURLMOPT_SOCKETFUNCTION, on_socket);
  set(CURLMOPT_SOCKETDATA, static_cast<void*>(this));
  set(CURLMOPT_TIMERFUNCTION, on_timer);
  set(CURLMOPT_TIMERDATA, static_cast<void*>(this));
  thread = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

AsyncHttpClient::State::~State() {
  thread.request_stop();
  ring();
  thread.join();
  for (const auto& [easy, unused] : under_way) curl_multi_remove_handle(multi.get(), easy);
}

void AsyncHttpClient::State::ring() const {
  const eventfd_t one = 1;
  static_cast<void>(::eventfd_write(bell.value(), one));  // full: it rings already
}

int AsyncHttpClient::State::on_socket(CURL* easy, curl_socket_t socket, int what, void* self,
                                      void*) {
  auto& state = *static_cast<State*>(self);
  const int epoll = state.epoll.value();
  epoll_event event{.events = 0, .data = {.fd = socket}};
  if (what == CURL_POLL_REMOVE) {
    ::epoll_ctl(epoll, EPOLL_CTL_DEL, socket, &event);  // it may be closed already
    return 0;
  }
  if (what != CURL_POLL_OUT) event.events |= EPOLLIN;
  if (what != CURL_POLL_IN) event.events |= EPOLLOUT;
  // Where neither works, the transfer runs into its timeout. An error here would end all of them.
  if (::epoll_ctl(epoll, EPOLL_CTL_MOD, socket, &event) != 0 && errno == ENOENT &&
      ::epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &event) != 0) {
    const auto transfer = state.under_way.find(easy);
    if (transfer != state.under_way.end()) transfer->second->exchange.note_shortage();
  }
  return 0;
}

int AsyncHttpClient::State::on_timer(CURLM*, long in_ms, void* self) {
  auto& timer = static_cast<State*>(self)->timer;
  timer.reset();
  if (in_ms >= 0) timer = Clock::now() + std::chrono::milliseconds(in_ms);
  return 0;
}

void AsyncHttpClient::State::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    end_stopped();
    begin_arrived();
    wait();
    end_done();
    end_late();
  }
}

void AsyncHttpClient::State::end_stopped() {
  std::deque<std::unique_ptr<Transfer>> waiting;
  {
    const std::lock_guard lock(mutex);
    if (!stopped) return;
    waiting.swap(arrived);
  }
  for (const auto& transfer : waiting) transfer->done(transfer->exchange.stopped());
  while (!under_way.empty()) end(under_way.begin()->first, std::nullopt);
}

void AsyncHttpClient::State::begin_arrived() {
  while (under_way.size() < options.at_once) {
    std::unique_ptr<Transfer> transfer;
    {
      const std::lock_guard lock(mutex);
      if (arrived.empty()) return;
      transfer = std::move(arrived.front());
      arrived.pop_front();
    }
    if (spare.empty()) spare.emplace_back(curl_easy_init());
    transfer->easy = std::move(spare.back());
    spare.pop_back();
    CURL* const easy = transfer->easy.get();
    NAVTALK_CHECK(easy != nullptr);
    transfer->exchange.prepare(easy);
    forget_names(easy);
    leave_timeout_to_client(easy);
    if (!keeps(transfer->exchange.authority())) {
      NAVTALK_CHECK(curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L) == CURLE_OK);
    }
    transfer->begun = clock.at(Clock::now());
    transfer->deadline = deadlines.emplace(
        transfer->begun + std::min(transfer->connect_timeout, transfer->timeout), easy);
    under_way.emplace(easy, std::move(transfer));
    NAVTALK_CHECK(curl_multi_add_handle(multi.get(), easy) == CURLM_OK);
  }
}

// Is its connection kept? Where there is room for some only, always the same ones are: curl would search
// a full cache for the oldest connection whenever a transfer ends, and close the one that is next.
bool AsyncHttpClient::State::keeps(const std::string& authority) {
  const std::size_t most = options.kept_connections - options.at_once;
  const Clock::time_point now = Clock::now();
  if (const auto known = kept.find(authority); known != kept.end()) {
    known->second = now;
    return true;
  }
  if (kept.size() >= most && now - kept_looked_at >= k_idle) {
    std::erase_if(kept, [&](const auto& entry) { return now - entry.second >= k_idle; });
    kept_looked_at = now;
  }
  if (kept.size() >= most) return false;
  kept.emplace(authority, now);
  return true;
}

int AsyncHttpClient::State::most_wait_ms() const {
  if (under_way.empty()) return -1;
  if (!timer) return static_cast<int>(k_round.count());
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*timer - Clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, k_round.count()));
}

// For sockets, the timer and the bell; hands them to curl. Every socket that is ready is served in the
// round, before any transfer is late.
void AsyncHttpClient::State::wait() {
  const int count =
      ::epoll_wait(epoll.value(), events.data(), static_cast<int>(events.size()), most_wait_ms());
  clock.round(Clock::now());
  int running = 0;
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    if (event.data.fd == bell.value()) {
      eventfd_t rung = 0;
      static_cast<void>(::eventfd_read(bell.value(), &rung));
      continue;
    }
    int what = 0;
    if ((event.events & EPOLLIN) != 0) what |= CURL_CSELECT_IN;
    if ((event.events & EPOLLOUT) != 0) what |= CURL_CSELECT_OUT;
    if ((event.events & (EPOLLERR | EPOLLHUP)) != 0) what |= CURL_CSELECT_ERR;
    curl_multi_socket_action(multi.get(), event.data.fd, what, &running);
  }
  if (timer && *timer <= Clock::now()) {
    timer.reset();
    curl_multi_socket_action(multi.get(), CURL_SOCKET_TIMEOUT, 0, &running);
  }
}

void AsyncHttpClient::State::end_done() {
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi.get(), &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    const CURLcode code = message->data.result;  // the message ends with its handle
    CURL* const easy = message->easy_handle;
    if (!connects_again(easy, code)) end(easy, code);
  }
}

// curl's timer for connecting runs on while this loop is late. Then curl tries again with twice the
// patience, which is longer than the loop's lateness in the end, for as long as attended time is left.
bool AsyncHttpClient::State::connects_again(CURL* easy, CURLcode code) {
  constexpr std::chrono::milliseconds k_most = std::chrono::hours(1);
  Transfer& transfer = *under_way.at(easy);
  const Clock::duration attended = clock.passed() - transfer.begun;
  if (code != CURLE_OPERATION_TIMEDOUT || transfer.exchange.sent() ||
      attended + AttendedClock::k_longest_round >= transfer.connect_timeout) {
    return false;
  }
  transfer.curls_patience = std::min(2 * transfer.curls_patience, k_most);
  curl_multi_remove_handle(multi.get(), easy);
  NAVTALK_CHECK(curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                                 static_cast<long>(transfer.curls_patience.count())) == CURLE_OK);
  NAVTALK_CHECK(curl_multi_add_handle(multi.get(), easy) == CURLM_OK);
  return true;
}

// Those whose time is over, as far as this loop has given it to them.
void AsyncHttpClient::State::end_late() {
  while (!deadlines.empty() && deadlines.begin()->first <= clock.passed()) {
    CURL* const easy = deadlines.begin()->second;
    Transfer& transfer = *under_way.at(easy);
    const Clock::duration end_of_all = transfer.begun + transfer.timeout;
    if (transfer.exchange.sent() && clock.passed() < end_of_all) {  // it was to connect only
      deadlines.erase(transfer.deadline);
      transfer.deadline = deadlines.emplace(end_of_all, easy);
    } else {
      end(easy, CURLE_OPERATION_TIMEDOUT);
    }
  }
}

// nullopt: it was stopped.
void AsyncHttpClient::State::end(CURL* easy, std::optional<CURLcode> code) {
  curl_multi_remove_handle(multi.get(), easy);
  auto ended = under_way.extract(easy);
  NAVTALK_CHECK(!ended.empty());
  Transfer& transfer = *ended.mapped();
  deadlines.erase(transfer.deadline);
  transfer.done(code ? transfer.exchange.result(*code) : transfer.exchange.stopped());
  curl_easy_reset(easy);  // it points into the exchange
  spare.push_back(std::move(transfer.easy));
}

AsyncHttpClient::AsyncHttpClient(AsyncHttpOptions options) {
  initialise_curl();
  state_ = std::make_unique<State>(options);
}
AsyncHttpClient::~AsyncHttpClient() = default;

void AsyncHttpClient::send(HttpRequest request, Done done) {
  auto transfer = std::make_unique<Transfer>(std::move(request), std::move(done));
  bool first = false;
  {
    const std::lock_guard lock(state_->mutex);
    first = state_->arrived.empty();
    state_->arrived.push_back(std::move(transfer));
  }
  if (first) state_->ring();
}

void AsyncHttpClient::stop() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopped = true;
  }
  state_->ring();
}

}  // namespace navtalk
