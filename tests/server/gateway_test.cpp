// The gateway on a real store, with fake workers as processes of their own.
#include "server/gateway.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <future>

#include "core/database/sqlite.h"
#include "core/error.h"
#include "core/id.h"
#include "scheduler/learner.h"
#include "scheduler/local/local_provider.h"
#include "scheduler/supply.h"
#include "tests/server/client.h"
#include "tests/temporary_directory.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace navtalk::tests;
using namespace std::chrono_literals;

namespace {

class Script {
 public:
  explicit Script(const char* json) { ::setenv("NAVTALK_FAKE_WORKER", json, 1); }
  ~Script() { ::unsetenv("NAVTALK_FAKE_WORKER"); }
};

// A pool without loops: rows are what the test makes them.
class Pool {
 public:
  explicit Pool(AllocatorOptions allocation = {}, GatewayOptions gateway = {}) {
    store_ = PoolStore::open("sqlite:" + (folder_ / "pool.db").native());
    identity_ = pool_identity(*store_, "navtalk", "test");
    supply_.emplace(*store_, SupplyOptions{.identity = identity_, .who = "test"});
    learner_.emplace(*store_);
    allocation.gateway = "test";
    allocation.host = "here";
    allocator_.emplace(*store_, *supply_, *learner_, allocation);
    gateway.listen = "127.0.0.1:0";
    gateway.worker_token = "secret";
    gateway.identity = identity_;
    gateway_ = std::make_unique<Gateway>(*store_, *allocator_, gateway);
    running_ = std::async(std::launch::async, [this] { gateway_->run(stop_.get_token()); });
  }
  ~Pool() {
    stop();
    running_.wait();
    gateway_.reset();
    for (const Gpu& gpu : started_) provider_.destroy(gpu, {});
  }

  // A fake worker, and its row: idle, or with another address.
  Gpu add_worker(int slots = 1) {
    Gpu gpu = row();
    gpu.slots = slots;
    const Outcome outcome = provider_.create(gpu, {});
    const Instance instance = *std::get<Done>(outcome).instance;
    gpu.url = instance.url;
    gpu.provider_id = instance.provider_id;
    started_.push_back(gpu);
    return add(gpu);
  }
  Gpu add_dead_worker() {
    Gpu gpu = row();
    gpu.url = "http://127.0.0.1:1";
    // The fullest is claimed first; among equals the first one made.
    return add(gpu);
  }
  void kill_worker(const Gpu& gpu) {
    ::kill(local::parse_process_id(gpu.provider_id)->pid, SIGKILL);
  }

  SocketClient connect() { return SocketClient(url(), "/v1/realtime"); }
  std::string url() const { return gateway_->url(); }
  PoolStore& store() { return *store_; }
  State state_of(const Gpu& gpu) { return store_->find(gpu.id)->state; }
  std::string last_error_of(const Gpu& gpu) { return store_->find(gpu.id)->last_error; }
  // Another program's hold on the database: whatever writes to the store fails after its patience.
  std::unique_ptr<SqliteConnection> locked() {
    auto other = std::make_unique<SqliteConnection>(folder_ / "pool.db", 1s);
    other->script("BEGIN IMMEDIATE");
    return other;
  }
  void stop() { stop_.request_stop(); }
  bool ends() { return running_.wait_for(20s) == std::future_status::ready; }

 private:
  Gpu row() {
    Gpu gpu = new_gpu(identity_, Source::local);
    gpu.host = "here";
    gpu.device = "device-" + std::to_string(rows_++);  // one worker to a device
    return gpu;
  }
  Gpu add(const Gpu& gpu) {
    const auto added = store_->add({.gpu = gpu}, {"test", "made"});
    REQUIRE(added);
    return *store_->change({.id = added->id, .version = added->version, .event = Event::ready},
                           {"test", "ready"});
  }

  const TemporaryDirectory folder_;
  int rows_ = 0;
  std::unique_ptr<PoolStore> store_;
  PoolIdentity identity_;
  std::optional<Supply> supply_;
  std::optional<Learner> learner_;
  std::optional<Allocator> allocator_;
  LocalProvider provider_{
      {.program = NAVTALK_FAKE_WORKER_PROGRAM, .host = "here", .token = "secret"}};
  std::vector<Gpu> started_;
  std::unique_ptr<Gateway> gateway_;
  std::stop_source stop_;
  std::future<void> running_;
};

const std::string k_start = R"({"type":"session.start","avatar":"ada"})";
const std::string k_mask(4, '\0');
const Headers k_json = {{"Content-Type", "application/json"}};

// A WebSocket by hand, for a client that then does not behave.
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

}  // namespace

TEST_CASE("a user gets a slot, keeps it, and gives it back by leaving") {
  Pool pool;
  const Gpu gpu = pool.add_worker();
  SocketClient client = pool.connect();
  REQUIRE(client.connected());
  client.send(k_start);
  CHECK(client.receive_json().at("type") == "session.ready");
  CHECK(pool.state_of(gpu) == State::running);
  CHECK(pool.store().leases().size() == 1);
  client.send(R"({"type":"session.end"})");
  CHECK(client.close_code() == 1000);
  CHECK(eventually([&] { return pool.state_of(gpu) == State::idle; }));
}

TEST_CASE("whoever waits sees the position change, and gets the slot when it is free") {
  Pool pool;
  pool.add_worker();
  SocketClient first = pool.connect();
  first.send(k_start);
  REQUIRE(first.receive_json().at("type") == "session.ready");
  SocketClient second = pool.connect();
  second.send(k_start);
  CHECK(second.receive_json().at("position") == 1);
  SocketClient third = pool.connect();
  third.send(k_start);
  const auto update = third.receive_json();
  CHECK(update.at("type") == "queue.update");
  CHECK(update.at("position") == 2);
  CHECK(update.contains("eta_s"));
  first.send(R"({"type":"session.end"})");
  CHECK(second.receive_type("session.ready").at("type") == "session.ready");
  auto moved = third.receive_type("queue.update");
  while (moved.at("position") == 2) moved = third.receive_type("queue.update");  // another ETA
  CHECK(moved.at("position") == 1);
  // One who waits leaves by leaving.
  third.send(R"({"type":"session.end"})");
  CHECK(third.close_code() == 1000);
  CHECK(eventually([&] { return pool.store().view().waiters.empty(); }));
}

TEST_CASE("a user who vanishes gives the slot back at once, and the place in the queue") {
  Pool pool;
  const Gpu gpu = pool.add_worker();
  SocketClient holder = pool.connect();
  holder.send(k_start);
  REQUIRE(holder.receive_json().at("type") == "session.ready");
  SocketClient waiter = pool.connect();
  waiter.send(k_start);
  REQUIRE(waiter.receive_json().at("type") == "queue.update");
  waiter.vanish();
  CHECK(eventually([&] { return pool.store().view().waiters.empty(); }));
  holder.vanish();
  CHECK(eventually([&] { return pool.state_of(gpu) == State::idle; }));
}

TEST_CASE("frames are relayed both ways as they are") {
  const Script script(R"({"echo": true})");
  Pool pool;
  pool.add_worker();
  SocketClient client = pool.connect();
  client.send(k_start);
  REQUIRE(client.receive_json().at("type") == "session.ready");
  for (int i = 0; i < 100; ++i) client.send_binary(std::string(10'000, static_cast<char>(i)));
  for (int i = 0; i < 100; ++i) {
    const auto frame = client.receive();
    REQUIRE(frame);
    CHECK_FALSE(frame->text);
    CHECK(frame->bytes == std::string(10'000, static_cast<char>(i)));
  }
}

TEST_CASE("a worker that cannot be reached is failed, and the user gets another") {
  Pool pool;
  const Gpu dead = pool.add_dead_worker();
  const Gpu good = pool.add_worker();
  SocketClient client = pool.connect();
  client.send(k_start);
  CHECK(client.receive_type("session.ready").at("type") == "session.ready");
  CHECK(pool.state_of(good) == State::running);
  // The other one was either tried and failed, or not needed.
  SocketClient second = pool.connect();
  second.send(k_start);
  CHECK(second.receive_json().at("type") == "queue.update");
  CHECK(pool.state_of(dead) == State::failed);
  CHECK(pool.store().leases().size() == 1);
}

TEST_CASE("a worker that accepts and never gets ready is failed") {
  GatewayOptions impatient;
  impatient.ready_within = 300ms;
  const Script script(R"({"ready": false})");
  Pool pool({.queue_limit = 0}, impatient);
  const Gpu gpu = pool.add_worker();
  SocketClient client = pool.connect();
  client.send(k_start);
  const auto error = client.receive_type("error");
  CHECK(error.at("code") == "no_capacity");
  CHECK(pool.state_of(gpu) == State::failed);
}

TEST_CASE("goodbye in the same packet as session.start is goodbye, and the GPU stays well") {
  const Script script(R"({"ready": false})");
  Pool pool;
  const Gpu gpu = pool.add_worker();
  RawClient client(pool.url());
  upgrade(client);
  client.send(text_frame(k_start) + text_frame(R"({"type":"session.end"})"));
  // Nothing comes but the close frame: 1000.
  CHECK(client.receive_until("\x03\xe8") == "\x88\x02\x03\xe8");
  CHECK(eventually([&] { return pool.store().leases().empty(); }));
  CHECK(pool.state_of(gpu) == State::idle);
  CHECK(pool.last_error_of(gpu).empty());
  CHECK(pool.store().view().waiters.empty());
}

TEST_CASE("leaving while the worker is reached or loads never harms the GPU") {
  const auto script =
      GENERATE(R"({"routes": {"/v1/session": {"delay_s": 0.3}}})", R"({"ready": false})");
  const bool politely = GENERATE(true, false);
  const Script scripted(script);
  Pool pool;
  const Gpu gpu = pool.add_worker();
  SocketClient client = pool.connect();
  client.send(k_start);
  REQUIRE(eventually([&] { return !pool.store().leases().empty(); }));
  if (politely) client.send(R"({"type":"session.end"})");
  if (!politely) client.vanish();
  CHECK(eventually([&] { return pool.store().leases().empty(); }));
  CHECK(pool.state_of(gpu) == State::idle);
  CHECK(pool.last_error_of(gpu).empty());
  if (politely) CHECK(client.close_code() == 1000);
}

TEST_CASE("a worker's own faults before session.ready fail the GPU, never the client") {
  const std::string code = GENERATE("failed", "drained", "superseded", "no_capacity", "new_word");
  const Script script((R"({"start_error": ")" + code + R"("})").c_str());
  Pool pool({.queue_limit = 0});
  const Gpu gpu = pool.add_worker();
  SocketClient client = pool.connect();
  client.send(k_start);
  // What the worker said is not for the client, who is looked after elsewhere.
  CHECK(client.receive_json().at("code") == "no_capacity");
  CHECK(client.close_code() == 1013);
  CHECK(pool.state_of(gpu) == State::failed);
  CHECK_THAT(pool.last_error_of(gpu), Catch::Contains(code + ": the script says so"));
}

TEST_CASE("a worker that takes a lease for old is well: the user gets another lease") {
  const Script script(
      R"({"routes": {"/v1/session": {"status": 409, "code": "stale_epoch", "times": 2}}})");
  Pool pool;
  const Gpu gpu = pool.add_worker();
  SocketClient client = pool.connect();
  client.send(k_start);
  CHECK(client.receive_type("session.ready").at("epoch") == 3);
  CHECK(pool.state_of(gpu) == State::running);
  CHECK(pool.last_error_of(gpu).empty());
  CHECK(pool.store().leases().size() == 1);
}

TEST_CASE("a worker that takes every lease for old is failed") {
  const Script script(R"({"routes": {"/v1/session": {"status": 409, "code": "stale_epoch"}}})");
  Pool pool({.queue_limit = 0});
  const Gpu gpu = pool.add_worker();
  SocketClient client = pool.connect();
  client.send(k_start);
  CHECK(client.receive_json().at("code") == "no_capacity");
  CHECK(pool.state_of(gpu) == State::failed);
  CHECK(pool.last_error_of(gpu) ==
        "the worker takes new leases for old: the script says so (HTTP 409)");
  CHECK(pool.store().leases().empty());
}

TEST_CASE("what a worker says when it declines is told in its words, not as JSON") {
  const Script script(R"({"routes": {"/v1/session": {"status": 503}}})");
  Pool pool({.queue_limit = 0});
  const Gpu gpu = pool.add_worker();
  SocketClient client = pool.connect();
  client.send(k_start);
  CHECK(client.receive_json().at("code") == "no_capacity");
  CHECK(pool.last_error_of(gpu) == "the worker declined a session: the script says so (HTTP 503)");
}

TEST_CASE("what the client asked for in vain is told, and the GPU stays well") {
  const std::string code = GENERATE("usage", "not_found", "invalid");
  const Script script((R"({"start_error": ")" + code + R"("})").c_str());
  Pool pool;
  const Gpu gpu = pool.add_worker();
  SocketClient client = pool.connect();
  client.send(k_start);
  CHECK(client.receive_json().at("code") == code);
  CHECK(client.close_code() == 1008);
  CHECK(eventually([&] { return pool.state_of(gpu) == State::idle; }));
  CHECK(pool.last_error_of(gpu).empty());
}

TEST_CASE("a session that no worker can start takes three of them, not all") {
  const Script script(R"({"start_error": "failed"})");
  Pool pool;
  std::vector<Gpu> gpus;
  for (int i = 0; i < 4; ++i) gpus.push_back(pool.add_worker());
  SocketClient client = pool.connect();
  client.send(k_start);
  const auto error = client.receive_type("error");
  CHECK(error.at("code") == "failed");
  CHECK(error.at("retry_after") == 5);
  CHECK(client.close_code() == 1011);
  CHECK(std::count_if(gpus.begin(), gpus.end(),
                      [&](const Gpu& gpu) { return pool.state_of(gpu) == State::failed; }) == 3);
}

TEST_CASE("a worker lost while the store is away is failed, and its slot free, once it is back") {
  Pool pool;
  const Gpu gpu = pool.add_worker();
  RawClient client(pool.url());  // does not answer the close: its direction is still relayed
  start_session(client);
  {
    const auto hold = pool.locked();
    pool.kill_worker(gpu);
    CHECK_THAT(client.receive_until("worker_lost"), Catch::Contains("worker_lost"));
    // The gateway's call began before these two, and its patience is over before the second's.
    CHECK_THROWS_AS(pool.store().leave({"nobody"}), Error);
    CHECK_THROWS_AS(pool.store().leave({"nobody"}), Error);
    CHECK(pool.state_of(gpu) == State::running);
  }
  CHECK(eventually([&] { return pool.state_of(gpu) == State::failed; }));
  CHECK(pool.last_error_of(gpu) == "its worker was lost in a session");
  CHECK(pool.store().leases().empty());
}

TEST_CASE("a worker lost in a session is told, and its GPU failed") {
  Pool pool;
  const Gpu gpu = pool.add_worker();
  SocketClient client = pool.connect();
  client.send(k_start);
  REQUIRE(client.receive_json().at("type") == "session.ready");
  pool.kill_worker(gpu);
  const auto error = client.receive_json();
  CHECK(error.at("code") == "worker_lost");
  CHECK(error.at("retry_after") == 1);
  CHECK(client.close_code() == 1011);
  CHECK(eventually([&] { return pool.state_of(gpu) == State::failed; }));
  CHECK(pool.store().leases().empty());
}

TEST_CASE("a session whose lease is gone is ended") {
  Pool pool({.lease = 300ms});
  pool.add_worker();
  SocketClient client = pool.connect();
  client.send(k_start);
  REQUIRE(client.receive_json().at("type") == "session.ready");
  const Lease lease = pool.store().leases().at(0);
  REQUIRE(pool.store().release(lease.id, lease.epoch));
  CHECK(client.receive_json().at("code") == "lease_lost");
  CHECK(client.close_code() == 1011);
}

TEST_CASE("a lease is kept for as long as the session goes on") {
  Pool pool({.lease = 400ms});
  const Gpu gpu = pool.add_worker();
  SocketClient client = pool.connect();
  client.send(k_start);
  REQUIRE(client.receive_json().at("type") == "session.ready");
  const TimePoint until = pool.store().now() + 1s;
  CHECK(eventually([&] { return pool.store().expire().empty() && pool.store().now() > until; }));
  CHECK(pool.state_of(gpu) == State::running);
}

TEST_CASE("a lease that no session holds is given back, not renewed for ever") {
  Pool pool({.lease = 300ms});
  const Gpu gpu = pool.add_worker();
  REQUIRE(pool.store().claim({.id = {"lost"}, .gateway = "test", .host = "here"}, 10s));
  CHECK(pool.state_of(gpu) == State::running);
  CHECK(eventually([&] { return pool.state_of(gpu) == State::idle; }));
}

TEST_CASE("a client that does not read is let go, and its GPU is not blamed") {
  const Script script(R"({"echo": true})");
  GatewayOptions impatient;
  impatient.slow_client = 300ms;
  Pool pool({}, impatient);
  const Gpu gpu = pool.add_worker();
  RawClient client(pool.url(), 4096);
  start_session(client);
  // Binary frames of 64 KiB, echoed to one who does not look.
  const std::string frame =
      std::string("\x82\xff\0\0\0\0\0\x01\0\0", 10) + k_mask + std::string(65536, 'x');
  int sent = 0;
  while (sent < 4000 && client.send(frame)) ++sent;
  CHECK(sent < 4000);
  CHECK(eventually([&] { return pool.state_of(gpu) == State::idle; }));
  CHECK(pool.store().leases().empty());
}

TEST_CASE("without a queue a user without a slot is refused with a time to try again") {
  Pool pool({.queue_limit = 0});
  SocketClient client = pool.connect();
  client.send(k_start);
  const auto error = client.receive_json();
  CHECK(error.at("type") == "error");
  CHECK(error.at("code") == "no_capacity");
  CHECK(error.at("retry_after") > 0);
  CHECK(client.close_code() == 1013);
}

TEST_CASE("the first frame must be session.start, and in time") {
  GatewayOptions impatient;
  impatient.start_within = 300ms;
  Pool pool({}, impatient);
  for (const char* const text : {"nonsense", "{}", R"({"type":"input.end"})"}) {
    SocketClient client = pool.connect();
    client.send(text);
    CHECK(client.receive_json().at("code") == "usage");
    CHECK(client.close_code() == 1008);
  }
  SocketClient silent = pool.connect();
  CHECK(silent.receive_json().at("code") == "usage");
  SocketClient long_winded = pool.connect();
  long_winded.send(R"({"type":"session.start","avatar":")" + std::string(17'000, 'x') + R"("})");
  const auto error = long_winded.receive_json();
  CHECK(error.at("code") == "invalid");
  CHECK_THAT(error.at("message").get<std::string>(), Catch::Contains("16384 bytes"));
  CHECK(long_winded.close_code() == 1008);
  SocketClient loud = pool.connect();
  loud.send(std::string((1 << 20) + 1, 'x'));
  CHECK(loud.close_code() == 1009);
}

TEST_CASE("a stop tells sessions, gives leases back, and ends") {
  GatewayOptions brisk;
  brisk.stop_notice = 200ms;
  Pool pool({}, brisk);
  const Gpu gpu = pool.add_worker();
  SocketClient holder = pool.connect();
  holder.send(k_start);
  REQUIRE(holder.receive_json().at("type") == "session.ready");
  SocketClient waiter = pool.connect();
  waiter.send(k_start);
  REQUIRE(waiter.receive_json().at("type") == "queue.update");
  pool.stop();
  CHECK(waiter.receive_type("error").at("code") == "draining");
  CHECK(holder.receive_json().at("type") == "session.draining");
  CHECK(holder.receive_json().at("code") == "drained");
  CHECK(holder.close_code() == 1001);
  CHECK(pool.ends());
  CHECK(pool.store().leases().empty());
  CHECK(pool.store().view().waiters.empty());
  CHECK(pool.state_of(gpu) == State::idle);
}

TEST_CASE("sessions keep their leases through a notice that is longer than these") {
  GatewayOptions patient;
  patient.stop_notice = 10min;
  Pool pool({.lease = 600ms}, patient);
  const Gpu gpu = pool.add_worker();
  SocketClient client = pool.connect();
  client.send(k_start);
  REQUIRE(client.receive_json().at("type") == "session.ready");
  const Lease lease = pool.store().leases().at(0);
  pool.stop();
  REQUIRE(client.receive_json().at("type") == "session.draining");
  const TimePoint until = pool.store().now() + 1500ms;
  const auto lost = [&] { return !pool.store().expire().empty(); };
  CHECK(eventually([&] { return lost() || pool.store().now() > until; }));
  const auto leases = pool.store().leases();
  REQUIRE(leases.size() == 1);
  CHECK(leases[0].id == lease.id);
  CHECK(pool.state_of(gpu) == State::running);
  client.send(R"({"type":"session.end"})");
  CHECK(client.close_code() == 1000);
  CHECK(pool.ends());
  CHECK(pool.store().leases().empty());
}

TEST_CASE("a stop does not wait for a client that answers nothing") {
  GatewayOptions brisk;
  brisk.stop_notice = 200ms;
  Pool pool({}, brisk);
  const Gpu gpu = pool.add_worker();
  RawClient client(pool.url());
  start_session(client);
  pool.stop();
  CHECK(pool.ends());
  CHECK(pool.store().leases().empty());
  CHECK(pool.state_of(gpu) == State::idle);
}

TEST_CASE("an operator sees the pool, adds, drains and removes GPUs over HTTP") {
  Pool pool;
  pool.add_worker();
  const Got added =
      ask("POST", pool.url() + "/v1/pool/gpus",
          R"({"url": "http://127.0.0.1:9", "slots": 3, "dedicated_to": "acme"})", k_json);
  CHECK(added.status == 201);
  const std::string id = added.body.at("id");
  CHECK(added.body.at("slots") == 3);
  CHECK(added.body.at("dedicated_to") == "acme");
  CHECK(ask("GET", pool.url() + "/v1/pool").body.at("gpus").size() == 2);
  CHECK(ask("POST", pool.url() + "/v1/pool/gpus", "{}", k_json).status == 400);
  for (const char* const slots : {"0", "1e18", "1000000000000000000", "1001", "1.5", "\"2\""}) {
    const Got wrong =
        ask("POST", pool.url() + "/v1/pool/gpus",
            R"({"url": "http://127.0.0.1:8", "slots": )" + std::string(slots) + "}", k_json);
    CHECK(wrong.status == 400);
    CHECK_THAT(wrong.text, Catch::Contains("slots is a whole number from 1 to 1000"));
  }
  for (const char* const url : {"http://127.0.0.1:9/", "HTTP://127.0.0.1:9"}) {
    const Got again = ask("POST", pool.url() + "/v1/pool/gpus",
                          R"({"url": ")" + std::string(url) + R"("})", k_json);
    CHECK(again.status == 422);
    CHECK_THAT(again.text, Catch::Contains(id));
  }
  const Got strange =
      ask("POST", pool.url() + "/v1/pool/gpus",
          R"({"url": "http://127.0.0.1:8", "dedicated_to": "a\nb\u001b[31m"})", k_json);
  CHECK(strange.status == 422);
  CHECK_THAT(strange.text, Catch::Contains("no tenant"));
  const Got drained = ask("POST", pool.url() + "/v1/pool/gpus/" + id + "/drain");
  CHECK(drained.status == 202);
  CHECK(ask("POST", pool.url() + "/v1/pool/gpus/" + id + "/wake").status == 409);
  CHECK(ask("POST", pool.url() + "/v1/pool/gpus/nobody/drain").status == 404);
  CHECK(ask("DELETE", pool.url() + "/v1/pool/gpus/" + id).status == 202);
  CHECK(ask("GET", pool.url() + "/v1/pool").body.at("gpus").size() == 1);
  const Got events = ask("GET", pool.url() + "/v1/pool/events?limit=2");
  CHECK(events.body.at("events").size() == 2);
  CHECK(ask("GET", pool.url() + "/v1/pool/events?after=x").status == 400);
}

TEST_CASE("health, readiness and metrics tell the truth") {
  GatewayOptions stuck;
  auto turning = std::make_shared<std::atomic<bool>>(true);
  stuck.problems = [turning] {
    using Problems = std::vector<std::string>;
    return turning->load() ? Problems{} : Problems{"a loop is stuck"};
  };
  Pool pool({}, stuck);
  pool.add_worker();
  CHECK(ask("GET", pool.url() + "/healthz").status == 200);
  CHECK(ask("GET", pool.url() + "/readyz").status == 200);
  *turning = false;
  const Got unready = ask("GET", pool.url() + "/readyz");
  CHECK(unready.status == 503);
  CHECK_THAT(unready.text, Catch::Contains("a loop is stuck"));
  const std::string metrics = ask("GET", pool.url() + "/metrics").text;
  CHECK_THAT(metrics, Catch::Contains(R"(navtalk_pool_gpus{source="local",state="idle"} 1)"));
  CHECK_THAT(metrics, Catch::Contains("navtalk_queue_depth 0"));
  CHECK_THAT(metrics, Catch::Contains("navtalk_gateway_wait_seconds_bucket"));
}

TEST_CASE("until there are keys, only this machine is served") {
  const TemporaryDirectory folder;
  const auto store = PoolStore::open("sqlite:" + (folder / "pool.db").native());
  Supply supply(*store, {});
  Learner learner(*store);
  Allocator allocator(*store, supply, learner, {});
  CHECK_THROWS_WITH(Gateway(*store, allocator, {.listen = "0.0.0.0:0"}),
                    Catch::Contains("loopback only"));
  Pool pool;
  CHECK(ask("GET", pool.url() + "/v1/pool", "", {{"Origin", "https://example.org"}}).status == 403);
  CHECK(ask("GET", pool.url() + "/v1/pool", "", {{"Host", "example.org"}}).status == 403);
  CHECK(ask("GET", pool.url() + "/v1/pool", "", {{"Origin", "http://localhost:8000"}}).status ==
        200);
  CHECK(SocketClient(pool.url(), "/v1/realtime", {{"Origin", "https://example.org"}})
            .declined_status() == 403);
  // A name that begins like an address is still a name, and its owner's page no page of ours.
  for (const char* const evil : {"127.evil.com", "localhost.evil.com", "127.0.0.1.evil.com"}) {
    const std::string name = evil;
    CHECK(ask("GET", pool.url() + "/v1/pool", "", {{"Host", name}}).status == 403);
    CHECK(ask("GET", pool.url() + "/v1/pool", "", {{"Origin", "http://" + name}}).status == 403);
  }
}

TEST_CASE("a page cannot register a worker, to whom the pool's token would go") {
  Pool pool;
  const std::string body = R"({"url": "http://127.0.0.1:9"})";
  const std::string route = pool.url() + "/v1/pool/gpus";
  Headers evil = k_json;
  evil.emplace_back("Origin", "http://127.evil.com");
  CHECK(ask("POST", route, body, evil).status == 403);
  // These a browser sends without asking first, and one that sends no Origin there may be.
  for (const char* const type : {"text/plain", "application/x-www-form-urlencoded", "",
                                 "multipart/form-data; boundary=application/json"}) {
    const Got refused = ask("POST", route, body, {{"Content-Type", type}});
    CHECK(refused.status == 415);
    CHECK_THAT(refused.text, Catch::Contains("Content-Type: application/json"));
  }
  CHECK(pool.store().view().gpus.empty());
  CHECK(ask("POST", route, body, {{"Content-Type", "application/json; charset=utf-8"}}).status ==
        201);
}
