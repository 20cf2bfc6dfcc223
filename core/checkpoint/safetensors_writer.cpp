#include "core/checkpoint/safetensors_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/checkpoint/byte_cursor.h"

namespace navtalk {
namespace {

constexpr std::size_t k_alignment = 64;

// A file being written, removed again unless finish() is reached. A device or a pipe stays.
class Output {
 public:
  explicit Output(const std::filesystem::path& path)
      : path_(path), fd_(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
    if (fd_ < 0) fail();
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() {
    if (fd_ < 0) return;
    struct stat status {};
    const bool regular = ::fstat(fd_, &status) == 0 && S_ISREG(status.st_mode);
    ::close(fd_);
    if (regular) ::unlink(path_.c_str());
  }

  void put(std::string_view bytes) {
    while (!bytes.empty()) {
      const ::ssize_t count = ::write(fd_, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail();
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }

  void finish() {
    if (::fsync(fd_) != 0 && errno != EINVAL) fail();  // EINVAL: a pipe or a device
    const int fd = std::exchange(fd_, -1);
    if (::close(fd) != 0) fail();
  }

 private:
  [[noreturn]] void fail() const {
    throw Error(Code::failed,
                fmt::format("cannot write {}: {}", path_.native(), std::strerror(errno)));
  }

  std::filesystem::path path_;
  int fd_;
};

std::string quoted(const std::string& text) { return nlohmann::json(text).dump(); }

}  // namespace

void SafetensorsWriter::add(std::string name, DType dtype, Shape shape,
                            std::span<const std::byte> data) {
  NAVTALK_CHECK(dtype != DType::other && data.size() == element_count(shape) * item_size(dtype));
  add_in_pieces(std::move(name), dtype, std::move(shape), [data] { return data; });
}

void SafetensorsWriter::add_in_pieces(std::string name, DType dtype, Shape shape, Pieces next) {
  NAVTALK_CHECK(dtype != DType::other);
  NAVTALK_CHECK(names_.insert(name).second);
  const std::size_t size = element_count(shape) * item_size(dtype);
  entries_.push_back({{std::move(name), dtype, std::move(shape)}, size, std::move(next)});
}

void SafetensorsWriter::add_metadata(std::string key, std::string value) {
  metadata_.insert_or_assign(std::move(key), std::move(value));
}

void SafetensorsWriter::write(const std::filesystem::path& path) const {
  std::string header = "{";
  if (!metadata_.empty())
    header += fmt::format("\"__metadata__\":{}", nlohmann::json(metadata_).dump());
  std::size_t end = 0;
  for (const Entry& entry : entries_) {
    if (header.size() > 1) header += ',';
    header += fmt::format("{}:{{\"dtype\":\"{}\",\"shape\":{},\"data_offsets\":[{},{}]}}",
                          quoted(entry.info.name), name(entry.info.dtype),
                          nlohmann::json(entry.info.shape).dump(), end, end + entry.size);
    end += entry.size;
  }
  header += '}';
  header.append((k_alignment - (8 + header.size()) % k_alignment) % k_alignment, ' ');

  static_assert(std::endian::native == std::endian::little);
  const std::uint64_t length = header.size();
  Output out(path);
  out.put({reinterpret_cast<const char*>(&length), sizeof length});
  out.put(header);
  for (const Entry& entry : entries_) {
    for (std::size_t left = entry.size; left > 0;) {
      const std::span<const std::byte> piece = entry.next();
      NAVTALK_CHECK(!piece.empty() && piece.size() <= left);
      out.put(as_text(piece));
      left -= piece.size();
    }
  }
  out.finish();
}

}  // namespace navtalk
