// What a client says to a live session, in the order in which it came: sound, texts, ends of utterances. A text is spoken
// by the synthesiser first, and played while the rest of it is being made; what comes meanwhile waits behind it, and the
// sound of a long text for room. Of the I/O thread.
//
//   sound, end ────────────────────────────────────────────► Playout
//   text ── another thread: synthesiser ── SpeechParts ──────►
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "server/http/blocking_threads.h"
#include "server/http/signal.h"
#include "server/http/socket/token_bucket.h"
#include "server/http/socket/web_socket.h"
#include "server/worker/live/live_avatar.h"
#include "server/worker/live/live_counters.h"
#include "server/worker/live/playout.h"
#include "server/worker/live/speech_parts.h"

namespace navtalk::server {

struct SpokenText {
  std::string text{}, voice{};  // voice "": the avatar's
};

class LiveInput {
 public:
  LiveInput(const boost::asio::any_io_executor& executor, WebSocket& socket,
            BlockingThreads& threads, std::shared_ptr<LiveAvatar> avatar, Playout& playout,
            LiveCounters& counters);
  LiveInput(const LiveInput&) = delete;
  LiveInput& operator=(const LiveInput&) = delete;

  // The client is told of what cannot be taken; of sound, ten times, and then once a second.
  void hear(const std::string& pcm);  // PCM16LE at the session's rate
  void say(SpokenText text);
  void end_input();
  void interrupt();
  // Speaks texts until stop().
  boost::asio::awaitable<void> run();
  void stop();

 private:
  using Sound = std::vector<std::int16_t>;
  // A text that is being spoken.
  using Speech = std::shared_ptr<SpeechParts>;
  // The end of an utterance.
  struct End {};
  using Input = std::variant<Sound, SpokenText, Speech, End>;

  void take(Input input);
  // With the sound that came last and waits behind something. False: there is none, or it is long enough.
  bool joined(const Sound& sound);
  std::size_t samples_in(std::chrono::seconds time) const;  // at the session's rate
  void play(Input input);
  boost::asio::awaitable<void> play_next();
  // Has the text at the front spoken, once the one before it is made or given up.
  boost::asio::awaitable<void> begin_text();
  boost::asio::awaitable<void> play_speech();
  void tell_unspoken(const std::exception_ptr& problem);
  // Until so many samples have room, or the input was interrupted or stopped: false then.
  boost::asio::awaitable<bool> has_room(std::size_t samples);
  // For want of room.
  void refuse(bool binary, std::string_view why);
  // That a binary frame was dropped. A client may send many.
  void tell_dropped(std::string_view code, std::string_view message);

  WebSocket& socket_;
  BlockingThreads& threads_;
  const std::shared_ptr<LiveAvatar> avatar_;
  Playout& playout_;
  LiveCounters& counters_;
  const boost::asio::any_io_executor executor_;
  std::shared_ptr<Signal> text_came_;
  std::deque<Input> inputs_{};      // behind a text that is not played yet, which stands first
  std::size_t samples_behind_ = 0;  // of Sound in inputs_
  Speech making_{};                 // the text that was begun last
  TokenBucket told_dropped_;
  std::uint64_t interruptions_ = 0;
  bool stopped_ = false;
};

}  // namespace navtalk::server
