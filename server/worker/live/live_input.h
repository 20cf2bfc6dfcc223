// What a client says to a live session, in the order in which it came: sound, texts, ends of utterances. A text is spoken
// by the synthesiser first; what comes meanwhile waits behind it. Of the I/O thread.
//
//   sound, end ──────────────────────────────────► Playout
//   text ── another thread: synthesiser ── sound ──►
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "server/http/blocking_threads.h"
#include "server/http/signal.h"
#include "server/http/socket/web_socket.h"
#include "server/worker/live/live_avatar.h"
#include "server/worker/live/live_counters.h"
#include "server/worker/live/playout.h"

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

  // The client is told of what cannot be taken.
  void hear(const std::string& pcm);  // PCM16LE at the session's rate
  void say(SpokenText text);
  void end_input();
  void interrupt();
  // Speaks texts until stop().
  boost::asio::awaitable<void> run();
  void stop();

 private:
  // The end of an utterance.
  struct End {};
  using Input = std::variant<std::vector<std::int16_t>, SpokenText, End>;

  boost::asio::awaitable<void> say_next();
  void take(Input input);
  void play(Input input);
  void refuse();

  WebSocket& socket_;
  BlockingThreads& threads_;
  const std::shared_ptr<LiveAvatar> avatar_;
  Playout& playout_;
  LiveCounters& counters_;
  Signal text_came_;
  std::deque<Input> inputs_{};      // behind a text that is not spoken yet, which stands first
  std::size_t samples_behind_ = 0;  // in inputs_
  std::uint64_t interruptions_ = 0;
  bool stopped_ = false;
};

}  // namespace navtalk::server
