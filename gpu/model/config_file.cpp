#include "gpu/model/config_file.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/files/json_object.h"

namespace navtalk {
namespace {

using nlohmann::json;

constexpr std::size_t k_max_bytes = std::size_t{1} << 20;

json parse(const std::filesystem::path& path) {
  try {
    return read_json_object(path, k_max_bytes);
  } catch (const Error& error) {
    if (error.code() != Code::not_found) throw;
    throw Error(Code::not_found,
                error.message() + "; name a folder laid out as MuseTalk's models/");
  }
}

}  // namespace

ConfigFile::ConfigFile(const std::filesystem::path& path)
    : path_(path), object_(std::make_unique<const json>(parse(path))) {}
ConfigFile::~ConfigFile() = default;

const json* ConfigFile::find(const char* field) const {
  const auto found = object_->find(field);
  return found == object_->end() ? nullptr : &*found;
}

void ConfigFile::refuse(const char* field, std::string_view reason) const {
  const json* value = find(field);
  throw Error(Code::invalid, fmt::format("{}: {}{}: {}", path_.native(), field,
                                         value ? fmt::format(" = {}", value->dump()) : "", reason));
}

int ConfigFile::whole(const char* field, const json& value, int most) const {
  if (!value.is_number_integer() || value < 1 || value > most)
    refuse(field, fmt::format("must be a whole number from 1 to {}", most));
  return value.get<int>();
}

int ConfigFile::size(const char* field, int absent, int most) const {
  const json* value = find(field);
  return value ? whole(field, *value, most) : absent;
}

std::vector<int> ConfigFile::sizes(const char* field, int absent, int most,
                                   std::size_t count) const {
  const json* value = find(field);
  if (!value || !value->is_array()) return std::vector<int>(count, size(field, absent, most));
  if (value->size() != count) refuse(field, fmt::format("must have {} values, or be one", count));
  return size_list(field, {}, most, count);
}

std::vector<int> ConfigFile::size_list(const char* field, std::vector<int> absent, int most,
                                       std::size_t most_count) const {
  const json* value = find(field);
  if (!value) return absent;
  if (!value->is_array() || value->empty() || value->size() > most_count)
    refuse(field, fmt::format("must be a list of 1 to {} numbers", most_count));
  std::vector<int> list;
  for (const json& entry : *value) list.push_back(whole(field, entry, most));
  return list;
}

double ConfigFile::positive(const char* field, double absent) const {
  const json* value = find(field);
  if (!value) return absent;
  if (!value->is_number() || value->get<double>() <= 0) refuse(field, "must be a positive number");
  return value->get<double>();
}

void ConfigFile::require(const char* field, const json& value) const {
  const json* found = find(field);
  if (found && *found != value)
    refuse(field, fmt::format("navtalk has only the structure with {}", value.dump()));
}

}  // namespace navtalk
