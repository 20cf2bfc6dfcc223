#include "server/worker/session/slot_request.h"

#include <limits>

#include "core/text/number.h"
#include "scheduler/health/worker_protocol.h"

namespace navtalk::server {
namespace {

constexpr std::size_t k_longest_lease = 128;  // bytes
// What the column of a store holds. A higher one would fence the slot against every claim to come.
constexpr std::uint64_t k_highest_epoch = std::numeric_limits<std::int64_t>::max();

template <class Number>
Number number_parameter(const Request& request, std::string_view name) {
  const auto number = parse_number<Number>(request.parameter(name).value_or(""));
  if (!number) throw Error(Code::usage, std::string(name) + " is missing or not a number");
  return *number;
}

}  // namespace

SlotRequest parse_slot_request(const Request& request) {
  SlotRequest parsed;
  parsed.lease = request.parameter("lease").value_or("");
  if (parsed.lease.empty() || parsed.lease.size() > k_longest_lease) {
    throw Error(Code::usage,
                "lease is missing or longer than " + std::to_string(k_longest_lease) + " bytes");
  }
  parsed.epoch = number_parameter<std::uint64_t>(request, "epoch");
  if (parsed.epoch > k_highest_epoch) {
    throw Error(Code::usage, "epoch is higher than " + std::to_string(k_highest_epoch) +
                                 ", which no pool gives out");
  }
  if (request.parameter("slot")) parsed.slot = number_parameter<int>(request, "slot");
  return parsed;
}

Response refusal_of(const SlotAnswer& answer, const SlotRequest& request) {
  switch (answer.verdict) {
    case SlotAnswer::Verdict::stale:
      return error_response(409, k_stale_epoch,
                            "epoch " + std::to_string(request.epoch) + " is over: slot " +
                                std::to_string(answer.slot) + " has seen " +
                                std::to_string(answer.seen));
    case SlotAnswer::Verdict::no_such_slot:
      return error_response(400, "usage",
                            "this worker has no slot " + std::to_string(*request.slot));
    default:
      return error_response(503, "no_capacity", "every slot of this worker is taken");
  }
}

}  // namespace navtalk::server
