// The processes of `bench pool`: each is this program again, told by its environment to be one
// gateway that claims and releases slots, as fast as the store lets it.
//
//   parent ── {"store","name","seconds"} ──► ready
//          ── take    ──► {"leases":[[gpu, slot], ...]}     claims until nothing is left
//          ── release ──► {}                                gives them back
//          ── churn   ──► {"claim_us":[...],"release_us":[...],"refused":N}
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <stop_token>
#include <string>

#include "cmd/bench/child_process.h"

namespace navtalk::cmd {

// Is this process such a client? Then client_main() is all that it does.
bool is_pool_client();
int client_main(const std::stop_token& stop);

// The parent's end.
class PoolClient {
 public:
  PoolClient();

  void tell(const std::string& line) { process_.tell(line); }
  // The next line of its answer; errors of ChildProcess::line().
  std::string line(const std::stop_token& stop) { return process_.line(stop); }
  nlohmann::json answer(const std::stop_token& stop);

 private:
  ChildProcess process_;
};

}  // namespace navtalk::cmd
