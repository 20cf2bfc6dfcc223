#include "core/base/environment.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string_view>

namespace navtalk {
namespace {

// One for the process, as the environment is.
std::map<std::string, std::string, std::less<>>& withdrawn() {
  static std::map<std::string, std::string, std::less<>> values;
  return values;
}

// Where the system has put it: unsetenv() would leave the bytes there.
void wipe(std::string_view name) {
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const bool same = text.starts_with(name) && text.substr(name.size()).starts_with('=');
    if (same) ::explicit_bzero(*entry + name.size() + 1, text.size() - name.size() - 1);
  }
}

}  // namespace

std::string environment_value(const char* name) {
  if (const char* value = std::getenv(name)) return value;
  const auto found = withdrawn().find(std::string_view(name));
  return found == withdrawn().end() ? "" : found->second;
}

void withdraw_from_environment(std::span<const char* const> names) {
  for (const char* name : names) {
    const char* value = std::getenv(name);
    if (value == nullptr) continue;
    withdrawn()[name] = value;
    wipe(name);
    ::unsetenv(name);
  }
}

std::vector<std::string> environment_without(std::span<const std::string_view> beginnings) {
  std::vector<std::string> kept;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view variable = *entry;
    const auto begins = [variable](std::string_view name) { return variable.starts_with(name); };
    if (std::ranges::none_of(beginnings, begins)) kept.emplace_back(variable);
  }
  return kept;
}

}  // namespace navtalk
