#include "core/media/ffmpeg.h"

#include <array>
#include <cstdarg>
#include <cstring>
#include <mutex>
#include <new>
#include <string_view>
#include <utility>

namespace navtalk::media {
namespace {

// An array rather than a string, since FFmpeg's own threads may log while they end.
thread_local std::array<char, 256> last_line;

void keep_line(void* source, int level, const char* format, va_list arguments) {
  if (level > AV_LOG_ERROR) return;
  int print_prefix = 0;  // "[h264 @ 0x...]" means nothing to a user
  std::size_t kept = std::strlen(last_line.data());
  if (kept > 0 && last_line[kept - 1] == '\n') kept = 0;  // else more of the same line follows
  av_log_format_line2(source, level, format, arguments, last_line.data() + kept,
                      static_cast<int>(last_line.size() - kept), &print_prefix);
}

}  // namespace

FramePtr make_frame() {
  FramePtr frame(av_frame_alloc());
  if (!frame) throw std::bad_alloc();
  return frame;
}

PacketPtr make_packet() {
  PacketPtr packet(av_packet_alloc());
  if (!packet) throw std::bad_alloc();
  return packet;
}

std::optional<FrameRate> frame_rate(AVRational rate) {
  if (rate.num <= 0 || rate.den <= 0) return std::nullopt;
  return FrameRate(rate.num, rate.den);
}

void capture_log() {
  static std::once_flag once;
  std::call_once(once, [] { av_log_set_callback(keep_line); });
  last_line[0] = '\0';
}

bool error_logged() { return last_line[0] != '\0'; }

std::string reason(int error_code) {
  std::array<char, AV_ERROR_MAX_STRING_SIZE> text{};
  av_strerror(error_code, text.data(), text.size());
  std::string message(text.data());
  std::string_view line(last_line.data());
  while (!line.empty() && (line.back() == '\n' || line.back() == '.')) line.remove_suffix(1);
  if (!line.empty()) message.append(" (").append(line).append(")");
  last_line[0] = '\0';
  return message;
}

}  // namespace navtalk::media
