// The fake Runpod's pods and answers. Private to this folder.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "tests/fakes/runpod/pod_worker.h"
#include "tests/fakes/runpod/runpod_server.h"

namespace navtalk::tests {

struct FakeAnswer {
  int status = 200;
  std::string body{};
  std::string type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers{};
};

// Members below `mutex` are reached under it.
struct RunpodState {
  explicit RunpodState(RunpodServerOptions given);

  const RunpodServerOptions options;
  std::string api_url{};  // set before the first request

  mutable std::mutex mutex{};
  std::chrono::steady_clock::time_point born = std::chrono::steady_clock::now();
  FakeTime advanced{0};
  std::vector<FakePod> pods{};
  std::map<std::string, std::shared_ptr<PodWorker>> workers{};  // by pod id
  std::vector<RunpodFault> faults{};
  PodLife life{};
  std::set<std::string> full{};
  int page_size = 0;
  std::string rate_header = "\"minute\";r=1000;t=30, \"hour\";r=100000;t=1800";
  std::vector<std::pair<std::string, ReceivedRequest>> requests{};
  std::vector<nlohmann::json> exchanges{};
  int serial = 0;

  FakeTime now() const;
  FakePod* find(const std::string& id);  // nullptr: never was
  FakePod& make(const nlohmann::json& order);
  std::optional<RunpodFault> take_fault(const std::string& call);

  // Not under the mutex.
  void handle(Connection& client, const ReceivedRequest& request);
  void keep(const std::stop_token& stop);

 private:
  // "create", "list", "get", "delete", "start", "stop", "restart", "terminate", "catalog", "bill",
  // else "".
  std::string call_of(const ReceivedRequest& request) const;
  FakeAnswer act(const std::string& call, const ReceivedRequest& request);
  FakeAnswer create(const nlohmann::json& order);
  FakeAnswer list(const ReceivedRequest& request);
  FakeAnswer on_pod(const std::string& call, FakePod& pod);
  FakeAnswer start(FakePod& pod);
  FakeAnswer bill() const;
  FakeAnswer catalog(const ReceivedRequest& request) const;
  FakeAnswer script(const ReceivedRequest& request);
  nlohmann::json script_pods() const;
  bool is_full(const nlohmann::json& order) const;
  void attach_worker(FakePod& pod);
  std::map<std::string, std::string> environment_of(const FakePod& pod) const;
  void note(const std::string& call, const ReceivedRequest& request, const FakeAnswer& answer,
            bool scripted);
  void reply(Connection& client, const FakeAnswer& answer);
  bool lies() const;
  std::condition_variable_any keeper_woken_{};
};

}  // namespace navtalk::tests
