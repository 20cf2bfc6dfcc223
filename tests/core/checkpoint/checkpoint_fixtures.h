// What the tests of the file readers share.
#pragma once

#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "tests/temporary_directory.h"

// A file of tests/fixtures/checkpoints, which make_checkpoints.py wrote.
inline std::filesystem::path fixture(const std::string& name) {
  return std::filesystem::path(NAVTALK_FIXTURES) / "checkpoints" / name;
}

inline std::vector<std::byte> content_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

// A file with the given content that goes away with the object.
class ScratchFile {
 public:
  explicit ScratchFile(const std::string& content) : path_(directory_ / "file") {
    std::ofstream(path_, std::ios::binary) << content;
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  navtalk::tests::TemporaryDirectory directory_;
  std::filesystem::path path_;
};

// The code of the Error that the action throws; nullopt when it throws none.
template <class Action>
std::optional<navtalk::Code> failure_of(const Action& action) {
  try {
    action();
  } catch (const navtalk::Error& error) {
    return error.code();
  }
  return std::nullopt;
}
