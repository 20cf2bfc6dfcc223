// One user of `bench serve`: a WebSocket to a gateway, sound sent at the pace of a microphone, and a
// recording of what comes back. Of one I/O thread. Its calls come one after the other; a coroutine of
// its own reads. After open() it must live until closed().
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cmd/bench/serve/recording.h"
#include "cmd/bench/serve/returned_sound.h"
#include "cmd/bench/serve/speech.h"
#include "server/http/signal.h"
#include "server/http/socket/web_socket.h"

namespace navtalk::cmd {

struct ClientOptions {
  server::WebSocket::Address address{};
  std::string avatar{};  // "": the worker's first one
  int width = 0;         // of the video; 0: the avatar's own
  std::chrono::milliseconds message{20};
  // Media of a stand-in worker: each frame begins with the time of its sending (stamp.h), and the sound
  // is not the client's.
  bool stamped = false;
};

struct InterruptTimes {
  double told_ms = 0;     // until `interrupted`
  double silence_ms = 0;  // until the last sound, or `interrupted`, whichever came later
  double still_ms = 0;    // until the first picture of its time, or later, that does not speak
};

// What a session came to.
struct ClientResult {
  Recording recording{};
  std::optional<double> ready_ms{}, first_picture_ms{};  // after session.start was sent
  std::uint64_t altered = 0, shortened = 0;              // samples, as ReturnedSound counts them
  std::uint64_t sound_bytes = 0;                         // received
  std::uint64_t messages = 0;                            // both ways
  double measured_s = 0;                // for which messages and stamped frames were counted
  int rate_changes = 0;                 // frames `quality`
  std::map<std::string, int> errors{};  // by code
  std::string problem{};                // why it is over before its time; "": it is not
  std::vector<InterruptTimes> interrupts{};
  std::vector<float> delays_ms{};  // of stamped frames
};

class LiveClient {
 public:
  // `speech` outlives it; it is sent again and again.
  LiveClient(const boost::asio::any_io_executor& executor, const ClientOptions& options,
             const Speech& speech);
  LiveClient(const LiveClient&) = delete;
  LiveClient& operator=(const LiveClient&) = delete;

  // Connects, starts a session, and waits for its first picture, at most so long. False: see the
  // result's problem.
  boost::asio::awaitable<bool> open(std::chrono::seconds within);
  // Forgets what stamped frames and messages were counted before.
  void begin_measuring();
  // Sends sound for that time; false: the session ended meanwhile.
  boost::asio::awaitable<bool> play(std::chrono::duration<double> time);
  // The utterance is over: waits until its sound and pictures have come, at most so long. The recording
  // ends.
  boost::asio::awaitable<void> finish_playing(std::chrono::seconds within);
  // Two seconds of sound at once, and an interrupt in the middle of its playing. False: the worker did
  // not do it within some seconds.
  boost::asio::awaitable<bool> interrupt();
  // Ends the session and waits until the connection is over.
  boost::asio::awaitable<void> closed();

  ClientResult& result() { return result_; }
  bool over() const { return over_; }

 private:
  using Clock = std::chrono::steady_clock;
  template <class Holds>
  boost::asio::awaitable<bool> wait_until(Holds holds, Clock::time_point deadline);
  boost::asio::awaitable<void> read();
  boost::asio::awaitable<bool> send_sound(std::size_t samples);
  boost::asio::awaitable<bool> send_text(std::string text);
  bool take_event(const std::string& text, Clock::time_point now);
  void take_media(const std::string& bytes, Clock::time_point now);
  void take_sound(const std::string& bytes, bool discontinuity, std::chrono::microseconds time,
                  Clock::time_point now);
  void take_picture(const std::string& bytes, std::uint8_t flags, std::chrono::microseconds time,
                    Clock::time_point now);
  void fail(std::string problem);

  const boost::asio::any_io_executor executor_;
  const ClientOptions options_;
  const Speech& speech_;
  ClientResult result_{};
  std::unique_ptr<server::WebSocket> socket_{};
  server::Signal changed_;
  bool over_ = true, ready_ = false, recording_ = true, ending_ = false;
  FrameRate fps_ = 25;
  std::uint64_t sent_ = 0;  // samples
  ReturnedSound returned_;
  Clock::time_point started_{}, measuring_since_{};
  // Of the interrupt under way, and what came last.
  std::optional<std::chrono::microseconds> interrupted_{};
  Clock::time_point interrupted_at_{}, last_sound_at_{};
  std::optional<Clock::time_point> still_at_{};
};

}  // namespace navtalk::cmd
