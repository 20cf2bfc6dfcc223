// What GET /v1/session asks for in its query, and the answer when it is refused. Pure.
#pragma once

#include "server/http/message.h"
#include "server/worker/session/slot_table.h"

namespace navtalk::server {

// Error{usage} when lease or epoch is missing or malformed, or no store gives out such an epoch.
SlotRequest parse_slot_request(const Request& request);
// For a verdict other than opened.
Response refusal_of(const SlotAnswer& answer, const SlotRequest& request);

}  // namespace navtalk::server
