// Runpod's API key: from a file or RUNPOD_API_KEY, never from the command line. The type keeps it
// from being printed by accident.
#pragma once

#include <filesystem>
#include <string>

namespace navtalk::runpod {

class ApiKey {
 public:
  explicit ApiKey(std::string text) : text_(std::move(text)) {}

  // For the Authorization header only.
  std::string bearer() const { return "Bearer " + text_; }
  // `text` with the key struck out, should a server have quoted it.
  std::string struck_from(std::string text) const;

 private:
  std::string text_;
};

// The file's first line; without a file, RUNPOD_API_KEY. Warns of a file that others may read.
// Error{invalid}: no key there, or one that no header can carry.
ApiKey read_api_key(const std::filesystem::path& file);
// Is a file named, or the variable set?
bool has_api_key(const std::filesystem::path& file);

}  // namespace navtalk::runpod
