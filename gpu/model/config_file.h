// One of the checkpoint folder's JSON configurations, read field by field. Every complaint is
// Error{invalid} and names the file and the field.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace navtalk {

class ConfigFile {
 public:
  // Error{not_found} when there is no such file.
  explicit ConfigFile(const std::filesystem::path& path);
  ~ConfigFile();
  ConfigFile(const ConfigFile&) = delete;
  ConfigFile& operator=(const ConfigFile&) = delete;

  // A whole number from 1 to `most`; `absent` when the field is not there.
  int size(const char* field, int absent, int most) const;
  // The same, `count` times: from a list of that length, or from one number for all.
  std::vector<int> sizes(const char* field, int absent, int most, std::size_t count) const;
  // A list of 1 to `most_count` sizes.
  std::vector<int> size_list(const char* field, std::vector<int> absent, int most,
                             std::size_t most_count) const;
  double positive(const char* field, double absent) const;
  // Refuses the structure, by name, when the field is there and has another value.
  void require(const char* field, const nlohmann::json& value) const;
  [[noreturn]] void refuse(const char* field, std::string_view reason) const;

 private:
  const nlohmann::json* find(const char* field) const;
  int whole(const char* field, const nlohmann::json& value, int most) const;

  std::filesystem::path path_;
  std::unique_ptr<const nlohmann::json> object_;
};

}  // namespace navtalk
