#include "server/gateway/session/suspects.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <iterator>
#include <set>

#include "core/log/log.h"
#include "core/net/url.h"
#include "scheduler/health/worker_client.h"
#include "server/http/as_tuple.h"

namespace navtalk::server {
namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr auto k_avoid = 30s;
constexpr std::size_t k_avoided_by_all = 2;  // clients whose sessions failed on a GPU
constexpr auto k_pause = 1s;                 // before a worker is asked again, or the store
constexpr auto k_patience = 2s;              // with a worker's answer
constexpr int k_asks = 2;

std::int64_t whole_seconds(Suspects::Clock::duration length) {
  return std::chrono::duration_cast<std::chrono::seconds>(length).count();
}

}  // namespace

Suspects::Suspects(asio::any_io_executor executor, Allocator& allocator,
                   BlockingThreads& store_calls, BlockingThreads& worker_calls,
                   WorkerTokens worker_tokens)
    : executor_(std::move(executor)),
      allocator_(allocator),
      store_calls_(store_calls),
      worker_calls_(worker_calls),
      worker_tokens_(std::move(worker_tokens)) {}

void Suspects::session_failed(const Lease& lease, SessionFault::Kind kind,
                              const std::string& client, const std::string& why,
                              Clock::duration age) {
  failures_.push_back({client, lease.gpu, Clock::now()});
  open(lease, why,
       {{.gpu = lease.gpu,
         .client = client,
         .kind = kind,
         .early_age = std::chrono::duration_cast<Duration>(age)}});
}

void Suspects::session_lasted(const Lease& lease, const std::string& client, Clock::duration age,
                              bool cut) {
  store_calls_.post([&allocator = allocator_, lease, client, cut] {
    try {
      allocator.session_lasted(lease, client, cut);
    } catch (const std::exception& error) {
      log::warn("a session that lasted could not be recorded", {{"error", error.what()}});
    }
  });
  if (!cut) return;
  failures_.push_back({client, lease.gpu, Clock::now()});
  open(lease, "its connection was cut after " + std::to_string(whole_seconds(age)) + " s",
       {{.gpu = lease.gpu,
         .client = client,
         .kind = SessionFault::Kind::cut,
         .age = std::chrono::duration_cast<Duration>(age)}});
}

std::vector<GpuId> Suspects::avoided_by(const std::string& client) {
  const auto since = Clock::now() - k_avoid;
  std::erase_if(failures_, [&](const Failure& failure) { return failure.at < since; });
  std::map<GpuId, std::set<std::string>> clients;
  for (const Failure& failure : failures_) clients[failure.gpu].insert(failure.client);
  std::vector<GpuId> gpus;
  for (const auto& [gpu, failed] : clients) {
    if (failed.contains(client) || failed.size() >= k_avoided_by_all) gpus.push_back(gpu);
  }
  return gpus;
}

void Suspects::open(const Lease& lease, const std::string& why, std::vector<SessionFault> faults) {
  const auto [entry, fresh] = cases_.try_emplace(lease.gpu);
  Case& opened = entry->second;
  opened.lease = lease;
  opened.due = true;
  opened.last_fault = why;
  std::move(faults.begin(), faults.end(), std::back_inserter(opened.faults));
  if (fresh) asio::co_spawn(executor_, examine(lease.gpu), asio::detached);
}

asio::awaitable<void> Suspects::examine(GpuId gpu) {
  while (cases_.at(gpu).due) {
    const Lease lease = cases_.at(gpu).lease;
    const Answer answer = co_await ask(lease);
    Case& suspect = cases_.at(gpu);
    suspect.due = false;
    if (!answer.asked) {
      log::warn("a worker on which a session failed could not be asked",
                {{"gpu", gpu.text}, {"error", answer.why}});
      suspect.faults.clear();
      continue;
    }
    WorkerReport found;
    found.gpu = gpu;
    found.answer = answer.answer;
    found.why_unwell = answer.why;
    found.faults = std::exchange(suspect.faults, {});
    found.last_fault = suspect.last_fault;
    co_await tell(found);
  }
  cases_.erase(gpu);
}

// Twice before it counts as unwell.
asio::awaitable<Suspects::Answer> Suspects::ask(const Lease& lease) {
  const auto until = Clock::now() + allocator_.options().lease;
  const auto work = [this, &lease] { return ask_once(lease); };
  Answer answer;
  for (int unwell = 0; unwell < k_asks;) {
    answer = co_await worker_calls_.run(work);
    if (answer.asked && answer.answer == WorkerReport::Answer::well) co_return answer;
    if (answer.asked) ++unwell;
    if (!answer.asked && Clock::now() >= until) co_return answer;
    if (unwell < k_asks) co_await pause();
  }
  co_return answer;
}

Suspects::Answer Suspects::ask_once(const Lease& lease) const {
  using enum WorkerReport::Answer;
  try {
    WorkerClient client(worker_tokens_.of(lease),
                        {.connect_timeout = k_patience, .timeout = k_patience});
    const WorkerAnswer answer = client.health(lease.url);
    if (const auto* fault = std::get_if<WorkerFault>(&answer)) {
      const bool nobody_listens = fault->kind == WorkerFault::Kind::refused;
      return {.answer = nobody_listens && parse_http_url(lease.url).loopback() ? gone : unwell,
              .asked = fault->kind != WorkerFault::Kind::shortage,
              .why = fault->message};
    }
    const std::optional<std::string> why = why_unready(std::get<WorkerHealth>(answer), false);
    return {.answer = why ? unwell : well, .why = why.value_or("")};
  } catch (const Error& error) {
    return {.answer = unwell, .why = error.message()};  // its URL is not valid
  }
}

// Tries again for as long as a lease lasts, as SlotClaim::release() does.
asio::awaitable<void> Suspects::tell(const WorkerReport& report) {
  const auto until = Clock::now() + allocator_.options().lease;
  const auto work = [this, &report] { allocator_.judge(report); };
  for (;;) {
    std::string problem;
    try {
      co_await store_calls_.run(work);
      co_return;
    } catch (const std::exception& error) {
      problem = error.what();
    }
    if (Clock::now() >= until) {
      log::warn("what is known of a worker could not be recorded",
                {{"gpu", report.gpu.text}, {"error", problem}});
      co_return;
    }
    co_await pause();
  }
}

asio::awaitable<void> Suspects::pause() {
  asio::steady_timer timer(executor_, k_pause);
  co_await timer.async_wait(k_tuple);
}

}  // namespace navtalk::server
