// A worker without nets and pictures, to measure a gateway alone: it takes sessions by the worker
// protocol and sends frames of the size and at the rate of real ones. Each begins with a stamp
// (stamp.h), behind its header. It runs on a thread of its own; its methods are for one other.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace navtalk::cmd {

class StandInWorker {
 public:
  // Listens at once, on loopback. Error{failed} when that cannot be had.
  explicit StandInWorker(int slots);
  ~StandInWorker();
  StandInWorker(const StandInWorker&) = delete;
  StandInWorker& operator=(const StandInWorker&) = delete;

  // "http://127.0.0.1:40123"
  std::string url() const;
  // Milliseconds from the stamp of each message of a client until it was here, since the last call.
  std::vector<float> take_delays_ms();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace navtalk::cmd
