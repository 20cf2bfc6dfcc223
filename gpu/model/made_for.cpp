#include "gpu/model/made_for.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/files/json_object.h"

namespace navtalk {

std::vector<std::string> made_for(const std::filesystem::path& models) {
  constexpr std::size_t k_most_bytes = 64 * 1024;
  const std::filesystem::path file = models / k_made_for_file;
  std::error_code none;
  if (!std::filesystem::exists(file, none)) return {};
  const nlohmann::json object = read_json_object(file, k_most_bytes);
  const auto field = object.find("made_for");
  if (field == object.end()) return {};
  try {
    return field->get<std::vector<std::string>>();
  } catch (const nlohmann::json::exception&) {
    throw Error(Code::invalid,
                fmt::format("{}: made_for must be a list of avatars' ids", file.string()));
  }
}

}  // namespace navtalk
