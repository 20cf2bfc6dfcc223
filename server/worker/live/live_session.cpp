#include "server/worker/live/live_session.h"

#include <boost/asio/co_spawn.hpp>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/log/log.h"
#include "server/http/run_on.h"
#include "server/protocol/control_frame.h"
#include "server/worker/live/media_frame.h"

namespace navtalk::server {
namespace asio = boost::asio;
using Clock = Playout::Clock;
using Json = nlohmann::ordered_json;
using namespace std::chrono_literals;

namespace {

// A picture that would be made later than this after its time is not made: the next one is due.
constexpr auto k_too_late = 80ms;
// Faces that wait for the encoder: more would be late anyway.
constexpr std::size_t k_most_made = 3;

// What waits behind a text that is being spoken.
constexpr std::size_t k_most_inputs = 10'000;
constexpr std::size_t k_most_samples_behind = std::size_t{120} * 48'000;

// Without what this machine says about itself.
std::string_view why_not_spoken(Code code) {
  switch (code) {
    case Code::not_found:
      return "this worker has no synthesiser, or none with that voice";
    case Code::invalid:
      return "the text has nothing to speak";
    default:
      return "this worker could not speak the text";
  }
}

std::chrono::microseconds time_of(std::int64_t slot) { return slot * Playout::k_slot; }

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace

LiveSession::LiveSession(const asio::any_io_executor& executor, WebSocket& socket, Threads threads,
                         std::shared_ptr<LiveAvatar> avatar, int rate_hz, LiveCounters& counters)
    : executor_(executor),
      socket_(socket),
      threads_(threads),
      avatar_(std::move(avatar)),
      counters_(counters),
      playout_(rate_hz),
      tick_(executor),
      made_some_(executor),
      text_came_(executor),
      over_(executor) {}

void LiveSession::start() {
  const auto over = [this](const std::exception_ptr& problem) { ended(problem); };
  running_ = 3;
  asio::co_spawn(executor_, pace(), over);
  asio::co_spawn(executor_, encode(), over);
  asio::co_spawn(executor_, speak(), over);
}

// A failure of the nets or the encoder ends the session: another worker may do better.
void LiveSession::ended(const std::exception_ptr& problem) {
  --running_;
  if (problem) {
    try {
      std::rethrow_exception(problem);
    } catch (const std::exception& error) {
      log::error("a live session failed", {{"error", error.what()}});
    }
    socket_.offer(error_frame("failed", "this worker cannot go on with the session"));
    socket_.close(CloseCode::failed, "the session failed");
  }
  stop();
  over_.notify();
}

void LiveSession::stop() {
  stopped_ = true;
  tick_.notify();
  made_some_.notify();
  text_came_.notify();
}

asio::awaitable<void> LiveSession::finished() {
  while (running_ > 0) co_await over_.wait();
}

void LiveSession::hear(const std::string& pcm) {
  if (pcm.size() % sizeof(std::int16_t) != 0) {
    socket_.offer(error_frame("usage", "a binary frame is a whole number of 16-bit samples"));
  } else {
    take(samples_of(pcm));
  }
}

void LiveSession::say(Text text) { take(std::move(text)); }

void LiveSession::end_input() { take(End{}); }

void LiveSession::interrupt() {
  inputs_.clear();
  samples_behind_ = 0;
  ++interruptions_;
  playout_.interrupt();
}

// Behind a text everything waits until it is spoken.
void LiveSession::take(Input input) {
  const bool is_text = std::holds_alternative<Text>(input);
  if (inputs_.empty() && !is_text) return play(std::move(input));
  const auto* samples = std::get_if<std::vector<std::int16_t>>(&input);
  const std::size_t more = samples != nullptr ? samples->size() : 0;
  if (inputs_.size() >= k_most_inputs || samples_behind_ + more > k_most_samples_behind) {
    return refuse_input();
  }
  samples_behind_ += more;
  inputs_.push_back(std::move(input));
  text_came_.notify();
}

void LiveSession::play(Input input) {
  if (const auto* samples = std::get_if<std::vector<std::int16_t>>(&input)) {
    if (!playout_.hear(*samples, Clock::now())) refuse_input();
  } else {
    playout_.end_input();
  }
}

void LiveSession::refuse_input() {
  ++counters_.overflows;
  socket_.offer(error_frame("overflow", "120 s of sound wait already: this input is dropped"));
}

asio::awaitable<void> LiveSession::speak() {
  while (!stopped_) {
    if (inputs_.empty()) {
      co_await text_came_.wait();
    } else if (std::holds_alternative<Text>(inputs_.front())) {
      co_await say_next();
    } else {
      Input next = std::move(inputs_.front());
      inputs_.pop_front();
      if (const auto* samples = std::get_if<std::vector<std::int16_t>>(&next)) {
        samples_behind_ -= samples->size();
      }
      play(std::move(next));
    }
  }
}

// The text at the front stays there while it is spoken, so that what comes meanwhile stays behind it.
asio::awaitable<void> LiveSession::say_next() {
  const std::uint64_t before = interruptions_;
  std::vector<std::int16_t> sound;
  std::optional<Frame> refusal;
  try {
    auto work = [avatar = avatar_, text = std::get<Text>(inputs_.front()),
                 rate = playout_.rate_hz()] { return avatar->speak(text.text, text.voice, rate); };
    sound = co_await threads_.encoders.run(std::move(work));
  } catch (const Error& error) {
    log::warn("a text was not spoken", {{"error", error.message()}});
    refusal = error_frame(name(error.code()), why_not_spoken(error.code()));
  }
  if (refusal) socket_.offer(std::move(*refusal));
  if (before != interruptions_) co_return;  // it is gone from the front
  inputs_.pop_front();
  if (!sound.empty()) play(std::move(sound));
  play(End{});
}

asio::awaitable<void> LiveSession::pace() {
  const Clock::time_point begin = Clock::now();
  while (!stopped_) {
    const PlayedSlot slot = playout_.next(Clock::now());
    const Clock::time_point due = begin + time_of(slot.number);
    tell(slot);
    if (Clock::now() - due > k_too_late) {
      ++counters_.skipped;
    } else {
      co_await make(slot);
    }
    const Clock::time_point next = due + Playout::k_slot;
    while (!stopped_ && Clock::now() < next) co_await tick_.wait(next);
  }
}

// Events and sound of a slot.
void LiveSession::tell(const PlayedSlot& slot) {
  const std::chrono::microseconds time = time_of(slot.number);
  const auto event = [&](std::string_view type) {
    socket_.offer(control_frame(Json{{"type", type}, {"pts_us", time.count()}}));
  };
  if (slot.interrupted) event(frame_type::interrupted);
  if (slot.speech_starts) event(frame_type::speech_started);
  if (slot.speech_ends) event(frame_type::speech_ended);
  if (slot.sound.empty()) return;
  MediaHeader header{.kind = MediaKind::pcm, .sequence = sounds_++, .time = time};
  if (slot.speaks) header.flags |= media_flag::speaks;
  if (slot.discontinuity || sound_lost_) header.flags |= media_flag::discontinuity;
  sound_lost_ = !socket_.offer(media_frame(header, bytes_of(slot.sound)));
}

asio::awaitable<void> LiveSession::make(const PlayedSlot& slot) {
  if (made_.size() >= k_most_made) {
    ++counters_.skipped;
    co_return;
  }
  Made made{.picture = {.number = slot.number, .lips = slot.lips}, .speaks = slot.speaks};
  if (slot.lips > 0) {
    LivePicture heard = made.picture;
    playout_.put_sound(heard);
    const Clock::time_point begin = Clock::now();
    auto infer = [avatar = avatar_, heard = std::move(heard)] { return avatar->face(heard); };
    made.face = co_await run_on(threads_.loop.executor(), std::move(infer));
    counters_.face_seconds += seconds_since(begin);
    ++counters_.generated;
  }
  made_.push_back(std::move(made));
  made_some_.notify();
}

asio::awaitable<void> LiveSession::encode() {
  for (;;) {
    while (!stopped_ && made_.empty()) co_await made_some_.wait();
    if (stopped_) co_return;
    Made made = std::move(made_.front());
    made_.pop_front();
    made.picture.key = std::exchange(key_wanted_, false);
    const Clock::time_point begin = Clock::now();
    const auto shared = std::make_shared<const Made>(std::move(made));
    auto work = [avatar = avatar_, shared] {
      return avatar->encode(shared->picture, shared->face);
    };
    const EncodedPicture encoded = co_await threads_.encoders.run(std::move(work));
    counters_.encode_seconds += seconds_since(begin);
    send(*shared, encoded);
  }
}

// A picture that the client has no room for spoils those that follow, up to the next key frame.
void LiveSession::send(const Made& made, const EncodedPicture& encoded) {
  MediaHeader header{
      .kind = MediaKind::video, .sequence = pictures_++, .time = time_of(made.picture.number)};
  if (encoded.key) header.flags |= media_flag::key;
  if (made.speaks) header.flags |= media_flag::speaks;
  if (picture_lost_) header.flags |= media_flag::discontinuity;
  if ((picture_lost_ && !encoded.key) || !socket_.offer(media_frame(header, encoded.bytes))) {
    ++counters_.dropped;
    picture_lost_ = key_wanted_ = true;
    return;
  }
  ++counters_.pictures;
  picture_lost_ = false;
}

}  // namespace navtalk::server
