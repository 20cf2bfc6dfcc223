// The secret that a pool and its workers share, for every process that shows it or asks for it.
#pragma once

#include <filesystem>
#include <string>

namespace navtalk {

// What happens when the token's file does not exist.
enum class MissingToken {
  refuse,
  create,  // a fresh token, readable by its owner alone; of two processes one creates it
};

// The variable NAVTALK_WORKER_TOKEN, as every NAVTALK_ variable overrides the configuration's file;
// where it is missing or empty, the first line of `file`; "" when `file` is empty too. White space
// at both ends does not count. Error{invalid} names the file, never what is in it.
std::string worker_token(const std::filesystem::path& file,
                         MissingToken missing = MissingToken::refuse);

}  // namespace navtalk
