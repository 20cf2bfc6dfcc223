#include "scheduler/simulator/jobs/live_users.h"

#include <algorithm>

namespace navtalk {

TimePoint LiveUsers::next() const {
  TimePoint next = TimePoint::max();
  if (arrived_ < sessions_.size()) next = arrival(arrived_);
  return ends_.empty() ? next : std::min(next, ends_.top());
}

int LiveUsers::leave(TimePoint now) {
  int slots = 0;
  for (; !ends_.empty() && ends_.top() <= now; ++slots) ends_.pop();
  return slots;
}

void LiveUsers::arrive(TimePoint now) {
  while (arrived_ < sessions_.size() && arrival(arrived_) <= now) ++arrived_;
}

int LiveUsers::serve(int free, TimePoint now) {
  int taken = 0;
  for (; taken < free && served_ < arrived_; ++taken, ++served_) {
    waits_[served_] = now - arrival(served_);
    ends_.push(now + sessions_[served_].duration);
  }
  return taken;
}

}  // namespace navtalk
