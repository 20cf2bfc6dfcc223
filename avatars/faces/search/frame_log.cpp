#include "avatars/faces/search/frame_log.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "core/base/error.h"

namespace navtalk {
namespace {

// Any object may be read as char, which iostream wants.
bool read_numbers(std::ifstream& in, std::span<std::int32_t> numbers) {
  return static_cast<bool>(in.read(reinterpret_cast<char*>(numbers.data()),
                                   static_cast<std::streamsize>(numbers.size_bytes())));
}

}  // namespace

FrameLog::FrameLog(const std::filesystem::path& folder, const char* name) {
  if (folder.empty()) return;
  std::filesystem::create_directories(folder);
  file_ = folder / name;
}

std::size_t FrameLog::resume(std::size_t frames, std::size_t batch, const Take& take) {
  if (file_.empty()) return 0;
  std::ifstream in(file_, std::ios::binary);
  const std::uintmax_t size = in.is_open() ? std::filesystem::file_size(file_) : 0;
  std::vector<std::uintmax_t> ends{0};  // of the frames
  std::int32_t count = 0;
  std::vector<std::int32_t> numbers;
  while (ends.size() <= frames && read_numbers(in, {&count, 1}) && count >= 0) {
    // Half written, or damaged: no memory for more than there is.
    if (static_cast<std::uintmax_t>(count) * sizeof count > size - ends.back() - sizeof count)
      break;
    numbers.resize(static_cast<std::size_t>(count));
    if (!read_numbers(in, numbers) || !take(numbers)) break;
    ends.push_back(ends.back() + (1 + numbers.size()) * sizeof(std::int32_t));
  }
  std::size_t there = ends.size() - 1;
  if (there < frames) there -= there % batch;
  if (in.is_open()) std::filesystem::resize_file(file_, ends[there]);
  out_.open(file_, std::ios::binary | std::ios::app);
  return there;
}

void FrameLog::append(std::span<const std::int32_t> numbers) {
  if (file_.empty()) return;
  const auto count = static_cast<std::int32_t>(numbers.size());
  out_.write(reinterpret_cast<const char*>(&count), sizeof count);
  out_.write(reinterpret_cast<const char*>(numbers.data()),
             static_cast<std::streamsize>(numbers.size_bytes()));
  out_.flush();
  if (!out_)
    throw Error(Code::failed,
                fmt::format("cannot write {}: {}", file_.string(), std::strerror(errno)));
}

}  // namespace navtalk
