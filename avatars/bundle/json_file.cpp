#include "avatars/bundle/json_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <optional>

#include "core/base/error.h"

namespace navtalk {
namespace {

constexpr int k_max_coordinate = 1 << 20;

}  // namespace

void write_text_whole(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::path beside = path;
  beside += ".new";
  std::ofstream file(beside, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  std::error_code error;
  if (file) std::filesystem::rename(beside, path, error);
  if (!file || error)
    throw Error(Code::failed,
                fmt::format("cannot write {}: {}", path.string(),
                            error ? error.message() : std::string(std::strerror(errno))));
}

JsonValue JsonValue::at(const char* key) const {
  if (!value_.is_object()) refuse("must be an object");
  const auto found = value_.find(key);
  const std::string name = where_ + (where_.ends_with(' ') ? "" : ".") + key;
  if (found == value_.end()) throw Error(Code::invalid, name + ": missing");
  return {*found, name};
}

JsonValue JsonValue::at(std::size_t index) const {
  return {value_.at(index), fmt::format("{}[{}]", where_, index)};
}

std::size_t JsonValue::list_size() const {
  if (!value_.is_array()) refuse("must be a list");
  return value_.size();
}

std::int64_t JsonValue::integer(std::int64_t min, std::int64_t max) const {
  const bool fits = value_.is_number_integer() &&
                    !(value_.is_number_unsigned() &&
                      value_.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX));
  const std::int64_t number = fits ? value_.get<std::int64_t>() : 0;
  if (!fits || number < min || number > max)
    refuse(fmt::format("must be a whole number from {} to {}", min, max));
  return number;
}

double JsonValue::number(double min, double max) const {
  const double number = value_.is_number() ? value_.get<double>() : min - 1;
  if (!(number >= min && number <= max))
    refuse(fmt::format("must be a number from {} to {}", min, max));
  return number;
}

FrameRate JsonValue::frame_rate(const FrameRate& highest) const {
  std::optional<FrameRate> rate;
  if (value_.is_string()) rate = parse_frame_rate(value_.get_ref<const std::string&>());
  if (value_.is_number_integer()) rate = static_cast<int>(integer(1, INT32_MAX));
  if (!rate || *rate < 1 || *rate > highest)
    refuse(fmt::format("must be a whole number from 1 to {}, or a text such as \"30000/1001\"",
                       navtalk::text(highest)));
  return *rate;
}

std::string JsonValue::text(std::size_t max_bytes) const {
  if (!value_.is_string()) refuse("must be a string");
  auto result = value_.get<std::string>();
  if (result.size() > max_bytes) refuse(fmt::format("longer than {} bytes", max_bytes));
  return result;
}

bool JsonValue::boolean() const {
  if (!value_.is_boolean()) refuse("must be true or false");
  return value_.get<bool>();
}

Box JsonValue::box() const {
  if (list_size() != 4) refuse("must be [x1, y1, x2, y2]");
  int corner[4];
  for (std::size_t i = 0; i < 4; ++i)
    corner[i] = static_cast<int>(at(i).integer(-k_max_coordinate, k_max_coordinate));
  const Box box{corner[0], corner[1], corner[2], corner[3]};
  if (box.empty()) refuse("is empty: x2 must exceed x1, and y2 must exceed y1");
  return box;
}

void JsonValue::refuse(const std::string& why) const {
  throw Error(Code::invalid, fmt::format("{} {}", where_, why));
}

}  // namespace navtalk
