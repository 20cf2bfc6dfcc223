// A client's session.start as the worker gets it. Pure.
#pragma once

#include <string>

#include "server/gateway/access/permit.h"

namespace navtalk::server {

// `start` with the avatar that the permit allows, whatever the client has asked for; as it is where the
// permit leaves the choice to the client.
std::string bound_start(const std::string& start, const SessionPermit& permit);

}  // namespace navtalk::server
