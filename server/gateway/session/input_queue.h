// What a client has sent and may not send yet: frames in their order, which wait for the client's rates. An `interrupt` overtakes
// them, and has forgotten already what it would forget at the worker. What changes nothing where it stands in the queue is not kept
// twice. Bounded: the queue refuses sound and control frames that have no room. Not thread-safe.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>

#include "server/http/socket/frame.h"

namespace navtalk::server {

class InputQueue {
 public:
  // 120 s, which a worker keeps as well, in frames of 20 ms and at 16 kHz.
  static constexpr std::size_t k_most_sounds = 6'000, k_most_sound_bytes = 4 << 20;
  // As many inputs as a worker keeps behind a text.
  static constexpr std::size_t k_most_texts = 10'000, k_most_text_bytes = 1 << 20;

  // A refused frame is dropped. An `interrupt` is never refused.
  enum class Verdict { kept, sound_refused, text_refused };
  // At most one `interrupt` and one `keyframe` wait; an `action` that equals the last one that waits is the same one, and so is an
  // `input.end` behind another.
  Verdict push(Frame frame);
  bool empty() const { return frames_.empty(); }
  // Not of an empty queue.
  const Frame& front() const { return frames_.front().frame; }
  bool interrupts() const { return frames_.front().kind == Kind::interrupt; }  // the first one
  Frame pop();
  void clear();

 private:
  enum class Kind { sound, input_text, input_end, interrupt, keyframe, action, other };
  struct Waiting {
    Frame frame{};
    Kind kind = Kind::other;
  };
  static Kind kind_of(const Frame& frame);
  bool waits_already(const Frame& frame, Kind kind) const;
  void forget_input();
  void note_gone(const Waiting& gone);
  void count(const Frame& frame, bool more);

  std::deque<Waiting> frames_{};
  std::size_t sounds_ = 0, sound_bytes_ = 0, texts_ = 0, text_bytes_ = 0;
  std::size_t actions_ = 0;
  std::string last_action_{};  // of those that wait
  bool keyframe_waits_ = false;
};

}  // namespace navtalk::server
