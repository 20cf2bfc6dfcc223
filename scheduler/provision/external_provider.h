// GPUs that an operator registered by URL. Nothing is created or destroyed; the worker itself is
// asked to unload its weights and to load them again.
#pragma once

#include "scheduler/health/worker_tokens.h"
#include "scheduler/provision/provider.h"

namespace navtalk {

class ExternalProvider : public Provider {
 public:
  explicit ExternalProvider(WorkerTokens tokens) : tokens_(std::move(tokens)) {}

  Source source() const override { return Source::external; }
  Outcome create(const Gpu& gpu, const std::stop_token& stop) override;
  Outcome wake(const Gpu& gpu, const std::stop_token& stop) override;
  Outcome pause(const Gpu& gpu, const std::stop_token& stop) override;
  Outcome destroy(const Gpu& gpu, const std::stop_token& stop) override;
  Listing list(const std::stop_token& stop) override;
  // Nothing but its row stands for a registered worker.
  Lookup find(const Gpu& gpu, const std::stop_token& stop) override;
  int creatable(const std::vector<Gpu>& existing) const override;
  double expected_usd_per_hour() const override { return 0; }

 private:
  const WorkerTokens tokens_;
};

}  // namespace navtalk
