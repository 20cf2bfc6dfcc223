#include "server/gateway/session/video_gate.h"

namespace navtalk::server {

VideoGate::Verdict VideoGate::next(bool key, Duration unsent) {
  const bool slow = unsent >= slow_;
  if (open_ && !slow) return {.pass = true};
  if (open_) {
    close(true);
    return {.drop_queued = true, .ask_key = true};
  }
  if (key && !slow) {
    open_ = true;
    return {.pass = true, .discontinuity = true};
  }
  // One that came too early is lost; another is asked for when it is of use.
  if (key) asked_ = false;
  if (asked_ || slow) return {};
  asked_ = true;
  return {.ask_key = true};
}

void VideoGate::close(bool asked) {
  open_ = false;
  asked_ = asked;
}

}  // namespace navtalk::server
