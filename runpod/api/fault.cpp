#include "runpod/api/fault.h"

#include <algorithm>
#include <cctype>

#include "core/text/printable.h"
#include "runpod/api/messages.h"
#include "runpod/api/rate_limit.h"

namespace navtalk::runpod {
namespace {

using Kind = ApiFault::Kind;

// A page for people: not of the API, but of something in front of it.
bool is_html(const std::string& body) {
  const std::size_t first = body.find_first_not_of(" \t\r\n");
  return first != std::string::npos && body[first] == '<';
}

Kind kind_of(int status, bool problem_json, bool html) {
  switch (status) {
    case 400:
      return Kind::rejected;
    case 401:
    case 402:
      return Kind::account;
    case 403:
      return problem_json ? Kind::forbidden : Kind::edge_block;
    case 404:
      return html ? Kind::unknown : Kind::not_found;
    case 409:
      return Kind::conflict;
    case 410:
      return Kind::api_gone;
    case 429:
      return Kind::rate_limited;
    default:
      // A redirect or a late interim answer is not a success.
      return status >= 400 && status < 500 ? Kind::bad_request : Kind::unknown;
  }
}

std::string advice(Kind kind) {
  switch (kind) {
    case Kind::account:
      return ": check the API key and the account's balance";
    case Kind::edge_block:
      return ": blocked before it reached the API";
    case Kind::api_gone:
      return ": this version of the API has ended; set runpod.api_url";
    default:
      return "";
  }
}

bool contains_word(const std::string& text, std::string_view words) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  };
  return std::search(text.begin(), text.end(), words.begin(), words.end(), same) != text.end();
}

}  // namespace

ApiFault fault_of(const HttpFault& fault) {
  if (fault.kind == HttpFault::Kind::stopped) return {Kind::stopped, 0, fault.message};
  return {fault.sent ? Kind::unknown : Kind::unreachable, 0, fault.message};
}

ApiFault fault_of(const HttpAnswer& answer) {
  const Problem problem = parse_problem(answer.body);
  ApiFault fault{kind_of(answer.status, problem.is_problem_json, is_html(answer.body)),
                 answer.status};
  fault.message = "HTTP " + std::to_string(answer.status);
  if (problem.is_problem_json) {
    fault.message += ": " + problem.detail;
  } else if (!answer.body.empty()) {
    fault.message += ": " + printable(answer.body.substr(0, 120));
  }
  fault.message += advice(fault.kind);
  if (const auto header = answer.header("retry-after"))
    fault.retry_after = parse_retry_after(*header);
  return fault;
}

bool says_no_capacity(const std::string& message) {
  for (const char* words : {"no longer any instances available", "no instances available",
                            "no instances currently available", "not enough capacity",
                            "out of capacity", "no available machine"}) {
    if (contains_word(message, words)) return true;
  }
  return false;
}

bool says_resume_impossible(const std::string& message) {
  return contains_word(message, "not enough free gpus") ||
         contains_word(message, "no longer any instances available");
}

}  // namespace navtalk::runpod
