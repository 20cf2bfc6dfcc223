#include "scheduler/prober.h"

#include <algorithm>
#include <exception>

#include "core/log.h"

namespace navtalk {
namespace {

constexpr std::size_t k_waiting = 256;  // what finds no room is asked at the next step
constexpr int k_proofs = 2;
constexpr int k_misses = 3;

// A worker that is starting says so itself; that is no fault.
bool says_ready(const WorkerHealth& health) {
  return health.state == "idle" || health.state == "running";
}

bool same_state(const Gpu& a, const Gpu& b) {
  return a.state == b.state && a.intent.number == b.intent.number && a.url == b.url;
}

}  // namespace

Prober::Prober(PoolStore& store, ProberOptions options)
    : store_(store), options_(std::move(options)), work_(k_waiting) {
  for (int i = 0; i < options_.threads; ++i) {
    threads_.emplace_back([this](const std::stop_token& stop) { run(stop); });
  }
}

Prober::~Prober() {
  for (std::jthread& thread : threads_) thread.request_stop();
  work_.close();
}

bool Prober::due(const Gpu& gpu, bool leading, TimePoint now) const {
  if (gpu.url.empty()) return false;
  if (gpu.source == Source::local ? gpu.host != options_.host : !leading) return false;
  Duration every{};
  switch (gpu.state) {
    case State::starting:
      // While the provider is still at it, what answers may be the old worker.
      if (gpu.intent.operation != Operation::none) return false;
      every = options_.starting_every;
      break;
    case State::idle:
    case State::running:
      every = options_.running_every;
      break;
    case State::failed:
      if (gpu.source != Source::external) return false;
      every = options_.failed_every;
      break;
    case State::paused:
    case State::stopping:
      return false;
  }
  return records_.with([&](const auto& records) {
    const auto record = records.find(gpu.id);
    if (record == records.end()) return true;
    return !record->second.under_way && now - record->second.asked >= every;
  });
}

void Prober::step(bool leading) {
  const PoolView view = store_.view();
  for (const Gpu& gpu : view.gpus) {
    if (work_.size() >= k_waiting || !due(gpu, leading, view.now)) continue;
    records_.with([&](auto& records) {
      Record& record = records[gpu.id];
      record.under_way = true;
      record.asked = view.now;
    });
    work_.push(gpu);
  }
  records_.with([&](auto& records) {
    std::erase_if(records, [&](const auto& entry) {
      const auto same = [&](const Gpu& gpu) { return gpu.id == entry.first; };
      return !entry.second.under_way && std::none_of(view.gpus.begin(), view.gpus.end(), same);
    });
  });
}

void Prober::run(const std::stop_token& stop) {
  WorkerClient client(options_.token, options_.client);
  while (!stop.stop_requested()) {
    const std::optional<Gpu> gpu = work_.pop(stop);
    if (!gpu) return;
    try {
      probe(*gpu, client, stop);
    } catch (const std::exception& error) {
      log::warn("a probe could not be recorded", {{"gpu", gpu->id.text}, {"error", error.what()}});
    }
    records_.with([&](auto& records) { records[gpu->id].under_way = false; });
    const std::lock_guard lock(idle_mutex_);
    idle_.notify_all();
  }
}

bool Prober::wait_idle(Duration at_most, const std::stop_token& stop) {
  std::unique_lock lock(idle_mutex_);
  return idle_.wait_for(lock, stop, at_most, [this] {
    return records_.with([](const auto& records) {
      return std::none_of(records.begin(), records.end(),
                          [](const auto& entry) { return entry.second.under_way; });
    });
  });
}

void Prober::probe(const Gpu& gpu, WorkerClient& client, const std::stop_token& stop) {
  const WorkerAnswer answer = client.health(gpu.url, stop);
  if (stop.stop_requested()) return;
  const auto* health = std::get_if<WorkerHealth>(&answer);
  std::string why;
  if (health == nullptr) {
    why = std::get<WorkerFault>(answer).message;
  } else if (!says_ready(*health)) {
    why = "the worker says that it is " + health->state;
  } else if (const auto unready = why_unready(*health, gpu.source == Source::runpod)) {
    why = *unready;
  }
  const TimePoint now = store_.now();
  const Record record = records_.with([&](auto& records) {
    Record& known = records[gpu.id];
    if (why.empty()) {
      ++known.good;
      known.bad = 0;
    } else {
      known.good = 0;
      if (known.bad++ == 0) known.first_bad = now;
    }
    return known;
  });
  if (why.empty()) {
    well(gpu, *health, record.good, client, stop);
  } else {
    unwell(gpu, why, record);
  }
}

void Prober::well(const Gpu& gpu, const WorkerHealth& health, int in_row, WorkerClient& client,
                  const std::stop_token& stop) {
  const TimePoint now = store_.now();
  const bool proving = gpu.state == State::starting || gpu.state == State::failed;
  store_.seen(gpu.id, now);
  if (!proving || in_row < k_proofs) return;
  if (const auto fault = client.handshake(gpu.url, "probe", 0, stop)) {
    return unwell(gpu, "no WebSocket reaches it: " + fault->message, {.bad = 1, .first_bad = now});
  }
  const std::optional<Gpu> row = store_.find(gpu.id);
  if (!row || !same_state(*row, gpu)) return;
  GpuChange change{.id = row->id,
                   .version = row->version,
                   .event = Event::ready,
                   .last_error = "",
                   .reserved_for = WaiterId{}};
  if (health.slots > 0 && health.slots < row->slots) change.slots = health.slots;
  if (!store_.change(change, {options_.who, "answers, and a WebSocket gets through"})) return;
  if (gpu.state != State::starting) return;
  store_.record(Attempt{.at = now,
                        .gpu = gpu.id,
                        .source = gpu.source,
                        .operation = being_woken(gpu) ? Operation::wake : Operation::create,
                        .result = Attempt::Result::ok,
                        .took = now - gpu.since,
                        .detail = gpu.device});
}

void Prober::unwell(const Gpu& gpu, const std::string& why, const Record& record) {
  // A start has its own deadline, which the scaler watches; a failed one is failed already.
  if (gpu.state != State::idle && gpu.state != State::running) return;
  if (record.bad < k_misses || store_.now() - record.first_bad < options_.grace) return;
  const std::optional<Gpu> row = store_.find(gpu.id);
  if (!row || (row->state != State::idle && row->state != State::running)) return;
  const bool failed =
      store_
          .change({.id = row->id, .version = row->version, .event = Event::fail, .last_error = why},
                  {options_.who, why})
          .has_value();
  if (failed) log::warn("a GPU failed", {{"gpu", gpu.id.text}, {"error", why}});
}

}  // namespace navtalk
