// The sound of one text on its way from the thread that makes it to the I/O thread, part by part. Safe from both.
//
//   synthesiser ── add() ... finish() ──► parts ──► look(), take() ── I/O thread
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <stop_token>
#include <utility>
#include <vector>

#include "core/base/guarded.h"

namespace navtalk::server {

class SpeechParts {
 public:
  using Sound = std::vector<std::int16_t>;
  // What the I/O thread finds.
  struct View {
    std::size_t next = 0;          // samples of the part that comes next; 0: none is there
    bool made = false;             // no part comes any more
    bool too_long = false;         // what is beyond `most` is missing; said once
    std::exception_ptr problem{};  // that ended it
  };

  // At most `most` samples are kept in all. `wake` is called, on the thread that makes it, for each part and at the end.
  SpeechParts(std::size_t most, std::function<void()> wake) : most_(most), wake_(std::move(wake)) {}
  SpeechParts(const SpeechParts&) = delete;
  SpeechParts& operator=(const SpeechParts&) = delete;

  // Of the thread that makes it. False: no more is wanted.
  bool add(Sound part) {
    const bool fits = part.size() <= most_ - added_;
    if (!fits) part.resize(most_ - added_);
    added_ += part.size();
    shared_.with([&](Shared& shared) {
      if (stop_.stop_requested()) return;
      if (!part.empty()) shared.parts.push_back(std::move(part));
      shared.too_long = !fits;
    });
    wake_();
    return fits && !stop_.stop_requested();
  }
  void finish(std::exception_ptr problem) {
    shared_.with([&](Shared& shared) {
      shared.problem = std::move(problem);
      shared.made = true;
      wake_();  // before the I/O thread can see it and end
    });
  }
  std::stop_token stop_token() const { return stop_.get_token(); }

  // Of the I/O thread.
  View look() {
    return shared_.with([](Shared& shared) {
      return View{.next = shared.parts.empty() ? 0 : shared.parts.front().size(),
                  .made = shared.made,
                  .too_long = std::exchange(shared.too_long, false),
                  .problem = shared.problem};
    });
  }
  // Where one is there.
  Sound take() {
    return shared_.with([](Shared& shared) {
      Sound part = std::move(shared.parts.front());
      shared.parts.pop_front();
      return part;
    });
  }
  // Nobody wants it any more.
  void stop() {
    stop_.request_stop();
    shared_.with([](Shared& shared) { shared.parts.clear(); });
  }

 private:
  struct Shared {
    std::deque<Sound> parts{};
    bool made = false, too_long = false;
    std::exception_ptr problem{};
  };
  const std::size_t most_;
  const std::function<void()> wake_;
  std::size_t added_ = 0;
  Guarded<Shared> shared_{};
  std::stop_source stop_{};
};

}  // namespace navtalk::server
