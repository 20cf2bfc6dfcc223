#include "core/files/json_object.h"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/files/whole_file.h"
#include "core/text/bounded_json.h"

namespace navtalk {
namespace {

constexpr int k_max_levels = 4;

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

}  // namespace

nlohmann::json read_json_object(const std::filesystem::path& path, std::size_t max_bytes) {
  auto parsed =
      parse_bounded(read_text(path, max_bytes), {.bytes = max_bytes, .levels = k_max_levels});
  if (const auto* refusal = std::get_if<JsonRefusal>(&parsed)) {
    const bool deep = refusal->why == JsonRefusal::Why::too_deep;
    throw Error(Code::invalid,
                fmt::format("{}: {}", path.string(),
                            deep ? "nested too deeply" : "not JSON: " + refusal->detail));
  }
  auto& value = std::get<nlohmann::json>(parsed);
  if (!value.is_object())
    throw Error(Code::invalid, fmt::format("{}: not a JSON object", path.string()));
  return std::move(value);
}

}  // namespace navtalk
