// A file that somebody gives as sound, video or picture, through every reader of core/media. FFmpeg
// itself is not instrumented: what is watched is our code around it, that nothing else is opened
// meanwhile, and that results are within the limits.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <string_view>

#include "core/base/error.h"
#include "core/base/unique_fd.h"
#include "core/media/decode/audio.h"
#include "core/media/decode/indexed_video.h"
#include "core/media/decode/video_reader.h"
#include "core/media/encode/stream_copy.h"
#include "core/media/image_file.h"
#include "tests/fuzz/expect.h"

namespace {

using namespace navtalk;

// Low, so that short inputs reach them and each takes little time.
constexpr MediaLimits k_limits{.max_pixels = 128 * 128, .max_duration_s = 2};
constexpr int k_frames = 4;  // of a video; more would only show how fast FFmpeg is

std::atomic<bool> g_watching = false;

// Of this process, or what FFmpeg and the C library look up about the machine.
bool is_harmless(std::string_view path) {
  return path.starts_with("/proc/self/") || path.starts_with("/sys/devices/system/cpu") ||
         path.starts_with("/proc/cpuinfo");
}

void note_open(const char* path) {
  expect(!g_watching || is_harmless(path), "media opens nothing but itself");
}

// Memory that has a path.
class MemoryFile {
 public:
  explicit MemoryFile(const char* name) : fd_(::memfd_create(name, MFD_CLOEXEC)) {}

  void fill(const std::uint8_t* data, std::size_t size) const {
    expect(::ftruncate(fd_.value(), 0) == 0, "the file can be emptied");
    expect(::pwrite(fd_.value(), data, size, 0) == static_cast<ssize_t>(size),
           "the file can be written");
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_.value()); }

 private:
  UniqueFd fd_;
};

template <class Work>
void allowing_errors(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    expect(!error.message().empty(), "a refusal says why");
  }
}

void check(const Image& image) {
  expect(image.width > 0 && image.height > 0, "a picture has a size");
  expect(std::int64_t{image.width} * image.height <= k_limits.max_pixels,
         "a picture is within its limit");
}

void read_sound(const std::string& path) {
  const Audio audio = decode_audio(path, {}, k_limits);
  expect(audio.rate_hz > 0 && !audio.samples.empty(), "sound has samples");
  expect(audio.duration_s() <= k_limits.max_duration_s, "sound is within its limit");
  expect(std::all_of(audio.samples.begin(), audio.samples.end(),
                     [](float sample) { return std::isfinite(sample); }),
         "samples are numbers");
}

void read_video(const std::string& path) {
  VideoReader video = VideoReader::open(path, {}, k_limits);
  for (int i = 0; i < k_frames; ++i) {
    const auto frame = video.next();
    if (!frame) break;
    check(frame->image);
    expect(frame->image.width == video.info().width, "every frame has the video's size");
    expect(std::isfinite(frame->time_s), "every frame has a time");
  }
}

void read_indexed(const std::string& path) {
  IndexedVideo video = IndexedVideo::open(path);
  if (std::int64_t{video.width()} * video.height() > k_limits.max_pixels) return;
  for (const std::int64_t i : {video.frame_count() - 1, std::int64_t{0}})
    expect(video.frame(i).width == video.width(), "every frame has the video's size");
}

}  // namespace

// What FFmpeg would call to open something else.
extern "C" int open(const char* path, int flags, ...) {
  note_open(path);
  va_list rest;
  va_start(rest, flags);
  const int mode = va_arg(rest, int);
  va_end(rest);
  return ::openat(AT_FDCWD, path, flags, mode);
}
extern "C" int open64(const char* path, int flags, ...) {
  note_open(path);
  va_list rest;
  va_start(rest, flags);
  const int mode = va_arg(rest, int);
  va_end(rest);
  return ::openat(AT_FDCWD, path, flags, mode);
}
extern "C" int socket(int, int, int) noexcept {
  expect(!g_watching, "media opens no connection");
  return -1;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const MemoryFile input("input"), output("output");
  input.fill(data, size);
  const std::string path = input.path();
  g_watching = true;
  allowing_errors([&] { check(read_image(path, k_limits)); });
  allowing_errors([&] { read_sound(path); });
  allowing_errors([&] { read_video(path); });
  allowing_errors([&] { read_indexed(path); });
  allowing_errors([&] { copy_video_stream(path, output.path(), 25, k_limits); });
  g_watching = false;
  return 0;
}
