#include "server/worker/live/live_input.h"

#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/log/log.h"
#include "server/protocol/control_frame.h"
#include "server/protocol/media_frame.h"

namespace navtalk::server {
namespace asio = boost::asio;

namespace {

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

}  // namespace

LiveInput::LiveInput(const asio::any_io_executor& executor, WebSocket& socket,
                     BlockingThreads& threads, std::shared_ptr<LiveAvatar> avatar, Playout& playout,
                     LiveCounters& counters)
    : socket_(socket),
      threads_(threads),
      avatar_(std::move(avatar)),
      playout_(playout),
      counters_(counters),
      text_came_(executor) {}

void LiveInput::hear(const std::string& pcm) {
  if (pcm.size() % sizeof(std::int16_t) != 0) {
    socket_.offer(error_frame("usage", "a binary frame is a whole number of 16-bit samples"));
  } else {
    take(samples_of(pcm));
  }
}

void LiveInput::say(SpokenText text) { take(std::move(text)); }

void LiveInput::end_input() { take(End{}); }

void LiveInput::interrupt() {
  inputs_.clear();
  samples_behind_ = 0;
  ++interruptions_;
  playout_.interrupt();
}

void LiveInput::stop() {
  stopped_ = true;
  text_came_.notify();
}

// Behind a text everything waits until it is spoken.
void LiveInput::take(Input input) {
  const bool is_text = std::holds_alternative<SpokenText>(input);
  if (inputs_.empty() && !is_text) return play(std::move(input));
  const auto* samples = std::get_if<std::vector<std::int16_t>>(&input);
  const std::size_t more = samples != nullptr ? samples->size() : 0;
  if (inputs_.size() >= k_most_inputs || samples_behind_ + more > k_most_samples_behind) {
    return refuse();
  }
  samples_behind_ += more;
  inputs_.push_back(std::move(input));
  text_came_.notify();
}

void LiveInput::play(Input input) {
  if (const auto* samples = std::get_if<std::vector<std::int16_t>>(&input)) {
    if (!playout_.hear(*samples, Playout::Clock::now())) refuse();
  } else {
    playout_.end_input();
  }
}

void LiveInput::refuse() {
  ++counters_.overflows;
  socket_.offer(error_frame("overflow", "120 s of sound wait already: this input is dropped"));
}

asio::awaitable<void> LiveInput::run() {
  while (!stopped_) {
    if (inputs_.empty()) {
      co_await text_came_.wait();
    } else if (std::holds_alternative<SpokenText>(inputs_.front())) {
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
asio::awaitable<void> LiveInput::say_next() {
  const std::uint64_t before = interruptions_;
  std::vector<std::int16_t> sound;
  std::optional<Frame> refusal;
  try {
    auto work = [avatar = avatar_, text = std::get<SpokenText>(inputs_.front()),
                 rate = playout_.rate_hz()] { return avatar->speak(text.text, text.voice, rate); };
    sound = co_await threads_.run(std::move(work));
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

}  // namespace navtalk::server
