// Which pictures a client gets that reads too slowly, or that has just come back: H.264 is of use from
// a key frame on only. Pure; one session's.
//
//   open ── the client has read nothing for `slow` ──► closed: the queued pictures go, a key frame is asked for
//     ▲                                                  │
//     └── a key frame, and the client reads again ◄──────┘
#pragma once

#include <chrono>

namespace navtalk::server {

class VideoGate {
 public:
  using Duration = std::chrono::steady_clock::duration;
  struct Verdict {
    bool pass = false;
    bool discontinuity = false;  // pass: pictures before it are missing
    bool drop_queued = false;    // and what waits for the client too
    bool ask_key = false;

    friend bool operator==(const Verdict&, const Verdict&) = default;
  };

  explicit VideoGate(Duration slow) : slow_(slow) {}

  // Of the next picture. `unsent`: how long the client's oldest frame waits.
  Verdict next(bool key, Duration unsent);
  // The next picture that passes is a key frame. `asked`: the worker makes one.
  void close(bool asked);
  void note_not_asked() { asked_ = false; }

 private:
  const Duration slow_;
  bool open_ = true;
  bool asked_ = false;  // closed: a key frame is under way
};

}  // namespace navtalk::server
