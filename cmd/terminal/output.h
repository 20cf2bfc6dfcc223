// Standard output, buffered and checked: a full disk or a closed pipe is Error{failed}, never
// silence. One owner, one thread.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace navtalk::cmd {

class Output {
 public:
  explicit Output(int descriptor) : descriptor_(descriptor) {}

  void write(std::string_view text);
  template <class... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    write(fmt::format(format, std::forward<Args>(args)...));
  }
  // One object on one line; bytes that are not UTF-8 become U+FFFD.
  void json(const nlohmann::ordered_json& object);
  void flush();

 private:
  int descriptor_;
  std::string buffer_;
};

// "1 frame", "2 frames".
std::string counted(std::int64_t count, std::string_view noun);

// object[key] = path, and where the path is not UTF-8 also object[key_hex] with its bytes.
void put_path(nlohmann::ordered_json& object, const std::string& key,
              const std::filesystem::path& path);

}  // namespace navtalk::cmd
