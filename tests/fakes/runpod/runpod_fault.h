// One answer of the fake Runpod that is not the usual one.
#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

namespace navtalk::tests {

struct RunpodFault {
  enum class How { answer, hang, reset, close, garbage };

  std::string call = "*";              // create, list, get, delete, start, stop, catalog, bill
  int skip = 0;                        // calls that still go well
  int times = 1;                       // then so many go wrong; negative: all
  bool acts = false;                   // the call has its effect nevertheless
  std::chrono::milliseconds delay{0};  // before the effect and the answer
  How how = How::answer;
  int status = 500;  // 0: the usual answer (only late, or with other headers)
  std::string body{};
  std::string type = "application/problem+json";
  std::vector<std::pair<std::string, std::string>> headers{};
};

// The documented misbehaviours by name: rate-limited, server-error, done-but-500, done-but-reset,
// done-but-silent, no-capacity, broken-rule, no-money, bad-key, forbidden, edge-html, edge-text,
// conflict, api-gone, not-found, unprocessable, too-large, resume-refused, short-list (a successful
// list without any pod), garbage, silent, reset.
// Throws std::invalid_argument for another name.
RunpodFault fault_named(const std::string& name, const std::string& call);
// The same from {"call", "name"?, "skip", "times", "acts", "delay_ms", "how", "status", "body",
// "type", "headers"}.
RunpodFault fault_from_json(const nlohmann::json& value);

// application/problem+json, as Runpod writes it.
std::string problem_body(int status, const std::string& detail,
                         const std::vector<std::string>& errors = {});

}  // namespace navtalk::tests
