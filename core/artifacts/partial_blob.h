// Content on its way into the cache: a file that grows, whoever writes it, until it has all bytes and
// the right SHA-256. One process at a time has it; what was written stays when that process ends, so
// that the next one goes on. One owner, one thread.
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
  // Waits until no other process has the file; makes it if it is not there. Error{failed};
  // Error{interrupted} or Error{terminated} on a stop request.
  PartialBlob(std::filesystem::path path, std::uint64_t bytes, const std::stop_token& stop);

  std::uint64_t size() const { return size_; }     // bytes that are there
  std::uint64_t wanted() const { return bytes_; }  // bytes of the whole
  // Called with size() after each piece.
  std::function<void(std::uint64_t)> on_growth{};

  void restart();  // all bytes are dropped
  // False, and nothing is written, when there would be more bytes than wanted. Error{failed} when the
  // disk is full.
  bool append(std::string_view bytes);
  // Whether the whole content is there and has this SHA-256; reads all of it.
  bool is_whole(const std::string& sha256) const;
  // Puts it in place under another name of the same disk, to be changed by nobody; last of all.
  void become(const std::filesystem::path& blob);
  const std::filesystem::path& path() const { return path_; }

 private:
  [[noreturn]] void fail(int reason) const;

  std::filesystem::path path_;
  std::uint64_t bytes_ = 0, size_ = 0;
  UniqueFd file_;
};

}  // namespace navtalk
