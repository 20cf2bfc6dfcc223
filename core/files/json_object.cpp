#include "core/files/json_object.h"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "core/base/error.h"
#include "core/files/whole_file.h"

namespace navtalk {
namespace {

constexpr int k_max_depth = 4;

std::string read_text(const std::filesystem::path& path, std::size_t max_bytes) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    throw Error(Code::not_found, fmt::format("{}: no such file", path.string()));
  const auto size = std::filesystem::file_size(path, error);
  if (error || size > max_bytes)
    throw Error(Code::invalid,
                fmt::format("{}: larger than the {} bytes allowed", path.string(), max_bytes));
  std::string text(size, '\0');
  std::ifstream file(path, std::ios::binary);
  if (!file.read(text.data(), static_cast<std::streamsize>(text.size())))
    throw Error(Code::failed,
                fmt::format("cannot read {}: {}", path.string(), system_message(errno)));
  return text;
}

// "[json.exception.parse_error.101] parse error at line 1, column 3: ..." without the library's own number.
std::string_view reason(std::string_view what) {
  const std::size_t end = what.find("] ");
  return what.starts_with('[') && end != std::string_view::npos ? what.substr(end + 2) : what;
}

}  // namespace

nlohmann::json read_json_object(const std::filesystem::path& path, std::size_t max_bytes) {
  const std::string text = read_text(path, max_bytes);
  // Refused while parsing: a deeply nested file would cost far more memory than its size.
  const auto limit_depth = [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    if (depth > k_max_depth)
      throw Error(Code::invalid, fmt::format("{}: nested too deeply", path.string()));
    return true;
  };
  try {
    nlohmann::json value = nlohmann::json::parse(text, limit_depth);
    if (!value.is_object())
      throw Error(Code::invalid, fmt::format("{}: not a JSON object", path.string()));
    return value;
  } catch (const nlohmann::json::exception& error) {
    throw Error(Code::invalid,
                fmt::format("{}: not JSON: {}", path.string(), reason(error.what())));
  }
}

}  // namespace navtalk
