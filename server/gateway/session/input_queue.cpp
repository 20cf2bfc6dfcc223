#include "server/gateway/session/input_queue.h"

#include <string>
#include <utility>

#include "server/protocol/control_frame.h"

namespace navtalk::server {

bool InputQueue::push(Frame frame) {
  if (!frame.text) {
    if (sounds_ >= k_most_sounds || sound_bytes_ + frame.bytes.size() > k_most_sound_bytes)
      return false;
    count(frame, true);
    frames_.push_back({.frame = std::move(frame), .input = true});
    return true;
  }
  const std::string type = type_of(frame.bytes);
  if (type == frame_type::interrupt) {
    forget_input();
    if (!empty() && interrupts()) return true;
    count(frame, true);
    frames_.push_front({.frame = std::move(frame), .interrupts = true});
    return true;
  }
  count(frame, true);
  frames_.push_back({.frame = std::move(frame),
                     .input = type == frame_type::input_text || type == frame_type::input_end});
  return true;
}

Frame InputQueue::pop() {
  Frame frame = std::move(frames_.front().frame);
  frames_.pop_front();
  count(frame, false);
  return frame;
}

void InputQueue::clear() { *this = InputQueue(); }

void InputQueue::forget_input() {
  std::erase_if(frames_, [this](const Waiting& waiting) {
    if (waiting.input) count(waiting.frame, false);
    return waiting.input;
  });
}

void InputQueue::count(const Frame& frame, bool more) {
  std::size_t& frames = frame.text ? texts_ : sounds_;
  std::size_t& bytes = frame.text ? text_bytes_ : sound_bytes_;
  frames = more ? frames + 1 : frames - 1;
  bytes = more ? bytes + frame.bytes.size() : bytes - frame.bytes.size();
}

}  // namespace navtalk::server
