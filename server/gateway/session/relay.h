// Frames between a client and its worker, both ways, as they come. The client may be away for a while,
// and the worker be replaced by another one. Media are not decoded: the gateway reads their headers.
//
//   client ──poll──► InputQueue ──send──► worker      its own words (session.end) are the Client's
//   client ◄──send── from_worker ◄─receive── worker   pictures pass a VideoGate, sound always passes
//
// A client that does not read holds up nothing but its own frames, which wait in its socket: VideoGate
// drops pictures, and after `slow_client` the connection is cut. While the client is away, the worker is
// told to pause, and nothing waits.
//
// Of the I/O thread. After start() it must live until finished().
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>

#include "server/gateway/session/client.h"
#include "server/gateway/session/input_queue.h"
#include "server/gateway/session/session_counters.h"
#include "server/gateway/session/session_options.h"
#include "server/gateway/session/stream_tracker.h"
#include "server/gateway/session/video_gate.h"
#include "server/http/signal.h"
#include "server/http/socket/token_bucket.h"
#include "server/http/socket/web_socket.h"

namespace navtalk::server {

class Relay {
 public:
  struct Parts {
    boost::asio::any_io_executor executor;
    SessionCounters& counters;
    Signal& changed;  // notified when something ended
    const SessionOptions& options;
    std::function<Frame(std::chrono::milliseconds notice)> draining;  // the frame for the client
    std::function<void()> undrained;  // the worker goes on after all
  };
  Relay(Client& client, Parts parts);
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  void start();
  // Forwards to and from this worker. `continues`: the session has had another one.
  void use(std::unique_ptr<WebSocket> worker, bool continues);
  // It is lost: what it has not said yet is of no interest.
  void drop_worker();
  bool has_worker() const { return worker_ != nullptr; }
  // Its connection is over.
  bool worker_over() const { return worker_over_; }
  // How it said goodbye, its last error for the client included; nullopt: it did not, or says that it
  // failed.
  struct Farewell {
    CloseCode code = CloseCode::normal;
    std::optional<Frame> error{};
  };
  std::optional<Farewell> farewell() const;
  // To be called every `worker_silence` / k_ticks. Cuts a client that has not read for too long. True: a
  // worker that had sent pictures has sent nothing for that time, although it could.
  static constexpr int k_ticks = 5;
  bool tick();
  // The client is away: the worker pauses.
  void note_away();
  // It is there again, on another connection: the worker goes on with a key frame.
  void note_return();
  const StreamTracker& stream() const { return stream_; }
  // When the first picture was given to the client's connection; nullopt: none was.
  std::optional<Signal::Clock::time_point> first_picture_at() const { return first_picture_at_; }
  // Ends both directions.
  void close();
  boost::asio::awaitable<void> finished();

 private:
  boost::asio::awaitable<void> from_client();
  boost::asio::awaitable<void> from_worker(std::shared_ptr<WebSocket> worker);
  boost::asio::awaitable<void> forward(Frame frame);
  boost::asio::awaitable<void> forward_text(Frame frame);
  // What the client has no room for holds up the worker, which is not the worker's silence.
  boost::asio::awaitable<void> send(std::shared_ptr<ClientConnection> client, Frame frame);
  // False: the picture is dropped.
  bool admit_picture(Frame& frame, const MediaHeader& header, WebSocket& client);
  // Into `input_`, without waiting; false: nothing has come.
  bool read_next();
  // What has come, while the first frame of `input_` waits. Forgets all of it where the client is gone.
  void read_ahead();
  // Until the first frame of `input_` may be sent.
  Signal::Clock::duration pause_before_next();
  Frame take_next();
  // False for a frame that is not for the worker; the client is told so.
  bool is_for_worker(const Frame& frame);
  bool tell_worker(std::string_view type);
  void direction_ended(const std::exception_ptr& problem);

  Client& client_;
  const Parts parts_;
  TokenBucket control_frames_;
  VideoGate gate_;
  StreamTracker stream_;
  std::shared_ptr<WebSocket> worker_{};
  std::optional<Signal::Clock::time_point> first_picture_at_{};
  std::optional<Frame> quality_{};     // the last one of this worker
  std::optional<Frame> last_words_{};  // of the worker, when it ends the session
  InputQueue input_{};                 // of the client, for this worker
  Signal from_client_wakes_;
  bool worker_over_ = false, closed_ = false, paused_ = false;
  bool sound_gap_ = false;      // the next sound does not follow the last one that the client got
  bool had_pictures_ = false;   // of this worker
  bool heard_ = false;          // since the last tick
  bool told_limit_ = false;     // that the tenant's clients send more than they may
  bool told_dropped_ = false;   // that sound was dropped for it, since nothing waited
  bool told_overflow_ = false;  // that control frames were dropped, since one last went on
  int quiet_ticks_ = 0;
  int held_up_ = 0;  // coroutines that wait for a client that does not read
  int running_ = 0;  // coroutines
};

}  // namespace navtalk::server
