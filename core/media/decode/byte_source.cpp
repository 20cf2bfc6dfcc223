#include "core/media/decode/byte_source.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <new>

#include "core/base/error.h"
#include "core/files/whole_file.h"

namespace navtalk::media {
namespace {

constexpr int k_buffer_size = 1 << 16;

}  // namespace

struct ByteSource::Impl {
  const std::filesystem::path path;
  UniqueFd fd;
  std::stop_token stop;
  int error = 0;  // errno of a read

  static int read(void* self, std::uint8_t* buffer, int size) {
    Impl& source = *static_cast<Impl*>(self);
    if (source.stop.stop_requested()) return AVERROR_EXIT;
    ssize_t got = 0;
    do {
      got = ::read(source.fd.value(), buffer, static_cast<std::size_t>(size));
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
      source.error = errno;
      return AVERROR(source.error);
    }
    return got == 0 ? AVERROR_EOF : static_cast<int>(got);
  }

  static std::int64_t seek(void* self, std::int64_t offset, int whence) {
    const Impl& source = *static_cast<Impl*>(self);
    if (whence == AVSEEK_SIZE) {
      struct stat status = {};
      return ::fstat(source.fd.value(), &status) == 0 ? status.st_size : AVERROR(errno);
    }
    const off_t position = ::lseek(source.fd.value(), offset, whence & ~AVSEEK_FORCE);
    return position < 0 ? AVERROR(errno) : position;
  }
};

ByteSource::ByteSource(const std::filesystem::path& path, std::stop_token stop)
    : ByteSource(open_input(path), path, std::move(stop)) {}

ByteSource::ByteSource(UniqueFd file, const std::filesystem::path& name, std::stop_token stop)
    : impl_(new Impl{.path = name, .fd = std::move(file), .stop = std::move(stop)}) {
  const bool seekable = ::lseek(impl_->fd.value(), 0, SEEK_CUR) >= 0;
  auto* buffer = static_cast<std::uint8_t*>(av_malloc(k_buffer_size));
  io_ = avio_alloc_context(buffer, k_buffer_size, 0, impl_.get(), Impl::read, nullptr,
                           seekable ? Impl::seek : nullptr);
  if (io_ == nullptr) {
    av_free(buffer);
    throw std::bad_alloc();
  }
}

void ByteSource::throw_if_failed() const {
  if (impl_->error != 0)
    throw Error(Code::failed,
                impl_->path.string() + " cannot be read: " + system_message(impl_->error));
}

ByteSource::~ByteSource() {
  av_freep(&io_->buffer);  // FFmpeg may have replaced the buffer, it never frees it
  avio_context_free(&io_);
}

}  // namespace navtalk::media
