// The process that renders a worker's jobs, `navtalk job render`: what strangers have sent is decoded there,
// and it can be ended at any moment. It keeps its model between jobs; where the worker draws its faces,
// that is the part that hears. Of the I/O thread.
#pragma once

#include <sys/types.h>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gpu/device/memory_budget.h"
#include "server/http/blocking_threads.h"
#include "server/worker/job/face_channel.h"

namespace navtalk::server {

// The engine that draws a process' faces, and the number of its requests.
struct FaceService {
  InferenceEngine& engine;
  FaceModel model{};
  std::uint64_t job = 0;
};

class RendererProcess {
 public:
  // `command`: the program and its arguments, behind which stands where it asks for faces, if the worker draws them. It gets
  // no secrets of the worker's environment. Error{failed} when it cannot be started. `reapers`, which outlive it, wait for
  // its end.
  RendererProcess(const boost::asio::any_io_executor& executor, BlockingThreads& reapers,
                  std::vector<std::string> command, std::optional<FaceService> faces = {});
  // Ends it at once, and what it runs. A process with much memory takes a while to end, and is waited for on `reapers`.
  ~RendererProcess();
  RendererProcess(const RendererProcess&) = delete;
  RendererProcess& operator=(const RendererProcess&) = delete;

  // One line of standard input. Does not wait for a process that reads slowly; what it never reads is dropped with it.
  void order(const std::string& line);
  // The next line of its output; false: none has come.
  bool poll(std::string& line);
  // There is nothing more to come.
  bool ended() const { return state_->ended && state_->lines.empty(); }
  // The worker draws its faces.
  bool shares_nets() const { return faces_ && !faces_->refused(); }
  // What is reserved for it of the device, until it has ended or gives it back.
  void hold(MemoryReservation device) { device_ = std::move(device); }
  MemoryReservation give_back() { return std::exchange(device_, MemoryReservation()); }
  bool holds_memory() const { return device_.bytes() > 0; }
  // In memory now; 0 when it has ended.
  std::uint64_t resident() const;
  // Ends it at once, and what it runs; `why` is what its user is told.
  void end(std::string why);
  // Why it was ended; empty: it was not.
  const std::string& why_ended() const { return why_ended_; }
  // Called for each line, and at the end, until the next call.
  void on_activity(std::function<void()> callback) { state_->callback = std::move(callback); }

 private:
  struct State {
    using Socket = boost::asio::local::stream_protocol::socket;
    State(boost::asio::posix::stream_descriptor from, Socket to)
        : output(std::move(from)), input(std::move(to)) {}
    boost::asio::posix::stream_descriptor output;
    Socket input;
    std::string unsent{}, sending{};  // orders
    std::string buffer{};             // of lines that are not whole
    std::deque<std::string> lines{};
    std::function<void()> callback{};
    bool ended = false;
  };
  static void read(const std::shared_ptr<State>& state);
  static void write(const std::shared_ptr<State>& state);

  std::shared_ptr<State> state_;
  BlockingThreads& reapers_;
  std::unique_ptr<FaceChannel> faces_{};
  MemoryReservation device_{};
  pid_t child_ = 0;
  std::string why_ended_{};
};

}  // namespace navtalk::server
