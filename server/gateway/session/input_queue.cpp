#include "server/gateway/session/input_queue.h"

#include <utility>

#include "server/protocol/control_frame.h"

namespace navtalk::server {

InputQueue::Kind InputQueue::kind_of(const Frame& frame) {
  if (!frame.text) return Kind::sound;
  const std::string type = type_of(frame.bytes);
  if (type == frame_type::interrupt) return Kind::interrupt;
  if (type == frame_type::input_text) return Kind::input_text;
  if (type == frame_type::input_end) return Kind::input_end;
  if (type == frame_type::keyframe) return Kind::keyframe;
  return type == frame_type::action ? Kind::action : Kind::other;
}

bool InputQueue::waits_already(const Frame& frame, Kind kind) const {
  switch (kind) {
    case Kind::interrupt:
      return !empty() && interrupts();
    case Kind::keyframe:
      return keyframe_waits_;
    case Kind::action:
      return actions_ > 0 && last_action_ == frame.bytes;
    case Kind::input_end:
      return !empty() && frames_.back().kind == Kind::input_end;
    default:
      return false;
  }
}

InputQueue::Verdict InputQueue::push(Frame frame) {
  const Kind kind = kind_of(frame);
  if (kind == Kind::interrupt) forget_input();
  if (waits_already(frame, kind)) return Verdict::kept;
  const std::size_t bytes = frame.bytes.size();
  if (kind == Kind::sound) {
    if (sounds_ >= k_most_sounds || sound_bytes_ + bytes > k_most_sound_bytes)
      return Verdict::sound_refused;
  } else if (kind != Kind::interrupt) {
    if (texts_ >= k_most_texts || text_bytes_ + bytes > k_most_text_bytes)
      return Verdict::text_refused;
  }
  count(frame, true);
  if (kind == Kind::keyframe) keyframe_waits_ = true;
  if (kind == Kind::action) {
    ++actions_;
    last_action_ = frame.bytes;
  }
  if (kind == Kind::interrupt) {
    frames_.push_front({.frame = std::move(frame), .kind = kind});
  } else {
    frames_.push_back({.frame = std::move(frame), .kind = kind});
  }
  return Verdict::kept;
}

Frame InputQueue::pop() {
  Waiting first = std::move(frames_.front());
  frames_.pop_front();
  note_gone(first);
  return std::move(first.frame);
}

void InputQueue::clear() { *this = InputQueue(); }

void InputQueue::forget_input() {
  std::erase_if(frames_, [this](const Waiting& waiting) {
    const bool input = waiting.kind == Kind::sound || waiting.kind == Kind::input_text ||
                       waiting.kind == Kind::input_end;
    if (input) note_gone(waiting);
    return input;
  });
}

void InputQueue::note_gone(const Waiting& gone) {
  count(gone.frame, false);
  if (gone.kind == Kind::keyframe) keyframe_waits_ = false;
  if (gone.kind == Kind::action) --actions_;
}

void InputQueue::count(const Frame& frame, bool more) {
  std::size_t& frames = frame.text ? texts_ : sounds_;
  std::size_t& bytes = frame.text ? text_bytes_ : sound_bytes_;
  frames = more ? frames + 1 : frames - 1;
  bytes = more ? bytes + frame.bytes.size() : bytes - frame.bytes.size();
}

}  // namespace navtalk::server
