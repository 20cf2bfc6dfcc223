// A secret of one line, from a variable or from a file of its own, which may be made at first use.
// Stateless.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace navtalk {

struct SecretKind {
  const char* name;      // for messages: "worker token"
  const char* variable;  // overrides every file
};

// What happens when the secret's file does not exist.
enum class MissingSecret : std::uint8_t {
  refuse,
  create,  // a fresh secret, readable by its owner alone; of two processes one creates it
};

// The variable; where it is missing or empty, the first line of `file`; "" when `file` is empty too.
// White space at both ends does not count. A file that others can read is warned about.
// Error{invalid} for control characters within too; it names the variable or the file, never what is in it.
std::string read_secret(const SecretKind& kind, const std::filesystem::path& file,
                        MissingSecret missing = MissingSecret::refuse);
// The file alone, whatever the variable holds; the same warning and errors.
std::string read_secret_file(const SecretKind& kind, const std::filesystem::path& file);

}  // namespace navtalk
