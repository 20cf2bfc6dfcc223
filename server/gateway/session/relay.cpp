#include "server/gateway/session/relay.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <nlohmann/json.hpp>

#include "core/log/log.h"
#include "core/text/printable.h"
#include "server/protocol/control_frame.h"
#include "server/protocol/media_frame.h"

namespace navtalk::server {
namespace asio = boost::asio;

namespace {

// Until a client that waits for its turn is looked at: it may be gone.
constexpr Signal::Clock::duration k_longest_pause = std::chrono::milliseconds(250);
constexpr std::size_t k_shown_bytes = 64;  // of what a client made up

void log_problem(const std::exception_ptr& problem) {
  try {
    if (problem) std::rethrow_exception(problem);
  } catch (const std::exception& error) {
    log::error("relaying failed", {{"error", error.what()}});
  }
}

// Errors with which a worker ends a session; it goes on after any other one.
bool ends_session(const nlohmann::json& error) {
  const auto code = error.find("code");
  return code != error.end() && (*code == "failed" || *code == "drained" || *code == "superseded");
}

bool is_picture(const Frame& frame) {
  if (frame.text) return false;
  const auto header = media_header(frame.bytes);
  return header && header->kind == MediaKind::video;
}

// What the client's tenant may send; null: there is no bound.
TokenBucket* messages_of(const Client& client) {
  const auto& connection = client.connection();
  return connection && connection->seat ? connection->seat->messages() : nullptr;
}

}  // namespace

Relay::Relay(Client& client, Parts parts)
    : client_(client),
      parts_(std::move(parts)),
      control_frames_(parts_.options.control_frames, Signal::Clock::now()),
      gate_(parts_.options.slow_video),
      stream_(StreamTracker::Clock::now()),
      from_client_wakes_(parts_.executor) {}

// A spawned coroutine runs when this one next waits, not before.
void Relay::start() {
  ++running_;
  asio::co_spawn(parts_.executor, from_client(),
                 [this](const std::exception_ptr& problem) { direction_ended(problem); });
}

void Relay::use(std::unique_ptr<WebSocket> worker, bool continues) {
  worker_ = std::move(worker);
  worker_->on_activity({});
  worker_over_ = had_pictures_ = paused_ = false;
  quiet_ticks_ = 0;
  last_words_.reset();
  quality_.reset();
  input_.clear();
  if (continues) {
    gate_.close(true);  // it begins with a key frame
    sound_gap_ = true;
  }
  ++running_;
  asio::co_spawn(parts_.executor, from_worker(worker_),
                 [this](const std::exception_ptr& problem) { direction_ended(problem); });
  client_.tell_frames(from_client_wakes_);
  from_client_wakes_.notify();
  if (client_.away()) note_away();
}

void Relay::direction_ended(const std::exception_ptr& problem) {
  log_problem(problem);
  --running_;
  parts_.changed.notify();
}

void Relay::drop_worker() {
  if (worker_) worker_->abort();
  worker_.reset();
}

std::optional<Relay::Farewell> Relay::farewell() const {
  const auto said = worker_ ? worker_->peer_close() : std::nullopt;
  if (!said || said->first == static_cast<std::uint16_t>(CloseCode::failed)) return std::nullopt;
  return Farewell{static_cast<CloseCode>(said->first), last_words_};
}

bool Relay::tick() {
  const auto& connection = client_.connection();
  if (connection && connection->socket->unsent_for() >= parts_.options.slow_client) {
    ++parts_.counters.slow_clients;
    client_.cut();
  }
  const bool must_speak = worker_ && had_pictures_ && !paused_ && held_up_ == 0;
  quiet_ticks_ = std::exchange(heard_, false) || !must_speak ? 0 : quiet_ticks_ + 1;
  return quiet_ticks_ >= k_ticks;
}

void Relay::note_away() {
  if (!worker_ || paused_) return;
  paused_ = true;
  tell_worker(frame_type::pause);
}

void Relay::note_return() {
  if (std::exchange(paused_, false)) tell_worker(frame_type::resume);
  if (quality_) client_.offer(*quality_);
  gate_.close(tell_worker(frame_type::keyframe));
  sound_gap_ = true;
}

bool Relay::tell_worker(std::string_view type) {
  return worker_ && worker_->offer(bare_frame(type));
}

// An interrupt waits for no messages of its tenant; it is bounded as a control frame.
Signal::Clock::duration Relay::pause_before_next() {
  const auto now = Signal::Clock::now();
  Signal::Clock::duration pause{};
  if (input_.front().text) pause = control_frames_.time_to(1, now);
  TokenBucket* const messages = messages_of(client_);
  if (messages == nullptr || input_.interrupts()) return pause;
  const auto tenants_pause = messages->time_to(1, now);
  if (tenants_pause == Signal::Clock::duration{}) return pause;
  if (!std::exchange(told_limit_, true)) {
    client_.offer(error_frame("tenant_limit",
                              "the clients of this tenant send more messages than it may; further "
                              "ones wait"));
  }
  return std::max(pause, tenants_pause);
}

Frame Relay::take_next() {
  const auto now = Signal::Clock::now();
  if (input_.front().text) control_frames_.take(1, now);
  TokenBucket* const messages = messages_of(client_);
  if (messages != nullptr && !input_.interrupts()) messages->take(1, now);
  Frame frame = input_.pop();
  if (input_.empty()) told_dropped_ = false;
  if (frame.text) told_overflow_ = false;
  return frame;
}

bool Relay::read_next() {
  std::optional<Frame> frame = client_.poll();
  if (!frame) return false;
  const InputQueue::Verdict verdict = input_.push(std::move(*frame));
  if (verdict == InputQueue::Verdict::sound_refused && !std::exchange(told_dropped_, true)) {
    client_.offer(error_frame("tenant_limit",
                              "the clients of this tenant send more messages than it may, and too "
                              "much sound waits: further sound is dropped"));
  }
  if (verdict == InputQueue::Verdict::text_refused && !std::exchange(told_overflow_, true)) {
    client_.offer(error_frame("overflow",
                              "10000 control frames or 1 MiB of them wait already: further ones "
                              "are dropped"));
  }
  return true;
}

void Relay::read_ahead() {
  while (read_next()) {
  }
  const auto& connection = client_.connection();
  if (!connection || !connection->socket->open()) input_.clear();
}

bool Relay::is_for_worker(const Frame& frame) {
  if (!frame.text) return true;
  const std::string type = type_of(frame.bytes);
  // What the first one was allowed, another one is not.
  if (type == frame_type::start) {
    client_.offer(error_frame("usage", "a session has one session.start"));
    return false;
  }
  if (type != frame_type::pause && type != frame_type::resume) return true;
  client_.offer(error_frame("usage", "unknown type " + printable_start(type, k_shown_bytes)));
  return false;
}

// What comes while there is no worker is read and dropped elsewhere (Client::left()). A worker that takes nothing holds up the
// reading; the client's own rates do not.
asio::awaitable<void> Relay::from_client() {
  while (!closed_) {
    if (!worker_ || (input_.empty() && !read_next())) {
      co_await from_client_wakes_.wait();
      continue;
    }
    if (input_.empty()) continue;  // too long a sound
    if (pause_before_next() > Signal::Clock::duration{}) {
      read_ahead();
      const auto pause = input_.empty() ? Signal::Clock::duration{} : pause_before_next();
      if (pause > Signal::Clock::duration{})
        co_await from_client_wakes_.wait(Signal::Clock::now() + std::min(pause, k_longest_pause));
      continue;
    }
    Frame frame = take_next();
    if (!is_for_worker(frame)) continue;
    const std::shared_ptr<WebSocket> worker = worker_;
    parts_.counters.bytes_to_worker += frame.bytes.size();
    co_await worker->send(std::move(frame));
  }
}

asio::awaitable<void> Relay::from_worker(std::shared_ptr<WebSocket> worker) {
  while (std::optional<Frame> frame = co_await worker->receive()) {
    if (worker != worker_) co_return;
    heard_ = true;
    parts_.counters.bytes_to_client += frame->bytes.size();
    if (frame->text) {
      co_await forward_text(std::move(*frame));
    } else {
      co_await forward(std::move(*frame));
    }
  }
  if (worker == worker_) worker_over_ = true;
}

asio::awaitable<void> Relay::forward_text(Frame frame) {
  const auto object = parse_control(frame.bytes);
  const std::string type = object ? object->at("type").get<std::string>() : "";
  if (type == frame_type::error && ends_session(*object)) {
    last_words_ = std::move(frame);
    co_return;
  }
  if (type == frame_type::undrained) {
    parts_.undrained();
    co_return;
  }
  if (type == frame_type::draining) {
    const auto notice = object->find("notice_s");
    const double notice_s =
        notice != object->end() && notice->is_number() ? notice->get<double>() : 0;
    frame = parts_.draining(std::chrono::milliseconds(
        static_cast<std::int64_t>(std::clamp(notice_s, 0.0, 86'400.0) * 1000)));
  }
  if (type == frame_type::quality) quality_ = frame;
  const std::shared_ptr<ClientConnection> client = client_.connection();
  if (client) co_await send(client, std::move(frame));
}

asio::awaitable<void> Relay::forward(Frame frame) {
  const auto header = media_header(frame.bytes);
  if (header) stream_.note(*header, StreamTracker::Clock::now());
  const std::shared_ptr<ClientConnection> client = client_.connection();
  if (!client) co_return;
  if (header && header->kind == MediaKind::video) {
    had_pictures_ = true;
    if (!admit_picture(frame, *header, *client->socket)) co_return;
    if (!first_picture_at_) first_picture_at_ = Signal::Clock::now();
  } else if (header && std::exchange(sound_gap_, false)) {
    add_flags(frame, media_flag::discontinuity);
  }
  co_await send(client, std::move(frame));
}

asio::awaitable<void> Relay::send(std::shared_ptr<ClientConnection> client, Frame frame) {
  ++held_up_;
  co_await client->socket->send(std::move(frame));
  --held_up_;
}

bool Relay::admit_picture(Frame& frame, const MediaHeader& header, WebSocket& client) {
  const bool key = (header.flags & media_flag::key) != 0;
  const VideoGate::Verdict verdict = gate_.next(key, client.unsent_for());
  if (verdict.drop_queued) {
    client.drop_unsent([this](const Frame& queued) {
      const bool dropped = is_picture(queued);
      if (dropped) ++parts_.counters.dropped_pictures;
      return dropped;
    });
  }
  if (verdict.ask_key && !tell_worker(frame_type::keyframe)) gate_.note_not_asked();
  if (verdict.discontinuity) add_flags(frame, media_flag::discontinuity);
  if (!verdict.pass) ++parts_.counters.dropped_pictures;
  return verdict.pass;
}

void Relay::close() {
  closed_ = true;
  if (worker_) worker_->close(CloseCode::normal, "");
  client_.close(CloseCode::normal, "");
  from_client_wakes_.notify();
}

asio::awaitable<void> Relay::finished() {
  while (running_ > 0) co_await parts_.changed.wait();
}

}  // namespace navtalk::server
