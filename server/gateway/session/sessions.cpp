#include "server/gateway/session/sessions.h"

#include <algorithm>

#include "core/text/printable.h"
#include "server/http/http_server.h"
#include "server/protocol/control_frame.h"

namespace navtalk::server {
namespace asio = boost::asio;

namespace {

// Behind a reverse proxy, of this machine or a named one, the last address that it names: the one that
// the proxy itself has seen. "local": a program of this machine.
std::string address_of(const Request& request, const std::vector<std::string>& proxies) {
  constexpr std::size_t k_longest = 64;
  const bool own_machine = is_loopback({.host = request.peer});
  const bool proxy =
      own_machine || std::find(proxies.begin(), proxies.end(), request.peer) != proxies.end();
  if (!proxy) return request.peer;
  std::string named;
  for (const auto& [name, value] : request.headers) {
    if (name == "x-forwarded-for") named = value.substr(value.rfind(',') + 1);
  }
  const std::size_t begin = named.find_first_not_of(' ');
  if (begin == named.npos) return own_machine ? "local" : request.peer;
  return printable_start(named.substr(begin), k_longest);
}

}  // namespace

// A session is in the set, and its lease is kept, for as long as this lives.
class Sessions::Entry {
 public:
  Entry(Sessions& all, Session& session) : all_(all), session_(session) {
    all_.sessions_.insert(&session_);
    all_.keeper_.add(session_.claim());
  }
  ~Entry() {
    all_.keeper_.remove(session_.claim());
    all_.sessions_.erase(&session_);
    all_.ended_.notify();
  }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

 private:
  Sessions& all_;
  Session& session_;
};

Sessions::Sessions(asio::any_io_executor executor, Allocator& allocator, BlockingThreads& threads,
                   LeaseKeeper& keeper, Suspects& suspects, SessionOptions options)
    : executor_(std::move(executor)),
      allocator_(allocator),
      threads_(threads),
      keeper_(keeper),
      suspects_(suspects),
      options_(std::move(options)),
      ended_(executor_) {}

std::optional<Response> Sessions::refuse_new() const {
  if (draining_) return error_response(503, "draining", "this gateway is going away");
  if (sessions_.size() < options_.max_sessions) return std::nullopt;
  Response refusal =
      error_response(503, "no_capacity", "this gateway has as many sessions as it may");
  refusal.headers.emplace_back("Retry-After", "10");
  return refusal;
}

asio::awaitable<std::optional<Response>> Sessions::realtime(const Request& request,
                                                            Upgrade& upgrade,
                                                            SessionPermit permit) {
  if (auto refusal = refuse_new()) co_return refusal;
  SocketLimits limits;
  limits.idle_timeout = options_.client_idle_timeout;
  limits.write = options_.slow_client;
  limits.pace = options_.before_ready;
  const std::unique_ptr<WebSocket> socket = co_await upgrade.accept(limits, permit.answer);
  if (!socket) co_return std::nullopt;
  const std::string address = address_of(request, options_.trusted_proxies);
  co_await run(*socket, address, std::move(permit));
  socket->close(CloseCode::normal, "");
  co_await socket->finished();
  co_return std::nullopt;
}

std::string Sessions::user_of(const std::string& address) const {
  std::set<std::string> present;
  for (const Session* session : sessions_) present.insert(session->user());
  for (int number = 0;; ++number) {
    std::string user = address + "#" + std::to_string(number);
    if (!present.contains(user)) return user;
  }
}

asio::awaitable<void> Sessions::run(WebSocket& socket, const std::string& address,
                                    SessionPermit permit) {
  const SessionParts parts{.allocator = allocator_,
                           .threads = threads_,
                           .suspects = suspects_,
                           .counters = counters_,
                           .shortages = shortages_,
                           .options = options_};
  Session session(socket, executor_, parts, user_of(address), std::move(permit));
  const Entry entry(*this, session);
  if (draining_) session.drain({});  // since the upgrade
  co_await session.run();
}

void Sessions::note_pool_change() {
  for (Session* session : sessions_) session->note_pool_change();
}

asio::awaitable<void> Sessions::drain(std::chrono::milliseconds notice) {
  draining_ = true;
  const Frame frame = draining_frame(notice);
  for (Session* session : sessions_) session->drain(frame);
  const auto until = Signal::Clock::now() + notice;
  while (!sessions_.empty() && Signal::Clock::now() < until) co_await ended_.wait(until);
  for (Session* session : sessions_) session->end_drained();
}

}  // namespace navtalk::server
