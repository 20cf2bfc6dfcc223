// What answers behind a fake pod's proxy: a FakeWorker, or a process that the pod runs, or nothing
// (502, as the proxy answers when nobody listens). One port for as long as it lives.
#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include "tests/fakes/child_process.h"
#include "tests/fakes/fake_worker.h"
#include "tests/fakes/loopback_server.h"

namespace navtalk::tests {

class PodWorker {
 public:
  // `serves` says whether the pod's worker would answer now.
  explicit PodWorker(std::function<bool()> serves);

  int port() const { return server_.port(); }
  FakeWorker& fake() { return fake_; }
  // From now on a process answers; nullptr: nothing does.
  void run(std::shared_ptr<ChildProcess> process);
  std::shared_ptr<ChildProcess> process() const;

 private:
  void handle(Connection& client, const ReceivedRequest& request);

  std::function<bool()> serves_;
  FakeWorker fake_{};
  mutable std::mutex mutex_{};
  bool process_wanted_ = false;
  std::shared_ptr<ChildProcess> process_{};
  LoopbackServer server_;
};

}  // namespace navtalk::tests
