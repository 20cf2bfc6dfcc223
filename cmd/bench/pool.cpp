// How fast the pool's store is: many processes that claim and release slots at once, and one tick of
// the scaler over ten thousand GPUs.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "cmd/bench/pool_client.h"
#include "cmd/bench/report.h"
#include "cmd/commands.h"
#include "cmd/terminal/table.h"
#include "core/base/error.h"
#include "core/base/id.h"
#include "core/base/interrupt.h"
#include "core/files/temporary_folder.h"
#include "scheduler/pool/pool_store.h"
#include "scheduler/scaling/decide.h"

namespace navtalk::cmd {
namespace {

struct BenchPoolOptions {
  int clients = 16;
  std::string store;
  int slots = 64;
  double seconds = 5;
  int gpus = 10'000;
};

constexpr const char* k_bench = "bench pool";

// One kind of call: every client's times, in microseconds.
struct Calls {
  std::string name;
  Timing timing;
  double per_second = 0;
};

struct Result {
  std::vector<Calls> calls;
  std::vector<Calls> ticks;
  int granted = 0;     // of options.slots
  bool twice = false;  // some slot
  int refused = 0;     // asked while all slots were taken
  std::string store;   // "sqlite", "postgresql"
};

std::string store_in(const TemporaryFolder& folder) {
  return "sqlite:" + (folder.path() / "pool.db").native();
}

Gpu new_gpu(int number) {
  return {.id = {fmt::format("bench-{}", number)},
          .name = fmt::format("navtalk-bench-{}", number),
          .state = State::idle,
          .url = "http://127.0.0.1:2160"};
}

void add_gpus(PoolStore& store, int count, const std::stop_token& stop) {
  for (int i = 0; i < count; ++i) {
    throw_if_stopped(stop);
    store.add({.gpu = new_gpu(i)}, {k_bench, "to be claimed"});
  }
}

// What add_gpus() made, out of a store that stays.
void remove_gpus(PoolStore& store) {
  for (const Lease& lease : store.leases()) store.release(lease.id, lease.epoch);
  for (const Gpu& gpu : store.view().gpus) {
    const auto row = store.change({.id = gpu.id, .version = gpu.version, .event = Event::destroy},
                                  {k_bench, "done"});
    if (row) store.remove(row->id, row->version, {k_bench, "done"});
  }
}

Calls summed(std::string name, const std::vector<nlohmann::json>& answers, const char* key,
             double seconds) {
  std::vector<std::chrono::duration<double>> times;
  for (const nlohmann::json& answer : answers) {
    for (const std::int64_t took : answer.at(key)) times.emplace_back(Duration(took));
  }
  if (times.empty()) throw Error(Code::failed, "no call ended in time: ask for more --seconds");
  const double count = static_cast<double>(times.size());
  return {std::move(name), timing_of(std::move(times)), count / seconds};
}

std::vector<nlohmann::json> all_answer(std::vector<PoolClient>& clients, const std::string& order,
                                       const std::stop_token& stop) {
  for (PoolClient& client : clients) client.tell(order);
  std::vector<nlohmann::json> answers;
  answers.reserve(clients.size());
  for (PoolClient& client : clients) answers.push_back(client.answer(stop));
  return answers;
}

void measure_claims(const BenchPoolOptions& options, const std::string& url, Context& context,
                    Result& result) {
  std::vector<PoolClient> clients(static_cast<std::size_t>(options.clients));
  int number = 0;
  for (PoolClient& client : clients) {
    client.tell(nlohmann::json{
        {"store", url}, {"name", fmt::format("client-{}", ++number)}, {"seconds", options.seconds}}
                    .dump());
  }
  for (PoolClient& client : clients) client.line(context.stop);  // ready
  std::set<std::pair<std::string, int>> places;
  for (const nlohmann::json& answer : all_answer(clients, "take", context.stop)) {
    for (const nlohmann::json& place : answer.at("leases")) {
      ++result.granted;
      result.twice |= !places.emplace(place.at(0), place.at(1)).second;
    }
  }
  all_answer(clients, "release", context.stop);
  const auto answers = all_answer(clients, "churn", context.stop);
  result.calls = {summed("claim", answers, "claim_us", options.seconds),
                  summed("release", answers, "release_us", options.seconds)};
  for (const nlohmann::json& answer : answers) result.refused += answer.at("refused").get<int>();
}

// A static policy that is content with what there is: reading and deciding is what is measured.
ScalingLimits no_limits() { return {.min_free = 0, .max_free = std::nullopt}; }

// In memory where that can be: how fast the disk takes ten thousand new rows is not the question.
void measure_tick(const BenchPoolOptions& options, Context& context, Result& result) {
  const std::filesystem::path memory = "/dev/shm";
  const TemporaryFolder folder(
      std::filesystem::exists(memory) ? memory : std::filesystem::temp_directory_path());
  const auto store = PoolStore::open(store_in(folder));
  add_gpus(*store, options.gpus, context.stop);
  for (int i = 0; i < options.gpus / 2; ++i) {
    throw_if_stopped(context.stop);
    store->claim({.id = {fmt::format("u{}", i)}, .gateway = "bench"}, std::chrono::hours(1));
  }
  const std::chrono::duration<double> budget(std::min(options.seconds, 2.0));
  const auto timed = [&](std::string name, const std::function<void()>& work) {
    const Timing timing = measure(work, budget, context.stop);
    result.ticks.push_back({std::move(name), timing, 1 / timing.median.count()});
  };
  std::size_t seen = 0;
  timed("tick, read", [&] { seen = store->view().gpus.size(); });
  timed("tick, read and decide", [&] {
    PoolView view = store->view();
    const Snapshot snapshot{.gpus = std::move(view.gpus),
                            .queued = static_cast<int>(view.waiters.size())};
    seen = static_cast<std::size_t>(decide(snapshot, no_limits(), view.now).capacity.gpus);
  });
  if (seen != static_cast<std::size_t>(options.gpus)) {
    throw Error(Code::failed, fmt::format("{} GPUs were added and {} read", options.gpus, seen));
  }
}

Result run(const BenchPoolOptions& options, Context& context) {
  Result result;
  std::optional<TemporaryFolder> folder;
  std::string url = options.store;
  if (url.empty()) {
    folder.emplace();
    url = store_in(*folder);
  }
  result.store = url.starts_with("sqlite:") ? "sqlite" : "postgresql";
  const auto store = PoolStore::open(url);
  if (!store->view().gpus.empty()) {
    throw Error(Code::invalid,
                "the store holds GPUs: bench pool takes only an empty one, which it leaves empty");
  }
  add_gpus(*store, options.slots, context.stop);
  measure_claims(options, url, context, result);
  if (!folder) remove_gpus(*store);
  if (options.gpus > 0) measure_tick(options, context, result);
  return result;
}

double ms(std::chrono::duration<double> time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

nlohmann::ordered_json report(const Result& result, const BenchPoolOptions& options) {
  auto rows = nlohmann::ordered_json::array();
  const auto add = [&](const Calls& calls, const std::string& store) {
    rows.push_back({{"name", calls.name},
                    {"store", store},
                    {"unit", "ms"},
                    {"median", ms(calls.timing.median)},
                    {"p99", ms(calls.timing.p99)},
                    {"per_second", calls.per_second},
                    {"runs", calls.timing.runs}});
    return &rows.back();
  };
  for (const Calls& calls : result.calls) {
    auto& row = *add(calls, result.store);
    row["clients"] = options.clients;
    row["slots"] = options.slots;
    row["granted"] = result.granted;
    row["granted_twice"] = result.twice;
    row["refused"] = result.refused;
  }
  for (const Calls& calls : result.ticks) (*add(calls, "sqlite"))["gpus"] = options.gpus;
  return {{"machine", machine_json(this_machine())}, {"rows", rows}};
}

void print_table(const Result& result, const BenchPoolOptions& options, Context& context) {
  constexpr auto k_right = Column::Align::right;
  std::vector<std::vector<std::string>> cells;
  const auto add = [&](const Calls& calls, const std::string& store) {
    cells.push_back({calls.name, store, fmt::format("{:.3f}", ms(calls.timing.median)),
                     fmt::format("{:.3f}", ms(calls.timing.p99)),
                     fmt::format("{:.0f}", calls.per_second)});
  };
  for (const Calls& calls : result.calls) add(calls, result.store);
  for (const Calls& calls : result.ticks) {
    add(calls, fmt::format("sqlite, {} GPUs", options.gpus));
  }
  context.out.print("{}\n{} processes, {} slots\n\n", machine_text(this_machine()), options.clients,
                    options.slots);
  context.out.write(table(
      {{"call"}, {"store"}, {"median ms", k_right}, {"p99 ms", k_right}, {"per second", k_right}},
      cells, context.colour));
  context.out.print("\n{} of {} slots were granted when all were wanted at once{}\n",
                    result.granted, options.slots, result.twice ? ", some of them TWICE" : "");
}

int bench_pool(const BenchPoolOptions& options, Context& context) {
  if (is_pool_client()) return client_main(context.stop);
  const Result result = run(options, context);
  if (context.json) {
    context.out.json(report(result, options));
  } else {
    print_table(result, options, context);
  }
  return result.granted == options.slots && !result.twice ? 0 : 1;
}

}  // namespace

void add_bench_pool(Commands& commands) {
  const auto options = std::make_shared<BenchPoolOptions>();
  CLI::App& command = commands.add(
      {.group = Group::bench,
       .name = "pool",
       .summary = "Time the pool's store: processes that claim and release, and a scaler's tick",
       .examples = "  navtalk bench pool --clients 16\n"
                   "  navtalk bench pool --store postgresql://bench@127.0.0.1/empty --json\n",
       .action = [options](Context& context) { return bench_pool(*options, context); },
       .needs_config = false});
  command.add_option("--clients", options->clients, "Processes that claim and release at once")
      ->check(CLI::Range(1, 256))
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option("--store", options->store,
                  "An empty store, left empty; default: SQLite in a temporary folder")
      ->type_name("URL");
  command.add_option("--slots", options->slots, "Slots to claim")
      ->check(CLI::Range(1, 100'000))
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option("--seconds", options->seconds, "Duration of claiming and releasing in seconds")
      ->check(CLI::Range(0.1, 600.0))
      ->type_name("S")
      ->capture_default_str();
  command.add_option("--gpus", options->gpus, "GPUs of the scaler's tick; 0 skips it")
      ->check(CLI::Range(0, 100'000))
      ->type_name("N")
      ->capture_default_str();
}

}  // namespace navtalk::cmd
