#include "avatars/exchange/scratch_file.h"

#include <fmt/format.h>

#include <cerrno>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/checkpoint/stored_tensor.h"
#include "core/files/whole_file.h"

namespace navtalk {

ScratchFile::ScratchFile(std::filesystem::path file)
    : file_(std::move(file)), out_(file_, std::ios::binary | std::ios::trunc) {
  if (!out_)
    throw Error(Code::failed,
                fmt::format("{} cannot be written: {}", file_.string(), system_message(errno)));
}

ScratchFile::~ScratchFile() {
  std::error_code ignored;
  std::filesystem::remove(file_, ignored);
}

void ScratchFile::append(std::span<const std::byte> bytes) {
  NAVTALK_CHECK(!mapped_);
  empty_ = empty_ && bytes.empty();
  // iostream wants char; any object may be read as such.
  if (!out_.write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes)))
    throw Error(Code::failed,
                fmt::format("{} cannot be written: {}", file_.string(), system_message(errno)));
}

std::span<const std::byte> ScratchFile::map() {
  if (empty_) return {};
  if (!mapped_) {
    out_.close();
    if (!out_)
      throw Error(Code::failed,
                  fmt::format("{} cannot be written: {}", file_.string(), system_message(errno)));
    mapped_ = MappedFile::open(file_, k_max_checkpoint_bytes, 0);
  }
  return mapped_->bytes();
}

}  // namespace navtalk
