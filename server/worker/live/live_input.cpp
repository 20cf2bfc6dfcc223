#include "server/worker/live/live_input.h"

#include <algorithm>
#include <exception>
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
constexpr std::chrono::seconds k_most_behind{120};
constexpr std::string_view k_overflow = "overflow",
                           k_much_waits = "120 s of sound wait already: this input is dropped",
                           k_many_wait = "10000 inputs wait already: this input is dropped",
                           k_long_text =
                               "a text has more than 600 s of speech: the rest of it is dropped";
constexpr TokenBucket::Rate k_told_dropped{.burst = 10, .per_second = 1};
// How long a sound becomes that waits. Where what comes next has no room, more room is awaited than it needs: sound that came as
// fast as it is played would look like that of a clock (ClockDrift).
constexpr std::chrono::seconds k_part{10}, k_enough_room{30}, k_longest_text{600};
constexpr std::chrono::milliseconds k_look_again{100};

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

// Not `failed`, with which a worker ends a session.
std::string_view code_of_not_spoken(Code code) {
  return code == Code::not_found || code == Code::invalid ? name(code) : "not_spoken";
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
      executor_(executor),
      text_came_(std::make_shared<Signal>(executor)),
      told_dropped_(k_told_dropped, TokenBucket::Clock::now()) {}

void LiveInput::hear(const std::string& pcm) {
  if (pcm.size() % sizeof(std::int16_t) != 0) {
    tell_dropped("usage", "a binary frame is a whole number of 16-bit samples");
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
  if (making_) making_->stop();
  text_came_->notify();
  playout_.interrupt();
}

void LiveInput::stop() {
  stopped_ = true;
  if (making_) making_->stop();
  text_came_->notify();
}

// Behind a text everything waits until it is played.
void LiveInput::take(Input input) {
  const bool is_text = std::holds_alternative<SpokenText>(input);
  if (inputs_.empty() && !is_text) return play(std::move(input));
  if (const auto* sound = std::get_if<Sound>(&input)) {
    if (samples_behind_ + sound->size() > samples_in(k_most_behind))
      return refuse(true, k_much_waits);
    if (joined(*sound)) return;
  }
  if (inputs_.size() >= k_most_inputs)
    return refuse(std::holds_alternative<Sound>(input), k_many_wait);
  if (const auto* sound = std::get_if<Sound>(&input)) samples_behind_ += sound->size();
  inputs_.push_back(std::move(input));
  text_came_->notify();
}

// The sound at the front may have been looked at.
bool LiveInput::joined(const Sound& sound) {
  auto* last = inputs_.size() > 1 ? std::get_if<Sound>(&inputs_.back()) : nullptr;
  if (last == nullptr || last->size() + sound.size() > samples_in(k_part)) return false;
  last->insert(last->end(), sound.begin(), sound.end());
  samples_behind_ += sound.size();
  return true;
}

std::size_t LiveInput::samples_in(std::chrono::seconds time) const {
  return static_cast<std::size_t>(time.count() * playout_.rate_hz());
}

void LiveInput::play(Input input) {
  if (const auto* sound = std::get_if<Sound>(&input)) {
    if (!playout_.hear(*sound, Playout::Clock::now())) refuse(true, k_much_waits);
  } else {
    playout_.end_input();
  }
}

void LiveInput::refuse(bool binary, std::string_view why) {
  ++counters_.overflows;
  if (binary) return tell_dropped(k_overflow, why);
  socket_.offer(error_frame(k_overflow, why));
}

void LiveInput::tell_dropped(std::string_view code, std::string_view message) {
  const auto now = TokenBucket::Clock::now();
  if (told_dropped_.available(now) == 0) return;
  told_dropped_.take(1, now);
  socket_.offer(error_frame(code, message));
}

asio::awaitable<void> LiveInput::run() {
  while (!stopped_) {
    if (inputs_.empty()) {
      co_await text_came_->wait();
    } else if (std::holds_alternative<SpokenText>(inputs_.front())) {
      co_await begin_text();
    } else if (std::holds_alternative<Speech>(inputs_.front())) {
      co_await play_speech();
    } else {
      co_await play_next();
    }
  }
  while (making_ && !making_->look().made) co_await text_came_->wait();
}

asio::awaitable<void> LiveInput::play_next() {
  const auto* sound = std::get_if<Sound>(&inputs_.front());
  const std::size_t own = sound != nullptr ? sound->size() : 0;
  const bool room = co_await has_room(own);
  if (!room) co_return;
  Input next = std::move(inputs_.front());
  inputs_.pop_front();
  samples_behind_ -= own;
  play(std::move(next));
}

asio::awaitable<bool> LiveInput::has_room(std::size_t samples) {
  if (samples <= playout_.room()) co_return true;
  const std::uint64_t before = interruptions_;
  const std::size_t enough = std::max(samples, samples_in(k_enough_room));
  while (playout_.room() < enough) {
    co_await text_came_->wait(Signal::Clock::now() + k_look_again);
    if (stopped_ || before != interruptions_) co_return false;  // it is gone from the front
  }
  co_return true;
}

asio::awaitable<void> LiveInput::begin_text() {
  if (making_ && !making_->look().made) {
    co_await text_came_->wait();
    co_return;
  }
  // The thread owns no timer of the loop.
  auto wake = [executor = executor_, signal = std::weak_ptr<Signal>(text_came_)] {
    asio::post(executor, [signal] {
      if (const auto there = signal.lock()) there->notify();
    });
  };
  making_ = std::make_shared<SpeechParts>(samples_in(k_longest_text), std::move(wake));
  auto work = [avatar = avatar_, text = std::get<SpokenText>(std::move(inputs_.front())),
               rate = playout_.rate_hz(), speech = making_] {
    const std::stop_token stop = speech->stop_token();
    const auto take = [&](Sound part) { return speech->add(std::move(part)); };
    std::exception_ptr problem;
    try {
      // It may have waited for others.
      if (!stop.stop_requested()) avatar->speak(text.text, text.voice, rate, take, stop);
    } catch (...) {
      problem = std::current_exception();
    }
    speech->finish(std::move(problem));
  };
  threads_.post(std::move(work));
  inputs_.front() = making_;
}

// It stays at the front until all of it is played, so that what comes meanwhile stays behind it.
asio::awaitable<void> LiveInput::play_speech() {
  const Speech speech = std::get<Speech>(inputs_.front());
  const SpeechParts::View found = speech->look();
  if (found.too_long) refuse(false, k_long_text);
  if (found.next > 0) {
    if (co_await has_room(found.next)) playout_.hear(speech->take(), Playout::Clock::now());
  } else if (!found.made) {
    co_await text_came_->wait();
  } else {
    inputs_.pop_front();
    if (found.problem) tell_unspoken(found.problem);
    playout_.end_input();
  }
}

void LiveInput::tell_unspoken(const std::exception_ptr& problem) {
  try {
    std::rethrow_exception(problem);
  } catch (const Error& error) {
    log::warn("a text was not spoken", {{"error", error.message()}});
    socket_.offer(error_frame(code_of_not_spoken(error.code()), why_not_spoken(error.code())));
  } catch (const std::exception& error) {  // no thread or no memory: the session goes on
    log::warn("a text was not spoken", {{"error", error.what()}});
    socket_.offer(error_frame(code_of_not_spoken(Code::failed), why_not_spoken(Code::failed)));
  }
}

}  // namespace navtalk::server
