// A gateway's jobs on slots of a pool, with a worker that is a route of this process and does what the test says.
#pragma once

#include <algorithm>
#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>
#include <catch2/catch.hpp>
#include <fstream>
#include <future>
#include <latch>
#include <mutex>
#include <thread>

#include "scheduler/store/sql_pool_store.h"
#include "server/gateway/jobs/job_dispatcher.h"
#include "server/http/http_server.h"
#include "server/http/io_loop.h"
#include "tests/fakes/loopback_server.h"
#include "tests/temporary_directory.h"

namespace navtalk::tests {

using namespace navtalk::server;
using namespace std::chrono_literals;
namespace asio = boost::asio;
namespace fs = std::filesystem;

inline const Cause k_submitter{"user", "wants it"};

inline asio::awaitable<void> tell(WebSocket& gateway, std::string text) {
  Frame frame{.text = true, .bytes = std::move(text)};
  co_await gateway.send(std::move(frame));
}

inline asio::awaitable<void> send_video(WebSocket& gateway, std::string_view type,
                                        std::string more) {
  std::string text =
      R"({"type":")" + std::string(type) + R"(","bytes":5,"duration_s":0.04)" + more + "}";
  co_await tell(gateway, std::move(text));
  Frame video{.text = false, .bytes = "video"};
  co_await gateway.send(std::move(video));
}

inline asio::awaitable<void> send_result(WebSocket& gateway) {
  return send_video(gateway, "job.result", R"(,"frames":1,"rendered":1)");
}

// A second of a video.
inline asio::awaitable<void> send_part(WebSocket& gateway, int index) {
  std::string text = R"({"type":"job.segment","bytes":5,"duration_s":1,"index":)" +
                     std::to_string(index) + R"(,"record":"{}"})";
  co_await tell(gateway, std::move(text));
  Frame video{.text = false, .bytes = "video"};
  co_await gateway.send(std::move(video));
}

inline asio::awaitable<void> send_segment(WebSocket& gateway) {
  return send_video(gateway, "job.segment", R"(,"index":0,"record":"{}")");
}

// Of a gateway that claims nothing.
inline std::optional<Job> none(Transaction&) { return std::nullopt; }

// What the worker does once it was told of a job.
using WorkerScript = std::function<asio::awaitable<void>(WebSocket&)>;

// Takes requests, and answers none.
inline LoopbackServer silent_bucket() {
  return LoopbackServer([](Connection& connection, const ReceivedRequest&) { connection.hold(); });
}

// Counts what is written.
class CountedBackend : public StoreBackend {
 public:
  explicit CountedBackend(std::shared_ptr<StoreBackend> backend) : backend_(std::move(backend)) {}

  void write(Durability durability, const Work& work) override {
    ++writes;
    backend_->write(durability, work);
  }
  void read(const Work& work) override { backend_->read(work); }
  TimePoint now() override { return backend_->now(); }
  std::uint64_t wait_for_change(std::uint64_t seen, Duration at_most,
                                const std::stop_token& stop) override {
    return backend_->wait_for_change(seen, at_most, stop);
  }

  std::atomic<int> writes = 0;

 private:
  const std::shared_ptr<StoreBackend> backend_;
};

struct Setup {
  WorkerScript script = send_result;
  JobRules rules{.first_delay = 1ms};
  Duration slot_lease = 30s;
  JobTimes times{.first_pause = 10ms};
  ClaimOrder order = by_priority;
  Duration store_patience = 10ms, heartbeat = 5s, report_timeout = 25s;
  PreemptionRules preemption{.least_run = {}, .slice = -1s, .least_left = {}};
  std::string bucket_url{};  // of a server of S3; empty: there is no bucket
  int slots = 1, keep_free = 0;
  int rows = 1;  // of workers, which are all this process' route
  std::size_t most_runs = 64;
  std::vector<std::string> workers{};  // URLs of others than this process' route, in its place
  std::function<void(const JobFiles&)> before = [](const JobFiles&) {};  // the gateway begins
};

inline std::shared_ptr<const JobBucket> bucket_at(const std::string& url) {
  if (url.empty()) return nullptr;
  const auto variable = [&](const char* name) {
    return std::string(name) == "AWS_ENDPOINT_URL_S3" ? url : "key";
  };
  return std::make_shared<const JobBucket>("s3://videos/jobs", variable);
}

class Dispatching {
 public:
  explicit Dispatching(Setup setup)
      : setup_(std::move(setup)), jobs(backend_, setup_.rules), server_(io_, {}, {}, routes()) {
    setup_.before(files_);
    for (int i = 0; setup_.workers.empty() && i < setup_.rows; ++i)
      add_worker(server_.url(), std::to_string(i));
    for (const std::string& url : setup_.workers) add_worker(url, url);
    asio::co_spawn(io_, keeper_.run(), asio::detached);
    asio::co_spawn(io_, dispatcher_.run(), asio::detached);
    thread_ = std::jthread([this] { io_.run(); });
  }
  ~Dispatching() { io_.stop(); }

  Job add(const std::string& avatar, const std::string& audio = "", int priority = 0,
          const std::string& tenant = "acme") {
    const NewJob job{.spec = {.tenant = {tenant},
                              .avatar = avatar,
                              .audio = audio,
                              .text = audio.empty() ? "Hello" : "",
                              .priority = priority},
                     .work = VideoMinutes(10h)};
    return jobs.submit(job, k_submitter, jobs.now()).job;
  }
  void release(const std::string& tenant = "acme") {
    jobs.release({tenant}, VideoMinutes(1000h), 100, k_submitter, jobs.now());
    note_change();
  }
  Job now(const Job& job) { return *jobs.find(job.id); }
  // Waits; the state that it had last.
  JobState state(const Job& job, JobState wanted) {
    eventually([&] { return now(job).state == wanted; });
    return now(job).state;
  }
  bool eventually(const std::function<bool()>& what) {
    for (const auto until = std::chrono::steady_clock::now() + 60s;
         std::chrono::steady_clock::now() < until; std::this_thread::sleep_for(5ms)) {
      if (what()) return true;
      note_change();
    }
    return what();
  }
  int claims(const Job& job) {
    int claims = 0;
    for (const JobHistory& entry : jobs.history(job.id)) claims += entry.event == JobEvent::claim;
    return claims;
  }
  void wait(Duration time) {
    for (const auto until = std::chrono::steady_clock::now() + time;
         std::chrono::steady_clock::now() < until; std::this_thread::sleep_for(5ms))
      note_change();
  }
  std::uint64_t ended(JobRun::End end) {
    return asio::post(io_, asio::use_future([this] { return dispatcher_.counters(); }))
        .get()
        .of(end);
  }
  bool has_folder_problem() {
    const auto look = [this] { return !dispatcher_.folder_problem().empty(); };
    return asio::post(io_, asio::use_future(look)).get();
  }
  double progress(const Job& job) {
    return asio::post(io_, asio::use_future([this, &job] { return dispatcher_.progress(job.id); }))
        .get()
        .value_or(0);
  }
  std::future<void> drain() { return asio::co_spawn(io_, dispatcher_.drain(), asio::use_future); }
  int told() const { return told_; }
  fs::path folder(const Job& job) const { return folder_ / "jobs" / job.id.text; }
  JobFiles& files() { return files_; }
  bool take_slot() { return pool_.claim({.id = {"served"}, .gateway = "test"}, 30s).has_value(); }
  void ask_for_slot() { REQUIRE(pool_.enqueue({.id = {"user"}, .gateway = "test"}, 100, 30s)); }
  // To the jobs of another gateway.
  bool lends_elsewhere() {
    const auto lease =
        pool_.claim({.id = {"elsewhere"}, .gateway = "other", .lane = Lane::batch}, 30s);
    if (lease) pool_.release(lease->id, lease->epoch);
    return lease.has_value();
  }
  bool lends() { return !pool_.leases().empty(); }
  int writes() const { return backend_->writes; }
  // The slot of the only lease is given to somebody else.
  void lose_slot() {
    const std::vector<Lease> leases = pool_.leases();
    REQUIRE(leases.size() == 1);
    pool_.release(leases[0].id, leases[0].epoch);
  }
  void run_sql(const char* statement) {
    backend_->write(Durability::relaxed, [&](Transaction& t) { t.db.script(statement); });
  }
  // Whatever reads, writes or asks the store waits, except for renewals.
  std::shared_ptr<std::latch> block_threads() {
    const auto until = std::make_shared<std::latch>(1);
    for (int i = 0; i < k_threads; ++i) threads_.post([until] { until->wait(); });
    return until;
  }

 private:
  static constexpr int k_threads = 2;

  void add_worker(const std::string& url, const std::string& device) {
    Gpu gpu = new_gpu(identity_, Source::local);
    gpu.host = "here";
    gpu.device = device;
    gpu.url = url;
    gpu.slots = setup_.slots;
    const auto added = pool_.add({.gpu = gpu}, {"test", "made"});
    pool_.change({.id = added->id, .version = added->version, .event = Event::ready},
                 {"test", "ready"});
  }
  Router routes() {
    Router router;
    router.on_socket(
        "/v1/job",
        [this](const Request&, Upgrade& upgrade) -> asio::awaitable<std::optional<Response>> {
          const auto gateway = co_await upgrade.accept({});
          if (!gateway) co_return std::nullopt;
          const auto start = co_await gateway->receive();
          if (start) {
            ++told_;
            co_await setup_.script(*gateway);
          }
          for (bool more = start.has_value(); more;) {
            const auto frame = co_await gateway->receive();
            more = frame.has_value();
          }
          co_return std::nullopt;
        });
    return router;
  }
  void note_change() {
    asio::post(io_, [this] { dispatcher_.note_change(); });
  }

  Setup setup_;
  TemporaryDirectory folder_;
  std::shared_ptr<CountedBackend> backend_ = std::make_shared<CountedBackend>(
      StoreBackend::open("sqlite:" + (folder_ / "pool.db").native()));
  SqlPoolStore pool_{backend_};
  PoolIdentity identity_ = pool_identity(pool_, "navtalk", "test");
  Supply supply_{pool_, {.identity = identity_, .who = "test"}};
  DemandTracker demand_tracker_{pool_};
  Allocator allocator_{pool_,
                       supply_,
                       demand_tracker_,
                       {.gateway = "test", .host = "here", .lease = setup_.slot_lease}};
  TenantStore tenants_{backend_};
  LateWorkers late_{backend_};
  BatchLane lane_{
      {.pool = pool_, .tenants = tenants_, .supply = supply_, .demand_tracker = demand_tracker_},
      {.who = "test", .max_gpus = 0}};
  JobFiles files_{folder_ / "jobs", bucket_at(setup_.bucket_url)};
  WorkerTokens tokens_{};
  std::atomic<int> told_ = 0;
  ErrorThrottleLog errors_{"the test's store"};
  IoLoop io_;

 public:
  JobStore jobs;

 private:
  LeaseKeeper keeper_{io_.get_executor(), pool_, allocator_, slot_renewals_, errors_};
  HttpServer server_;
  JobDispatcher dispatcher_{io_.get_executor(),
                            {.pool = pool_,
                             .late = late_,
                             .allocator = allocator_,
                             .keeper = keeper_,
                             .tenants = tenants_,
                             .lane = lane_,
                             .keep_free = setup_.keep_free,
                             .order = setup_.order,
                             .runs = {.store = jobs,
                                      .files = files_,
                                      .store_threads = threads_,
                                      .file_threads = threads_,
                                      .bucket_threads = bucket_threads_,
                                      .tokens = tokens_,
                                      .store_patience = setup_.store_patience,
                                      .heartbeat = setup_.heartbeat,
                                      .report_timeout = setup_.report_timeout},
                             .renewals = renewals_,
                             .folder_looks = folder_looks_,
                             .times = setup_.times,
                             .preemption = setup_.preemption,
                             .most_runs = setup_.most_runs}};
  CoroutineScope coroutines_{io_};
  // They end first, since they resume coroutines.
  BlockingThreads threads_{k_threads}, bucket_threads_{1}, renewals_{1}, folder_looks_{1},
      slot_renewals_{1};
  std::jthread thread_;
};

// Stays until the gateway ends it.
inline asio::awaitable<void> render_for_ever(WebSocket& gateway) {
  return tell(gateway, R"({"type":"job.progress","done":1,"of":9})");
}

inline asio::awaitable<void> rest(Duration time) {
  asio::steady_timer timer(co_await asio::this_coro::executor);
  timer.expires_after(time);
  co_await timer.async_wait(asio::use_awaitable);
}

}  // namespace navtalk::tests
