#include "scheduler/provision/external_provider.h"

#include "scheduler/health/worker_client.h"

namespace navtalk {
namespace {

Outcome outcome(const std::optional<WorkerFault>& fault) {
  if (!fault) return Done{};
  if (fault->kind == WorkerFault::Kind::shortage) return UnknownOutcome{fault->message};
  return Failure{fault->message};
}

}  // namespace

Outcome ExternalProvider::create(const Gpu& gpu, const std::stop_token&) {
  return Refused{.message = gpu.id.text + " is registered, not created"};
}

Outcome ExternalProvider::wake(const Gpu& gpu, const std::stop_token& stop) {
  return outcome(WorkerClient(token_).wake(gpu.url, stop));
}

Outcome ExternalProvider::pause(const Gpu& gpu, const std::stop_token& stop) {
  return outcome(WorkerClient(token_).pause(gpu.url, stop));
}

Outcome ExternalProvider::destroy(const Gpu&, const std::stop_token&) { return Done{}; }

Listing ExternalProvider::list(const std::stop_token&) { return {.complete = true}; }

Lookup ExternalProvider::find(const Gpu&, const std::stop_token&) { return NotFound{}; }

int ExternalProvider::room(const std::vector<Gpu>&) const { return 0; }

}  // namespace navtalk
