// A file as FFmpeg's input. Our own reads instead of FFmpeg's protocols, so that a name such as
// "http:x" or "-" is only a name, a playlist cannot pull in other files, and a stop request ends a
// long read. One thread owns it. Private to core/media.
#pragma once

#include <filesystem>
#include <memory>
#include <stop_token>

#include "core/base/unique_fd.h"
#include "core/media/ffmpeg.h"

namespace navtalk::media {

class ByteSource {
 public:
  ByteSource(const std::filesystem::path& path, std::stop_token stop);  // errors of open_input
  // An open file, which `name` names.
  ByteSource(UniqueFd file, const std::filesystem::path& name, std::stop_token stop);
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  AVIOContext* io() { return io_; }
  // Error{failed} once a read has failed: then the machine is at fault, whatever FFmpeg says of the bytes.
  void throw_if_failed() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  AVIOContext* io_ = nullptr;
};

}  // namespace navtalk::media
