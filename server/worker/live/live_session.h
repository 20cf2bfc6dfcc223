// The media of one session on a worker: sound in, pictures and the same sound out, paced by the session's clock. Of the
// I/O thread; what the nets and the encoders do runs on their own.
//
//   client ──► LiveInput ──► Playout, Lips ── pace(), a slot after the other ──┬── SoundTrack ──► client
//                                                                              └── PictureTrack ──► client
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>

#include "server/http/signal.h"
#include "server/http/socket/web_socket.h"
#include "server/worker/live/lips.h"
#include "server/worker/live/live_avatar.h"
#include "server/worker/live/live_counters.h"
#include "server/worker/live/live_input.h"
#include "server/worker/live/picture_track.h"
#include "server/worker/live/playout.h"
#include "server/worker/live/sound_track.h"

namespace navtalk::server {

class LiveSession {
 public:
  struct Options {
    std::uint64_t number = 0;  // unique in the process
    int rate_hz = 16000;       // of the sound in both directions
    bool opus = false;         // what goes out, at 48 kHz
    // Where the session stands, at a worker that goes on with it: its clock, and the next sequence numbers.
    std::chrono::microseconds clock{};
    std::uint32_t sounds = 0, pictures = 0;
  };
  // Runs on `executor`, the socket's.
  LiveSession(const boost::asio::any_io_executor& executor, WebSocket& socket, LiveThreads threads,
              std::shared_ptr<LiveAvatar> avatar, Options options, LiveCounters& counters);
  LiveSession(const LiveSession&) = delete;
  LiveSession& operator=(const LiveSession&) = delete;

  // The session's clock starts now.
  void start();
  // Input is played in the order in which it came. The client is told of what cannot be taken.
  void hear(const std::string& pcm) { input_.hear(pcm); }  // PCM16LE at the session's rate
  void say(SpokenText text) { input_.say(std::move(text)); }
  void end_input() { input_.end_input(); }
  void interrupt();
  // As LiveAvatar::play(). The client is told when an action begins and ends.
  bool play(const std::string& clip) { return avatar_->play(clip); }
  void want_key_frame() { pictures_.want_key_frame(); }
  // The client is away: nothing is played, what waits is kept, and no pictures are made.
  void pause(bool paused);
  // Ends all coroutines; finished() waits for them.
  void stop();
  boost::asio::awaitable<void> finished();

 private:
  boost::asio::awaitable<void> pace();
  void tell(const PlayedSlot& slot);
  void tell_action(std::chrono::microseconds time);
  void ended(const std::exception_ptr& problem);

  const boost::asio::any_io_executor executor_;
  WebSocket& socket_;
  LiveCounters& counters_;
  const std::shared_ptr<LiveAvatar> avatar_;
  const std::chrono::microseconds clock_;  // at the start
  Playout playout_;
  Lips lips_;
  LiveInput input_;
  SoundTrack sounds_;
  PictureTrack pictures_;
  Signal tick_, over_;
  int running_ = 0;
  bool stopped_ = false, paused_ = false;
  std::optional<std::string> action_{};  // that the client knows of
};

}  // namespace navtalk::server
