#include "tests/fakes/runpod/runpod_server.h"

#include <algorithm>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <thread>

#include "tests/fakes/runpod/runpod_state.h"

namespace navtalk::tests {

using nlohmann::json;

struct RunpodServer::State : RunpodState {
  using RunpodState::RunpodState;

  std::jthread keeper{};  // starts and ends the pods' processes
  std::unique_ptr<LoopbackServer> server{};
};

RunpodServer::RunpodServer(RunpodServerOptions options)
    : state_(std::make_unique<State>(std::move(options))) {
  State* const state = state_.get();
  state->server = std::make_unique<LoopbackServer>(
      [state](Connection& client, const ReceivedRequest& request) {
        state->handle(client, request);
      },
      LoopbackServer::Greeter{}, state->options.port);
  state->api_url = api_url();
  state->keeper = std::jthread([state](const std::stop_token& stop) { state->keep(stop); });
}

RunpodServer::~RunpodServer() {
  state_->keeper.request_stop();
  state_->keeper.join();
  state_->server.reset();
}

std::string RunpodServer::api_url() const { return state_->server->url("/v2"); }

std::string RunpodServer::proxy_url() const { return "http://127.0.0.1:{pod}"; }

void RunpodServer::fault(RunpodFault fault) {
  const std::lock_guard lock(state_->mutex);
  state_->faults.push_back(std::move(fault));
}

void RunpodServer::fault(const std::string& call, const std::string& name, int times) {
  RunpodFault wanted = fault_named(name, call);
  wanted.times = times;
  fault(std::move(wanted));
}

void RunpodServer::life(const PodLife& life) {
  const std::lock_guard lock(state_->mutex);
  state_->life = life;
}

void RunpodServer::full(std::set<std::string> places) {
  const std::lock_guard lock(state_->mutex);
  state_->full = std::move(places);
}

void RunpodServer::page_size(int pods) {
  const std::lock_guard lock(state_->mutex);
  state_->page_size = pods;
}

void RunpodServer::rate_header(const std::string& rate_limit) {
  const std::lock_guard lock(state_->mutex);
  state_->rate_header = rate_limit;
}

std::string RunpodServer::add_pod(const std::string& name) {
  const std::lock_guard lock(state_->mutex);
  return state_
      ->make({{"name", name}, {"image", "image"}, {"gpu", {{"id", "RTX 4090"}, {"count", 1}}}})
      .id;
}

void RunpodServer::advance(FakeTime time) {
  const std::lock_guard lock(state_->mutex);
  state_->advanced += time;
}

FakeTime RunpodServer::now() const {
  const std::lock_guard lock(state_->mutex);
  return state_->now();
}

int RunpodServer::process(const std::string& id) const {
  const std::lock_guard lock(state_->mutex);
  const auto worker = state_->workers.find(id);
  const auto process = worker == state_->workers.end() ? nullptr : worker->second->process();
  return process ? process->pid() : 0;
}

std::vector<FakePod> RunpodServer::pods() const {
  const std::lock_guard lock(state_->mutex);
  return state_->pods;
}

std::vector<FakePod> RunpodServer::live_pods() const {
  std::vector<FakePod> live = pods();
  std::erase_if(live, [](const FakePod& pod) { return pod.removed.has_value(); });
  return live;
}

void RunpodServer::change(const std::string& id, const PodLife& life) {
  const std::lock_guard lock(state_->mutex);
  if (FakePod* const pod = state_->find(id)) pod->life = life;
}

std::vector<std::pair<std::string, ReceivedRequest>> RunpodServer::requests() const {
  const std::lock_guard lock(state_->mutex);
  return state_->requests;
}

int RunpodServer::count(const std::string& call) const {
  const auto all = requests();
  return static_cast<int>(
      std::count_if(all.begin(), all.end(), [&](const auto& one) { return one.first == call; }));
}

void RunpodServer::write_exchanges(const std::filesystem::path& file) const {
  const std::lock_guard lock(state_->mutex);
  std::ofstream out(file);
  for (const json& exchange : state_->exchanges) out << exchange.dump() << "\n";
}

}  // namespace navtalk::tests
