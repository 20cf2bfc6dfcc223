#include "server/http/bearer.h"

#include <cstdlib>

#include "core/files/whole_file.h"
#include "core/text/trim.h"

namespace navtalk::server {
namespace {

constexpr std::string_view k_scheme = "Bearer ";

// A start that names a file that is not there is a wrong configuration.
std::string content_of(const std::filesystem::path& file) {
  try {
    const std::vector<std::uint8_t> bytes = read_file(file);
    return {bytes.begin(), bytes.end()};
  } catch (const Error& error) {
    throw Error(Code::invalid, "the worker token's file " + error.message());
  }
}

bool same(std::string_view given, std::string_view expected) {
  // Lengths may be told apart; which byte differs may not.
  unsigned difference = given.size() == expected.size() ? 0 : 1;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto other = i < given.size() ? static_cast<unsigned char>(given[i]) : 0U;
    difference |= other ^ static_cast<unsigned char>(expected[i]);
  }
  return difference == 0;
}

}  // namespace

std::string worker_token(const std::filesystem::path& file) {
  if (!file.empty()) {
    std::string token(trim(content_of(file)));
    if (token.empty()) throw Error(Code::invalid, file.native() + " holds no token");
    return token;
  }
  const char* token = std::getenv("NAVTALK_WORKER_TOKEN");
  return std::string(trim(token == nullptr ? "" : token));
}

bool bears(const Request& request, std::string_view token) {
  if (token.empty()) return true;
  const std::string header = request.header("authorization").value_or("");
  const std::string_view given(header);
  return given.starts_with(k_scheme) && same(given.substr(k_scheme.size()), token);
}

}  // namespace navtalk::server
