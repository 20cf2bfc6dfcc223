// The avatar that tests/fixtures/make_musetalk_avatar.py writes: three frames of 95x81, forwards and backwards.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/temporary_directory.h"

namespace navtalk::tests {

inline const std::filesystem::path k_musetalk_avatar = NAVTALK_FIXTURES "/musetalk_avatar";

// A copy that a test may spoil.
inline std::filesystem::path copied_avatar(const TemporaryDirectory& base) {
  const std::filesystem::path folder = base / "musetalk";
  std::filesystem::copy(k_musetalk_avatar, folder, std::filesystem::copy_options::recursive);
  return folder;
}

inline std::string file_name(int number) {
  const std::string digits = std::to_string(number);
  return std::string(8 - digits.size(), '0') + digits + ".png";
}

inline std::string content(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace navtalk::tests
