// Waits for jobs of a gateway, with one progress bar over all of them in video-minutes. One thread.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cmd/context.h"
#include "cmd/job/remote/job_client.h"

namespace navtalk::cmd {

bool is_over(const nlohmann::json& job);
// Calls `over` with each job once it is over, in the order in which they end.
void follow_jobs(JobClient& client, std::vector<nlohmann::json> jobs, Context& context,
                 const std::function<void(const nlohmann::json&)>& over);

}  // namespace navtalk::cmd
