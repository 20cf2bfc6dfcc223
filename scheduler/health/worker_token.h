// The secret from which a pool derives its workers' tokens (worker_tokens.h); and, for a worker, the
// one token that it asks for.
#pragma once

#include <filesystem>
#include <string>

#include "core/files/secret_file.h"

namespace navtalk {

// The variable NAVTALK_WORKER_TOKEN, as every NAVTALK_ variable overrides the configuration's file;
// else the first line of `file`; see read_secret().
std::string worker_token(const std::filesystem::path& file,
                         MissingSecret missing = MissingSecret::refuse);

}  // namespace navtalk
