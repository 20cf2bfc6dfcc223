// Whether a WebSocket reaches a worker, asked and waited for.
#pragma once

#include <optional>
#include <string>

#include "scheduler/health/worker_client.h"

namespace navtalk::tests {

inline std::optional<WorkerFault> handshake(const std::string& url, const std::string& token,
                                            const std::string& lease = "probe",
                                            std::uint64_t epoch = 0) {
  const Handshake asked =
      handshake_with(url, token, std::chrono::milliseconds(20'000), lease, epoch);
  return handshake_fault(asked, HttpClient().send(asked.request));
}

}  // namespace navtalk::tests
