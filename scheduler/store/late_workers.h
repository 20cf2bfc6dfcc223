// Workers that render offline work and have missed a heartbeat, so that no gateway gives them more of it. Kept with the leases of their
// slots, whose end ends the mark. Thread-safe; shared by processes.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/pool/session.h"
#include "scheduler/store/transaction.h"

namespace navtalk {

class LateWorkers {
 public:
  explicit LateWorkers(std::shared_ptr<StoreBackend> backend) : backend_(std::move(backend)) {}

  // Of this gateway's leases of offline work those whose workers have missed a heartbeat, and no others. Error{failed} when the
  // database cannot be reached.
  void mark(const std::string& gateway, const std::vector<LeaseId>& late);

 private:
  std::shared_ptr<StoreBackend> backend_;
};

// Of all gateways.
std::vector<GpuId> late_gpus(Transaction& transaction);

}  // namespace navtalk
