#include "cmd/bench/serve/live_client.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <cstring>
#include <nlohmann/json.hpp>

#include "cmd/bench/serve/stamp.h"
#include "server/protocol/control_frame.h"
#include "server/protocol/media_frame.h"

namespace navtalk::cmd {
namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t k_header = 16;  // bytes of a media frame's header
constexpr std::chrono::milliseconds k_interrupted_sound{2000}, k_sound_before_interrupt{600};
constexpr auto k_interrupt_within = 10s;
constexpr auto k_quiet = 300ms;
constexpr auto k_close_within = 5s;

double milliseconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

// The positive rate of a `quality` frame.
std::optional<FrameRate> rate_in(const nlohmann::json& event) {
  const auto fps = event.find("fps");
  if (fps == event.end()) return std::nullopt;
  return parse_frame_rate(fps->is_string() ? fps->get<std::string>() : fps->dump());
}

// A copy: nothing here is aligned.
template <class Number>
Number member_at(const std::string& bytes, std::size_t at) {
  Number number{};
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

}  // namespace

LiveClient::LiveClient(const asio::any_io_executor& executor, const ClientOptions& options,
                       const Speech& speech)
    : executor_(executor),
      options_(options),
      speech_(speech),
      changed_(executor),
      returned_(speech) {
  result_.recording.rate_hz = speech.rate_hz;
}

void LiveClient::fail(std::string problem) {
  if (result_.problem.empty()) result_.problem = std::move(problem);
}

template <class Holds>
asio::awaitable<bool> LiveClient::wait_until(Holds holds, Clock::time_point deadline) {
  while (!holds() && !over_ && Clock::now() < deadline) co_await changed_.wait(deadline);
  co_return holds();
}

asio::awaitable<bool> LiveClient::open(std::chrono::seconds within) {
  const auto deadline = Clock::now() + within;
  server::WebSocket::Declined declined;
  server::SocketLimits limits;
  limits.queue_frames = 256;
  socket_ = co_await server::WebSocket::connect(options_.address, limits, declined);
  if (!socket_) {
    fail("cannot connect: " + declined.message);
    co_return false;
  }
  over_ = false;
  asio::co_spawn(executor_, read(), asio::detached);
  nlohmann::ordered_json start = {{"type", server::frame_type::start},
                                  {"audio", {{"rate", speech_.rate_hz}}}};
  if (!options_.avatar.empty()) start["avatar"] = options_.avatar;
  if (options_.width > 0) start["video"] = {{"width", options_.width}};
  started_ = Clock::now();
  co_await socket_->send(server::control_frame(start));
  const auto shown = [this] { return !result_.recording.pictures.empty(); };
  const bool opened = co_await wait_until(shown, deadline);
  if (!opened) fail("no picture came");
  co_return opened;
}

void LiveClient::begin_measuring() {
  result_.messages = 0;
  result_.delays_ms.clear();
  measuring_since_ = Clock::now();
}

asio::awaitable<bool> LiveClient::play(std::chrono::duration<double> time) {
  const auto begin = Clock::now();
  const auto samples_by = [&](std::int64_t message) {
    return static_cast<std::uint64_t>(message * options_.message.count() * speech_.rate_hz / 1000);
  };
  // As a microphone gives it: a message when its last sample was heard.
  for (std::int64_t number = 0; number * options_.message < time; ++number) {
    const auto due = begin + (number + 1) * options_.message;
    while (!over_ && Clock::now() < due) co_await changed_.wait(due);
    const bool sent = co_await send_sound(samples_by(number + 1) - samples_by(number));
    if (over_ || !sent) co_return false;
  }
  co_return true;
}

asio::awaitable<bool> LiveClient::send_sound(std::size_t samples) {
  server::Frame frame{.text = false};
  frame.bytes.reserve(samples * sizeof(std::int16_t));
  for (std::size_t done = 0; done < samples;) {
    const std::size_t at = (sent_ + done) % speech_.samples.size();
    const std::size_t piece = std::min(samples - done, speech_.samples.size() - at);
    frame.bytes.append(reinterpret_cast<const char*>(speech_.samples.data() + at),
                       piece * sizeof(std::int16_t));
    done += piece;
  }
  if (options_.stamped) put_stamp(frame.bytes, 0);
  if (recording_)
    result_.recording.sent.push_back({sent_, static_cast<std::uint32_t>(samples), Clock::now()});
  sent_ += samples;
  if (recording_) ++result_.messages;
  co_return co_await socket_->send(std::move(frame));
}

asio::awaitable<bool> LiveClient::send_text(std::string text) {
  server::Frame frame;
  frame.bytes = std::move(text);
  co_return co_await socket_->send(std::move(frame));
}

asio::awaitable<void> LiveClient::finish_playing(std::chrono::seconds within) {
  if (over_) co_return;
  co_await send_text(R"({"type":"input.end"})");
  const Recording& recording = result_.recording;
  const auto all_came = [&] {
    return returned_.next() >= sent_ &&
           (recording.sounds.empty() || recording.pictures.empty() ||
            recording.pictures.back().time > recording.sounds.back().time);
  };
  if (!options_.stamped) co_await wait_until(all_came, Clock::now() + within);
  recording_ = false;
  result_.measured_s = std::chrono::duration<double>(Clock::now() - measuring_since_).count();
}

asio::awaitable<bool> LiveClient::interrupt() {
  const auto begin = Clock::now();
  const auto samples_of = [&](std::chrono::milliseconds time) {
    return static_cast<std::uint64_t>(time.count() * speech_.rate_hz / 1000);
  };
  const std::uint64_t returned = returned_.next();
  interrupted_.reset();
  still_at_.reset();
  const std::size_t message = samples_of(options_.message);
  for (std::uint64_t done = 0; done < samples_of(k_interrupted_sound); done += message) {
    const bool sent = co_await send_sound(message);
    if (!sent) co_return false;
  }
  const auto plays = [&] {
    return returned_.next() >= returned + samples_of(k_sound_before_interrupt);
  };
  bool done = co_await wait_until(plays, begin + k_interrupt_within);
  const auto at = Clock::now();
  if (done) done = co_await send_text(R"({"type":"interrupt"})");
  const auto still = [this] { return interrupted_ && still_at_; };
  if (done) done = co_await wait_until(still, at + k_interrupt_within);
  const auto quiet = [&] {
    return Clock::now() - std::max(last_sound_at_, interrupted_at_) >= k_quiet;
  };
  while (done && !quiet() && !over_) {
    co_await wait_until(quiet, std::max(last_sound_at_, interrupted_at_) + k_quiet);
    if (Clock::now() > at + k_interrupt_within) done = false;
  }
  if (!done) {
    fail("an interrupt had no effect");
    co_return false;
  }
  result_.interrupts.push_back(
      {.told_ms = milliseconds(interrupted_at_ - at),
       .silence_ms = milliseconds(std::max(last_sound_at_, interrupted_at_) - at),
       .still_ms = milliseconds(*still_at_ - at)});
  sent_ = 0;  // what waited is gone; the recording has ended
  returned_.begin_again();
  co_return true;
}

asio::awaitable<void> LiveClient::closed() {
  if (!socket_) co_return;
  ending_ = true;
  if (!over_) {
    co_await send_text(R"({"type":"session.end"})");
    co_await wait_until([] { return false; }, Clock::now() + k_close_within);
  }
  socket_->close(server::CloseCode::normal, "");
  co_await socket_->finished();
  while (!over_) co_await changed_.wait();
}

asio::awaitable<void> LiveClient::read() {
  while (std::optional<server::Frame> frame = co_await socket_->receive()) {
    const auto now = Clock::now();
    if (recording_) ++result_.messages;
    if (!frame->text) {
      take_media(frame->bytes, now);
    } else if (!take_event(frame->bytes, now)) {
      fail("an event is not what the protocol says");
    }
    changed_.notify();
  }
  over_ = true;
  if (!ending_) fail("the connection ended");
  changed_.notify();
}

// False for a text that is not an event.
bool LiveClient::take_event(const std::string& text, Clock::time_point now) try {
  const nlohmann::json event = nlohmann::json::parse(text);
  const std::string type = event.value("type", "");
  if (type == server::frame_type::ready) {
    result_.ready_ms = milliseconds(now - started_);
  } else if (type == server::frame_type::error) {
    ++result_.errors[event.value("code", "")];
  } else if (type == server::frame_type::interrupted) {
    interrupted_ = std::chrono::microseconds(event.value("pts_us", std::int64_t{0}));
    interrupted_at_ = now;
  } else if (type == "quality") {
    ++result_.rate_changes;
    fps_ = rate_in(event).value_or(fps_);
  }
  return true;
} catch (const nlohmann::json::exception&) {
  return false;
}

void LiveClient::take_media(const std::string& bytes, Clock::time_point now) {
  if (bytes.size() < k_header) return;
  const auto kind = static_cast<server::MediaKind>(bytes[0]);
  const auto flags = static_cast<std::uint8_t>(bytes[1]);
  const std::chrono::microseconds time(member_at<std::int64_t>(bytes, 8));
  if (options_.stamped) {
    if (const auto delay = since_stamp_ms(bytes, k_header, now); delay && recording_)
      result_.delays_ms.push_back(*delay);
  }
  if (kind == server::MediaKind::video) {
    take_picture(bytes, flags, time, now);
  } else if (kind == server::MediaKind::pcm) {
    take_sound(bytes, (flags & server::media_flag::discontinuity) != 0, time, now);
  }
}

void LiveClient::take_picture(const std::string& bytes, std::uint8_t flags,
                              std::chrono::microseconds time, Clock::time_point now) {
  std::vector<ReceivedPicture>& pictures = result_.recording.pictures;
  const bool speaks = (flags & server::media_flag::speaks) != 0;
  if (!result_.first_picture_ms) result_.first_picture_ms = milliseconds(now - started_);
  if (interrupted_ && !still_at_ && time >= *interrupted_ && !speaks) still_at_ = now;
  if (!recording_) return;
  pictures.push_back({.bytes = static_cast<std::uint32_t>(bytes.size() - k_header),
                      .fps = fps_,
                      .key = (flags & server::media_flag::key) != 0,
                      .speaks = speaks,
                      .time = time,
                      .at = now});
}

void LiveClient::take_sound(const std::string& bytes, bool discontinuity,
                            std::chrono::microseconds time, Clock::time_point now) {
  last_sound_at_ = now;
  const auto samples = static_cast<std::uint32_t>((bytes.size() - k_header) / sizeof(std::int16_t));
  result_.sound_bytes += bytes.size() - k_header;
  if (options_.stamped) {
    returned_.pass(samples);
  } else {
    std::vector<std::int16_t> returned(samples);
    std::memcpy(returned.data(), bytes.data() + k_header, returned.size() * sizeof(std::int16_t));
    returned_.take(returned);
  }
  if (!recording_) return;
  result_.altered = returned_.altered();
  result_.shortened = returned_.left_out();
  result_.recording.sounds.push_back({returned_.first(), samples, discontinuity, time, now});
}

}  // namespace navtalk::cmd
