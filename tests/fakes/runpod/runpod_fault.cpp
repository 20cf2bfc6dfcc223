#include "tests/fakes/runpod/runpod_fault.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace navtalk::tests {
namespace {

using How = RunpodFault::How;

RunpodFault problem_fault(int status, const std::string& detail) {
  return {.status = status, .body = problem_body(status, detail)};
}

struct Named {
  const char* name;
  RunpodFault fault;
};

std::vector<Named> named_faults() {
  RunpodFault limited = problem_fault(429, "rate limit exceeded for the minute window");
  limited.headers = {{"Retry-After", "1"}, {"RateLimit", "\"minute\";r=0;t=1"}};
  RunpodFault done_but_500 = problem_fault(500, "internal error");
  done_but_500.acts = true;
  return {
      {"rate-limited", limited},
      {"server-error", problem_fault(500, "internal error")},
      {"done-but-500", done_but_500},
      {"done-but-reset", {.acts = true, .how = How::reset}},
      {"done-but-silent", {.acts = true, .how = How::hang}},
      {"no-capacity",
       problem_fault(400,
                     "There are no longer any instances available with the requested "
                     "specifications. Please refresh and try again.")},
      {"broken-rule", problem_fault(400, "request could not be processed")},
      {"no-money", problem_fault(402, "insufficient balance")},
      {"bad-key", problem_fault(401, "invalid API key")},
      {"forbidden", problem_fault(403, "access denied")},
      {"edge-html", {.status = 403, .body = "<html><h1>Blocked</h1></html>", .type = "text/html"}},
      {"edge-text", {.status = 403, .body = "error code: 1010", .type = "text/plain"}},
      {"conflict", problem_fault(409, "the action is not valid in this status")},
      {"api-gone", problem_fault(410, "this API version has ended")},
      {"not-found", problem_fault(404, "resource not found")},
      {"unprocessable", problem_fault(422, "Request validation failed.")},
      {"too-large", problem_fault(413, "body too large")},
      {"resume-refused",
       problem_fault(400, "There are not enough free GPUs on the host machine to start this pod.")},
      {"short-list", {.status = 200, .body = R"({"pods": []})", .type = "application/json"}},
      {"garbage", {.how = How::garbage}},
      {"silent", {.how = How::hang}},
      {"reset", {.how = How::reset}},
  };
}

How parse_how(const std::string& text) {
  if (text == "answer") return How::answer;
  if (text == "hang") return How::hang;
  if (text == "reset") return How::reset;
  if (text == "close") return How::close;
  if (text == "garbage") return How::garbage;
  throw std::invalid_argument("no such way to answer: " + text);
}

}  // namespace

std::string problem_body(int status, const std::string& detail,
                         const std::vector<std::string>& errors) {
  nlohmann::json body = {{"title", "Problem"}, {"status", status}, {"detail", detail}};
  if (!errors.empty()) body["errors"] = errors;
  return body.dump();
}

RunpodFault fault_named(const std::string& name, const std::string& call) {
  for (const Named& known : named_faults()) {
    if (known.name != name) continue;
    RunpodFault fault = known.fault;
    fault.call = call;
    return fault;
  }
  throw std::invalid_argument("no such fault: " + name);
}

RunpodFault fault_from_json(const nlohmann::json& value) {
  RunpodFault fault;
  if (value.contains("name")) fault = fault_named(value.at("name"), "*");
  fault.call = value.value("call", fault.call);
  fault.skip = value.value("skip", fault.skip);
  fault.times = value.value("times", fault.times);
  fault.acts = value.value("acts", fault.acts);
  fault.delay = std::chrono::milliseconds(value.value("delay_ms", fault.delay.count()));
  if (value.contains("how")) fault.how = parse_how(value.at("how"));
  fault.status = value.value("status", fault.status);
  fault.body = value.value("body", fault.body);
  fault.type = value.value("type", fault.type);
  if (value.contains("headers")) {
    for (const auto& [name, text] : value.at("headers").items())
      fault.headers.emplace_back(name, text);
  }
  return fault;
}

}  // namespace navtalk::tests
