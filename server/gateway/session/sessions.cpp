#include "server/gateway/session/sessions.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <nlohmann/json.hpp>

#include "core/text/printable.h"
#include "server/http/http_server.h"
#include "server/protocol/control_frame.h"

namespace navtalk::server {
namespace asio = boost::asio;

using Clock = Signal::Clock;
using namespace std::chrono_literals;

namespace {

// What waits for a client that does not read, until it is disconnected: sound for 8 s, pictures for half
// a second. Beyond that the worker waits.
constexpr std::size_t k_unsent_frames = 2000, k_unsent_bytes = 4 << 20;
// 100 ms of a picture stream. More would hide how slowly a client reads.
constexpr int k_system_bytes = 32 << 10;
constexpr double k_limit_retry_after_s = 10, k_drain_retry_after_s = 1;
constexpr auto k_last_words = 2s;  // at the end of the gateway

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

class Sessions::Starting {
 public:
  Starting(Sessions& all, ClientConnection& connection) : all_(all), connection_(connection) {
    all_.starting_.insert(&connection_);
    connection_.socket->on_activity([&changed = connection_.changed] { changed.notify(); });
  }
  ~Starting() {
    connection_.socket->on_activity({});
    all_.starting_.erase(&connection_);
    all_.ended_.notify();
  }
  Starting(const Starting&) = delete;
  Starting& operator=(const Starting&) = delete;

 private:
  Sessions& all_;
  ClientConnection& connection_;
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
  if (draining_) return draining_response();
  if (has_room()) return std::nullopt;
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
  limits.write = 2 * options_.slow_client;  // in a session, Relay::tick() is quicker
  limits.pace = options_.before_ready;
  limits.unsent_frames = k_unsent_frames;
  limits.unsent_bytes = k_unsent_bytes;
  limits.system_bytes = k_system_bytes;
  std::unique_ptr<WebSocket> socket = co_await upgrade.accept(limits, permit.answer);
  if (!socket) co_return std::nullopt;
  const auto connection = std::make_shared<ClientConnection>(executor_, std::move(socket));
  connection->seat = std::move(permit.seat);
  connection->revoked = permit.revoked;
  co_await begin(connection, address_of(request, options_.trusted_proxies), std::move(permit));
  while (!connection->released) co_await connection->changed.wait();
  connection->socket->close(CloseCode::normal, "");
  co_await connection->socket->finished();
  co_return std::nullopt;
}

asio::awaitable<void> Sessions::begin(const std::shared_ptr<ClientConnection>& connection,
                                      std::string address, SessionPermit permit) {
  const auto at = Clock::now();
  std::optional<std::string> start;
  {
    const Starting starting(*this, *connection);
    start = co_await receive_start(*connection);
  }
  if (!start) co_return;
  if (permit.revoked()) {
    connection->socket->offer(key_revoked_frame());
    connection->socket->close(CloseCode::refused, "key_revoked");
    co_return;
  }
  const nlohmann::json frame = nlohmann::json::parse(*start);
  const auto token = frame.find("resume_token");
  if (token != frame.end() && !token->is_null()) {
    resume(connection, token->is_string() ? token->get<std::string>() : "", permit);
    co_return;
  }
  if (!take_seat(*connection, permit)) co_return;
  if (sessions_.size() >= options_.max_sessions) {
    connection->socket->offer(
        error_frame("no_capacity", "this gateway has as many sessions as it may", 10));
    connection->socket->close(CloseCode::try_again, "no_capacity");
    co_return;
  }
  connection->released = false;
  Arrival arrival{
      .connection = connection, .start = std::move(*start), .permit = std::move(permit), .at = at};
  asio::co_spawn(executor_, run(std::move(arrival), std::move(address)), asio::detached);
}

bool Sessions::take_seat(ClientConnection& connection, const SessionPermit& permit) {
  if (!connection.seat->surplus()) return true;
  if (std::shared_ptr<TenantSeat> seat = permit.take_seat()) {
    connection.seat = std::move(seat);
    return true;
  }
  connection.socket->offer(error_frame(
      "tenant_limit", "this tenant has as many connections as it may", k_limit_retry_after_s));
  connection.socket->close(CloseCode::try_again, "tenant_limit");
  return false;
}

void Sessions::resume(const std::shared_ptr<ClientConnection>& connection, const std::string& token,
                      const SessionPermit& permit) {
  if (Session* const session = tokens_.find(token, permit.who.tenant.text)) {
    // The token stays good for a client that is refused for want of a seat.
    if (session->seated() || take_seat(*connection, permit)) session->resume(connection);
    return;
  }
  ++counters_.resume_failed;
  connection->socket->offer(error_frame(
      "resume_failed", "this session is over, or the token was used already; start again"));
  connection->socket->close(CloseCode::refused, "resume_failed");
}

asio::awaitable<std::optional<std::string>> Sessions::receive_start(ClientConnection& connection) {
  WebSocket& socket = *connection.socket;
  const auto refuse = [&](Frame error, const char* code) {
    socket.offer(std::move(error));
    socket.close(CloseCode::refused, code);
  };
  const auto until = Clock::now() + options_.start_within;
  for (;;) {
    if (std::optional<Frame> frame = socket.poll()) {
      auto too_long = frame->text ? start_too_long(frame->bytes) : std::nullopt;
      if (too_long) {
        refuse(std::move(*too_long), "invalid");
        co_return std::nullopt;
      }
      if (frame->text && type_of(frame->bytes) == frame_type::start) {
        co_return std::move(frame->bytes);
      }
      const bool unreadable =
          frame->text && frame->bytes.size() <= k_longest_control && type_of(frame->bytes).empty();
      refuse(unreadable
                 ? no_type_frame(frame->bytes)
                 : error_frame("usage", "the first frame must be session.start, a JSON object"),
             "usage");
      co_return std::nullopt;
    }
    if (socket.too_fast()) {
      refuse(too_fast_frame(), "too_fast");
      co_return std::nullopt;
    }
    if (!socket.open()) co_return std::nullopt;
    if (draining_) {
      socket.offer(error_frame("draining", "this gateway is going away", k_drain_retry_after_s));
      socket.close(CloseCode::going_away, "draining");
      co_return std::nullopt;
    }
    if (Clock::now() >= until) {
      refuse(error_frame("usage", "no session.start came in time"), "usage");
      co_return std::nullopt;
    }
    co_await connection.changed.wait(until);
  }
}

bool Sessions::has_room() const {
  return size() < options_.max_sessions ||
         (!tokens_.empty() && starting_.size() < options_.max_sessions);
}

std::string Sessions::user_of(const std::string& address) const {
  std::set<std::string> present;
  // Who is away may be the one who comes: it began anew instead of coming back.
  for (const Session* session : sessions_) {
    if (!session->away()) present.insert(session->user());
  }
  for (int number = 0;; ++number) {
    std::string user = address + "#" + std::to_string(number);
    if (!present.contains(user)) return user;
  }
}

asio::awaitable<void> Sessions::run(Arrival arrival, std::string address) {
  const SessionParts parts{.allocator = allocator_,
                           .threads = threads_,
                           .suspects = suspects_,
                           .counters = counters_,
                           .shortages = shortages_,
                           .tokens = tokens_,
                           .options = options_};
  arrival.user = user_of(address);
  Session session(executor_, parts, std::move(arrival));
  const Entry entry(*this, session);
  if (draining_) session.drain({});  // since its session.start
  co_await session.run();
}

void Sessions::note_pool_change() {
  for (Session* session : sessions_) session->note_pool_change();
}

void Sessions::note_drains(const DrainWatch::Ends& ends) {
  for (Session* session : sessions_) session->note_drains(ends);
}

void Sessions::note_revocations() {
  for (Session* session : sessions_) session->note_revocations();
}

Response Sessions::draining_response() {
  Response refusal = error_response(503, "draining", "this gateway is going away");
  refusal.headers.emplace_back("Retry-After", "1");
  return refusal;
}

asio::awaitable<void> Sessions::drain(std::chrono::milliseconds notice) {
  refuse_all_new();
  for (Session* session : sessions_) session->drain(notice);
  for (ClientConnection* connection : starting_) connection->changed.notify();
  const auto until = Clock::now() + notice;
  while (size() > 0 && Clock::now() < until) co_await ended_.wait(until);
  for (Session* session : sessions_) session->end_drained();
  const auto at_most = Clock::now() + k_last_words;
  while (size() > 0 && Clock::now() < at_most) co_await ended_.wait(at_most);
}

}  // namespace navtalk::server
