// The processes of `bench pool`: each is this program again, told by its environment to be one
// gateway that claims and releases slots, as fast as the store lets it.
//
//   parent ── {"store","name","seconds"} ──► ready
//          ── take    ──► {"leases":[[gpu, slot], ...]}     claims until nothing is left
//          ── release ──► {}                                gives them back
//          ── churn   ──► {"claim_us":[...],"release_us":[...],"refused":N}
#pragma once

#include <sys/types.h>

#include <nlohmann/json_fwd.hpp>
#include <stop_token>
#include <string>

#include "core/base/unique_fd.h"

namespace navtalk::cmd {

// Is this process such a client? Then client_main() is all that it does.
bool is_pool_client();
int client_main(const std::stop_token& stop);

// The parent's end. The process is killed with the object, and with the parent.
class PoolClient {
 public:
  PoolClient();
  ~PoolClient();
  PoolClient(PoolClient&& other) noexcept;
  PoolClient& operator=(PoolClient&&) = delete;
  PoolClient(const PoolClient&) = delete;
  PoolClient& operator=(const PoolClient&) = delete;

  void tell(const std::string& line);
  // The next line of its answer. Error{failed} when it ended instead; Error{interrupted},
  // Error{terminated} when a stop is asked.
  std::string line(const std::stop_token& stop);
  nlohmann::json answer(const std::stop_token& stop);

 private:
  pid_t pid_ = -1;
  UniqueFd input_, output_;
  std::string unread_;
};

}  // namespace navtalk::cmd
