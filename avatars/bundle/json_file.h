// A bundle's JSON files: every complaint about a value names the file and the key. Private to
// avatars: nlohmann's header is a heavy one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "core/base/frame_rate.h"
#include "core/files/json_object.h"
#include "core/tensor/image.h"

namespace navtalk {

// Writes `text` beside `path` and renames it there; Error{failed}.
void write_text_whole(const std::filesystem::path& path, const std::string& text);

// A value inside a file, and its name for messages: "faces.json: frames[3].box".
class JsonValue {
 public:
  JsonValue(const nlohmann::json& value, std::string where)
      : value_(value), where_(std::move(where)) {}

  const std::string& where() const { return where_; }
  bool is_null() const { return value_.is_null(); }
  bool has(const char* key) const { return value_.is_object() && value_.contains(key); }
  JsonValue at(
      const char* key) const;  // Error{invalid} when this is not an object or lacks the key
  JsonValue at(std::size_t index) const;  // of a list, inside its size
  std::size_t list_size() const;          // Error{invalid} when this is not a list
  std::int64_t integer(std::int64_t min, std::int64_t max) const;
  double number(double min, double max) const;
  // From 1 to `highest`: a whole number, or a text such as "30000/1001".
  FrameRate frame_rate(const FrameRate& highest) const;
  std::string text(std::size_t max_bytes) const;
  bool boolean() const;
  Box box() const;  // [x1,y1,x2,y2], not empty
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  const nlohmann::json& value_;
  std::string where_;
};

}  // namespace navtalk
