// Content that is being downloaded into the cache: a file that grows until it has all bytes and the
// right SHA-256. One process at a time holds it. What was written stays when that process ends, and the
// next one continues. One owner, one thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

#include "core/base/unique_fd.h"

namespace navtalk {

class PartialBlob {
 public:
  // Waits until no other process holds the file; makes it if it is missing. Error{failed};
  // Error{interrupted} or Error{terminated} on a stop request.
  PartialBlob(std::filesystem::path path, std::uint64_t bytes, const std::stop_token& stop);

  std::uint64_t size() const { return size_; }     // bytes so far
  std::uint64_t wanted() const { return bytes_; }  // bytes when complete
  // Called with size() after each piece.
  std::function<void(std::uint64_t)> on_growth{};

  void restart();  // all bytes are dropped
  // False, and nothing is written, when it would have more bytes than wanted(). Error{failed} when the
  // disk is full.
  bool append(std::string_view bytes);
  // Is it complete, with this SHA-256? Reads all of it.
  bool is_whole(const std::string& sha256) const;
  // Makes it read-only and renames it on the same disk. The last call.
  void become(const std::filesystem::path& blob);
  const std::filesystem::path& path() const { return path_; }

 private:
  [[noreturn]] void fail(int reason) const;

  std::filesystem::path path_;
  std::uint64_t bytes_ = 0, size_ = 0;
  UniqueFd file_;
};

}  // namespace navtalk
