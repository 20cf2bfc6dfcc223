#include "tests/server/gateway/gateway_pool.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>

#include "scheduler/store/sql_pool_store.h"

namespace navtalk::tests {

using namespace std::chrono_literals;

Script::Script(const char* json) { ::setenv("NAVTALK_FAKE_WORKER", json, 1); }

Script::~Script() { ::unsetenv("NAVTALK_FAKE_WORKER"); }

GatewayPool::GatewayPool(AllocatorOptions allocation, server::GatewayOptions gateway,
                         const std::optional<NewKey>& first_key) {
  const auto backend = StoreBackend::open(store_url());
  store_ = std::make_unique<SqlPoolStore>(backend);
  keys_.emplace(backend);
  identity_ = pool_identity(*store_, "navtalk", "test");
  gateways_store_.emplace(*store_);
  supply_.emplace(*gateways_store_, SupplyOptions{.identity = identity_, .who = "test"});
  demand_tracker_.emplace(*store_);
  allocation.gateway = "test";
  allocation.host = "here";
  allocator_.emplace(*gateways_store_, *supply_, *demand_tracker_, allocation);
  gateway.listen = "127.0.0.1:0";
  gateway.session.worker_tokens = WorkerTokens("secret");
  gateway.identity = identity_;
  gateway.access.keys = &*keys_;
  if (gateway.jobs) {
    gateway.jobs->backend = backend;
    if (gateway.jobs->folder.empty()) gateway.jobs->folder = folder_ / "jobs";
    gateway.jobs->supply = &*supply_;
    gateway.jobs->demand_tracker = &*demand_tracker_;
  }
  gateway.access.rules.operator_key = k_operator_key;
  if (first_key) text_of_first_key_ = keys_->create(*first_key).text;
  gateway_ = std::make_unique<server::Gateway>(*gateways_store_, *allocator_, gateway);
  running_ = std::async(std::launch::async, [this] { gateway_->run(stop_.get_token()); });
}

GatewayPool::~GatewayPool() {
  set_claims(AwayStore::Answers::come);
  stop();
  running_.wait();
  gateway_.reset();
  for (const Gpu& gpu : started_) {
    stop_worker(gpu, false);
    provider_.destroy(gpu, {});
  }
}

Gpu GatewayPool::add_worker(int slots) {
  Gpu gpu = row();
  gpu.slots = slots;
  return start(gpu);
}

Gpu GatewayPool::add_worker_of(const TenantId& tenant) {
  Gpu gpu = row();
  gpu.dedicated_to = tenant;
  return start(gpu);
}

Gpu GatewayPool::start(Gpu gpu) {
  const Outcome outcome = provider_.create(gpu, {});
  const Instance instance = *std::get<Done>(outcome).instance;
  gpu.url = instance.url;
  gpu.provider_id = instance.provider_id;
  started_.push_back(gpu);
  return add(gpu);
}

Gpu GatewayPool::add_worker_at(const std::string& url, const std::string& name) {
  Gpu gpu = row();
  if (!name.empty()) gpu.name = name;
  gpu.url = url;
  return add(gpu);
}

Got GatewayPool::operate(const std::string& method, const std::string& path,
                         const std::string& body, Headers headers) const {
  headers.emplace_back("Authorization", "Bearer " + k_operator_key);
  return ask(method, url() + path, body, headers);
}

void GatewayPool::kill_worker(const Gpu& gpu) {
  ::kill(parse_process_id(gpu.provider_id)->pid, SIGKILL);
}

void GatewayPool::stop_worker(const Gpu& gpu, bool stop) {
  ::kill(parse_process_id(gpu.provider_id)->pid, stop ? SIGSTOP : SIGCONT);
}

nlohmann::json GatewayPool::asked_of(const Gpu& gpu) const {
  return ask("GET", gpu.url + "/fake").body;
}

Gpu GatewayPool::leased() {
  const std::vector<Lease> leases = store_->leases();
  REQUIRE(leases.size() == 1);
  const auto found = std::find_if(started_.begin(), started_.end(),
                                  [&](const Gpu& gpu) { return gpu.id == leases[0].gpu; });
  REQUIRE(found != started_.end());
  return *found;
}

std::unique_ptr<SqliteConnection> GatewayPool::locked() {
  auto other = std::make_unique<SqliteConnection>(folder_ / "pool.db", 1s);
  other->script("BEGIN IMMEDIATE");
  return other;
}

bool GatewayPool::ends() { return running_.wait_for(40s) == std::future_status::ready; }

Gpu GatewayPool::row() {
  Gpu gpu = new_gpu(identity_, Source::local);
  gpu.host = "here";
  gpu.device = "device-" + std::to_string(rows_++);  // one worker to a device
  return gpu;
}

Gpu GatewayPool::add(const Gpu& gpu) {
  const auto added = store_->add({.gpu = gpu}, {"test", "made"});
  REQUIRE(added);
  return *store_->change({.id = added->id, .version = added->version, .event = Event::ready},
                         {"test", "ready"});
}

void upgrade(RawClient& client) {
  client.send(
      "GET /v1/realtime HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n"
      "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
  client.receive_until("\r\n\r\n");
}

std::string text_frame(const std::string& text) {
  return std::string("\x81") + static_cast<char>(0x80 | text.size()) + k_mask + text;
}

void start_session(RawClient& client) {
  upgrade(client);
  client.send(text_frame(k_start));
  client.receive_until("session.ready");
}

}  // namespace navtalk::tests
