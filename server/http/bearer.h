// The shared secret between gateway and worker: `Authorization: Bearer TOKEN`.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "server/http/message.h"

namespace navtalk::server {

// From the file if one is named, else from NAVTALK_WORKER_TOKEN; "" when there is none.
// Error{invalid} names the file, never what is in it.
std::string worker_token(const std::filesystem::path& file);

// Does the request carry the token? Takes equally long wherever the two differ. True without a
// token.
bool bears(const Request& request, std::string_view token);

}  // namespace navtalk::server
