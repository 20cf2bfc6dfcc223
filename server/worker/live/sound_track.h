// The sound of one live session on its way to the client: PCM as it came in, at once; or Opus, coded on an encoder's
// thread. Of the I/O thread.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "server/http/blocking_threads.h"
#include "server/http/signal.h"
#include "server/http/socket/web_socket.h"
#include "server/worker/live/live_avatar.h"
#include "server/worker/live/playout.h"

namespace navtalk::server {

class SoundTrack {
 public:
  struct Options {
    int rate_hz = 16000;  // of what is played
    bool opus = false;
    std::uint32_t sequence = 0;  // of the first frame
  };
  SoundTrack(const boost::asio::any_io_executor& executor, WebSocket& socket,
             BlockingThreads& encoders, std::shared_ptr<LiveAvatar> avatar, Options options);
  SoundTrack(const SoundTrack&) = delete;
  SoundTrack& operator=(const SoundTrack&) = delete;

  // Each slot in its order, also one without sound.
  void play(const PlayedSlot& slot);
  // Forgets what is not coded yet.
  void interrupt();
  // Codes and sends sound until stop(). Throws what the encoder threw.
  boost::asio::awaitable<void> run();
  void stop();

 private:
  // What the encoder is given at once: sound, the end of it, or both.
  struct Part {
    std::vector<std::int16_t> samples{};
    std::chrono::microseconds time{};  // of the first sample
    bool speaks = false, begins = false, ends = false;
  };

  void send_pcm(const PlayedSlot& slot);
  void send(std::string_view content, std::chrono::microseconds time, bool speaks, bool begins);

  WebSocket& socket_;
  BlockingThreads& encoders_;
  const std::shared_ptr<LiveAvatar> avatar_;
  const Options options_;
  Signal some_came_;
  std::deque<Part> parts_{};                // for Opus
  std::chrono::microseconds sound_time_{};  // where the sound that is coded began
  std::uint32_t sequence_;
  bool begins_ = false;  // a sound of which no packet is sent
  bool playing_ = false, lost_ = false, stopped_ = false;
};

}  // namespace navtalk::server
