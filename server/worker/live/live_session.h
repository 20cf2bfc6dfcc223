// The media of one session on a worker: sound in, pictures and the same sound out, paced by the
// session's clock. Of the I/O thread; what the nets and the encoder do runs on their own.
//
//   pace(), every 40 ms: playout ── sound ──────────────────────────► client
//                           └ picture ── work loop: face ── queue ─┐
//   encode():                                                      └─ encoder thread ──► client
//   speak(): text ── another of these threads: synthesiser ── playout
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "server/http/blocking_threads.h"
#include "server/http/signal.h"
#include "server/http/socket/web_socket.h"
#include "server/worker/live/live_avatar.h"
#include "server/worker/live/playout.h"
#include "server/worker/work_loop.h"

namespace navtalk::server {

// What the live sessions of one worker add up to, for /metrics.
struct LiveCounters {
  std::uint64_t pictures = 0;                   // sent
  std::uint64_t generated = 0;                  // of them, with lips from the nets
  std::uint64_t skipped = 0;                    // not made, because their time was over
  std::uint64_t dropped = 0;                    // not sent, because the client did not read
  std::uint64_t overflows = 0;                  // messages of sound that found no room
  double face_seconds = 0, encode_seconds = 0;  // spent on them
};

class LiveSession {
 public:
  struct Threads {
    WorkLoop& loop;
    BlockingThreads& encoders;
  };
  // Runs on `executor`, the socket's.
  LiveSession(const boost::asio::any_io_executor& executor, WebSocket& socket, Threads threads,
              std::shared_ptr<LiveAvatar> avatar, int rate_hz, LiveCounters& counters);
  struct Text {
    std::string text{}, voice{};  // voice "": the avatar's
  };
  LiveSession(const LiveSession&) = delete;
  LiveSession& operator=(const LiveSession&) = delete;

  // The session's clock starts now.
  void start();
  // Input is played in the order in which it came. The client is told of what cannot be taken.
  void hear(const std::string& pcm);  // PCM16LE at the session's rate
  void say(Text text);
  void end_input();
  void interrupt();
  void want_key_frame() { key_wanted_ = true; }
  // Ends both coroutines; finished() waits for them.
  void stop();
  boost::asio::awaitable<void> finished();

 private:
  struct Made {
    LivePicture picture{};
    std::optional<NdArray<std::uint8_t>> face{};
    bool speaks = false;
  };

  // The end of an utterance.
  struct End {};
  using Input = std::variant<std::vector<std::int16_t>, Text, End>;

  boost::asio::awaitable<void> pace();
  boost::asio::awaitable<void> speak();
  boost::asio::awaitable<void> say_next();
  void take(Input input);
  void play(Input input);
  void refuse_input();
  boost::asio::awaitable<void> encode();
  boost::asio::awaitable<void> make(const PlayedSlot& slot);
  void tell(const PlayedSlot& slot);
  void send(const Made& made, const EncodedPicture& encoded);
  void ended(const std::exception_ptr& problem);

  const boost::asio::any_io_executor executor_;
  WebSocket& socket_;
  const Threads threads_;
  const std::shared_ptr<LiveAvatar> avatar_;
  LiveCounters& counters_;
  Playout playout_;
  Signal tick_, made_some_, text_came_, over_;
  std::deque<Input> inputs_{};      // behind a text that is not spoken yet, which stands first
  std::size_t samples_behind_ = 0;  // in inputs_
  std::uint64_t interruptions_ = 0;
  std::deque<Made> made_{};
  std::uint32_t sounds_ = 0, pictures_ = 0;  // sequence numbers
  int running_ = 0;
  bool stopped_ = false, key_wanted_ = true;
  bool picture_lost_ = false, sound_lost_ = false;
};

}  // namespace navtalk::server
