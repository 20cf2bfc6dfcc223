// What a client has sent and may not send yet: frames in their order, which wait for the client's rates. An `interrupt` overtakes
// them, and has forgotten already what it would forget at the worker. Bounded: sound beyond the bound is dropped, and of
// control frames no more is to be read then. Not thread-safe.
#pragma once

#include <cstddef>
#include <deque>

#include "server/http/socket/frame.h"

namespace navtalk::server {

class InputQueue {
 public:
  // 120 s, which a worker keeps as well, in frames of 20 ms and at 16 kHz.
  static constexpr std::size_t k_most_sounds = 6'000, k_most_sound_bytes = 4 << 20;
  static constexpr std::size_t k_most_texts = 100, k_most_text_bytes = 1 << 20;

  // False: it is sound, and dropped. One `interrupt` waits at most.
  bool push(Frame frame);
  // Of control frames.
  bool full() const { return texts_ >= k_most_texts || text_bytes_ >= k_most_text_bytes; }
  bool empty() const { return frames_.empty(); }
  // Not of an empty queue.
  const Frame& front() const { return frames_.front().frame; }
  bool interrupts() const { return frames_.front().interrupts; }  // the first one
  Frame pop();
  void clear();

 private:
  struct Waiting {
    Frame frame{};
    bool input = false;  // that an interrupt forgets
    bool interrupts = false;
  };
  void forget_input();
  void count(const Frame& frame, bool more);

  std::deque<Waiting> frames_{};
  std::size_t sounds_ = 0, sound_bytes_ = 0, texts_ = 0, text_bytes_ = 0;
};

}  // namespace navtalk::server
