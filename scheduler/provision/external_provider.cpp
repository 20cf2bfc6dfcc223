#include "scheduler/provision/external_provider.h"

#include "core/base/error.h"
#include "scheduler/health/worker_client.h"

namespace navtalk {
namespace {

using Call = std::optional<WorkerFault> (WorkerClient::*)(const std::string&,
                                                          const std::stop_token&);

Outcome asked(const WorkerTokens& tokens, const Gpu& gpu, Call call, const std::stop_token& stop) {
  try {
    WorkerClient worker(tokens.of(gpu));
    const std::optional<WorkerFault> fault = (worker.*call)(gpu.url, stop);
    if (!fault) return Done{};
    if (fault->kind == WorkerFault::Kind::shortage) return UnknownOutcome{fault->message};
    return Failure{fault->message};
  } catch (const Error& error) {
    return Failure{error.message()};  // its URL may not be asked
  }
}

}  // namespace

Outcome ExternalProvider::create(const Gpu& gpu, const std::stop_token&) {
  return Refused{.message = gpu.id.text + " is registered, not created"};
}

Outcome ExternalProvider::wake(const Gpu& gpu, const std::stop_token& stop) {
  return asked(tokens_, gpu, &WorkerClient::wake, stop);
}

Outcome ExternalProvider::pause(const Gpu& gpu, const std::stop_token& stop) {
  return asked(tokens_, gpu, &WorkerClient::pause, stop);
}

Outcome ExternalProvider::destroy(const Gpu&, const std::stop_token&) { return Done{}; }

Listing ExternalProvider::list(const std::stop_token&) { return {.complete = true}; }

Lookup ExternalProvider::find(const Gpu&, const std::stop_token&) { return NotFound{}; }

int ExternalProvider::creatable(const std::vector<Gpu>&) const { return 0; }

}  // namespace navtalk
