// A fake of Runpod's REST API v2 on loopback, with pods of its own and every misbehaviour that is
// on record. Used in a test's process, or as the program fake_runpod. Thread-safe.
//
//   http://127.0.0.1:PORT/v2/...       the API: pods, actions, catalog
//   http://127.0.0.1:PORT/_fake/...    the script: faults, life, full, calm (none of these any
//                                      more), pods, advance, requests, page_size, add
//   http://127.0.0.1:ID                a pod's proxy, when pods have workers: the pod's id is the
//                                      port, so proxy_url is "http://127.0.0.1:{pod}"
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/fakes/loopback_server.h"
#include "tests/fakes/runpod/runpod_fault.h"
#include "tests/fakes/runpod/runpod_pod.h"

namespace navtalk::tests {

struct RunpodServerOptions {
  std::string key = "not-a-key";
  enum class Workers { none, fake, command } workers = Workers::none;
  // command: run once per pod; it prints {"listen":"127.0.0.1:PORT"} or {"url":...} on its first
  // line. The pod's env is added to its environment.
  std::vector<std::string> command{};
  double usd_per_hour = 0.5;
  int port = 0;
};

class RunpodServer {
 public:
  explicit RunpodServer(RunpodServerOptions options = {});
  ~RunpodServer();

  std::string api_url() const;    // http://127.0.0.1:PORT/v2
  std::string proxy_url() const;  // a pattern with {pod}

  void fault(RunpodFault fault);  // faults are used up in the order in which they came
  void fault(const std::string& call, const std::string& name, int times = 1);
  void life(const PodLife& life);  // of pods that are created from now on
  // "GPU TYPE|CLOUD|DATA CENTRE", each part may be "*": creates there answer 400 from now on.
  void full(std::set<std::string> places);
  void page_size(int pods);                         // 0: no pages, and no "pagination"
  void rate_header(const std::string& rate_limit);  // on every answer
  // Pods that exist without having been created through the API.
  std::string add_pod(const std::string& name);
  void advance(FakeTime time);
  FakeTime now() const;

  // Everything that was ever created, removed ones included.
  std::vector<FakePod> pods() const;
  std::vector<FakePod> live_pods() const;
  // Changes a pod: its life from now on.
  void change(const std::string& id, const PodLife& life);
  // The process that a pod runs; 0: none.
  int process(const std::string& id) const;
  // Requests of the API, with the calls' names: "create", "list"...
  std::vector<std::pair<std::string, ReceivedRequest>> requests() const;
  int count(const std::string& call) const;
  // One JSON object a line: method, path, request, status, answer, scripted. For validation.
  void write_exchanges(const std::filesystem::path& file) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace navtalk::tests
