// The pictures of one live session on their way from a slot to the client. Of the I/O thread; the nets, the putting
// together and the coding run elsewhere.
//
//   show() ── lips ── inference engine ──► a queue in the order of the slots ──► encoder's thread ──► client
//      └─ none ────────────────────────────►┘
//
// A picture whose time is over before the nets or the encoder had room is left out.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>

#include "gpu/engine/inference_engine.h"
#include "server/http/blocking_threads.h"
#include "server/http/signal.h"
#include "server/http/socket/web_socket.h"
#include "server/worker/live/live_avatar.h"
#include "server/worker/live/live_counters.h"
#include "server/worker/live/playout.h"
#include "server/worker/live/rate_control.h"

namespace navtalk::server {

// Where a session's work is done.
struct LiveThreads {
  InferenceEngine& inference;
  BlockingThreads& encoders;
  BlockingThreads& speakers;  // of texts: what these wait for holds up no picture
};

class PictureTrack {
 public:
  using Clock = Playout::Clock;

  struct Options {
    std::uint64_t session = 0;   // unique in the process
    std::uint32_t sequence = 0;  // of the first picture
  };
  PictureTrack(const boost::asio::any_io_executor& executor, WebSocket& socket, LiveThreads threads,
               std::shared_ptr<LiveAvatar> avatar, Options options, LiveCounters& counters);
  ~PictureTrack();
  PictureTrack(const PictureTrack&) = delete;
  PictureTrack& operator=(const PictureTrack&) = delete;

  // The picture of a slot that began at `due`, of that frame of the clips. `sound` is what its lips hear, where they are
  // seen.
  void show(const PlayedSlot& slot, const ClipFrame& frame, SoundWindow sound,
            Clock::time_point due);
  void want_key_frame() { key_wanted_ = true; }
  // Pictures with lips that are not made yet are left out.
  void interrupt();
  // Codes and sends pictures until stop(). Throws what the nets or the encoder threw.
  boost::asio::awaitable<void> run();
  void stop();

  // The length of the next slot.
  std::chrono::microseconds slot() const { return rate_.slot(); }
  // Of the picture that was sent last.
  std::chrono::microseconds shown() const { return shown_; }

 private:
  enum class Stage { asked, made, left_out };
  struct Picture {
    std::chrono::microseconds time{};
    Clock::time_point due{};
    bool speaks = false, lips = false;
    std::chrono::microseconds working{};  // of the nets
    Stage stage = Stage::asked;
    FinishPicture finish{};
  };
  using Answer = InferenceEngine::Answer;

  void ask(const std::shared_ptr<Picture>& picture, const PlayedSlot& slot, const ClipFrame& frame,
           SoundWindow sound);
  void answered(Picture& picture, Answer& answer);
  boost::asio::awaitable<void> encode(std::shared_ptr<Picture> picture);
  void send(const Picture& picture, const EncodedPicture& encoded);
  void note(std::optional<PictureDelay> delay);
  void leave_out();

  const boost::asio::any_io_executor executor_;
  WebSocket& socket_;
  const LiveThreads threads_;
  const std::shared_ptr<LiveAvatar> avatar_;
  const std::uint64_t session_;
  LiveCounters& counters_;
  RateControl rate_;
  Signal some_made_;
  std::deque<std::shared_ptr<Picture>> pictures_{};
  std::exception_ptr problem_{};
  std::uint32_t sequence_;
  std::chrono::microseconds shown_{};
  bool stopped_ = false, key_wanted_ = true;
  bool lost_;  // the last one, or those of another worker
  // What answers of the engine look at before they touch this object.
  const std::shared_ptr<PictureTrack*> self_ = std::make_shared<PictureTrack*>(this);
};

}  // namespace navtalk::server
