#include "core/process/stream_input.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <functional>
#include <vector>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/files/whole_file.h"
#include "core/process/run.h"

namespace navtalk {
namespace {

constexpr std::size_t k_piece = 1 << 16;

[[noreturn]] void fail_stream(const std::filesystem::path& path) {
  throw Error(Code::failed, stream_name(path) + " cannot be read: " + system_message(errno));
}

UniqueFd open_stream(const std::filesystem::path& path) {
  UniqueFd fd(path == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                          : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) fail_stream(path);
  if (::isatty(fd.value()) == 1)
    throw Error(Code::usage,
                stream_name(path) + " is a terminal: send a file or a program's output into it");
  return fd;
}

// Readable once a stop is requested.
class StopEvent {
 public:
  explicit StopEvent(const std::stop_token& stop)
      : fd_(::eventfd(0, EFD_CLOEXEC)),
        callback_(stop, [this] { ::eventfd_write(fd_.value(), 1); }) {}
  int fd() const { return fd_.value(); }

 private:
  UniqueFd fd_;
  std::stop_callback<std::function<void()>> callback_;
};

void append(const UniqueFd& memory, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t put = ::write(memory.value(), data, size);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) throw Error(Code::failed, "keeping an input in memory: " + system_message(errno));
    data += put;
    size -= static_cast<std::size_t>(put);
  }
}

// 0 at the end.
std::size_t read_piece(const UniqueFd& stream, std::vector<char>& piece, const StopEvent& stopped,
                       const std::filesystem::path& path, const std::stop_token& stop) {
  for (;;) {
    std::array<pollfd, 2> waits = {pollfd{stream.value(), POLLIN, 0},
                                   pollfd{stopped.fd(), POLLIN, 0}};
    const int rc = ::poll(waits.data(), waits.size(), -1);
    throw_if_stopped(stop);
    if (rc < 0 && errno != EINTR) fail_stream(path);
    if (rc <= 0) continue;
    const ssize_t got = ::read(stream.value(), piece.data(), piece.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) fail_stream(path);
    return static_cast<std::size_t>(got);
  }
}

}  // namespace

bool is_stream(const std::filesystem::path& path) {
  if (path == "-") return true;
  std::error_code none;
  const auto status = std::filesystem::status(path, none);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
         !std::filesystem::is_directory(status);
}

std::string stream_name(const std::filesystem::path& path) {
  return path == "-" ? "standard input" : path.string();
}

UniqueFd read_stream(const std::filesystem::path& path, std::int64_t max_bytes,
                     const std::stop_token& stop) {
  const UniqueFd stream = open_stream(path);
  const StopEvent stopped(stop);
  UniqueFd memory = memory_file();
  std::vector<char> piece(k_piece);
  std::int64_t total = 0;
  while (const std::size_t got = read_piece(stream, piece, stopped, path, stop)) {
    total += static_cast<std::int64_t>(got);
    if (total > max_bytes)
      throw Error(Code::invalid, stream_name(path) + " holds more than " +
                                     std::to_string(max_bytes / 1'000'000) + " MB");
    append(memory, piece.data(), got);
  }
  if (total == 0) throw Error(Code::invalid, stream_name(path) + " is empty");
  return memory;
}

std::filesystem::path path_of_memory(const UniqueFd& file) {
  return "/proc/self/fd/" + std::to_string(file.value());
}

}  // namespace navtalk
