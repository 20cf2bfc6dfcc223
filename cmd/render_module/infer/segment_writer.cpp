#include "cmd/render_module/infer/segment_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "cmd/job/renderer_on_cpu.h"
#include "core/base/error.h"
#include "core/checkpoint/checkpoint.h"
#include "core/files/whole_file.h"
#include "core/log/log.h"
#include "core/media/encode/join_videos.h"

namespace navtalk::cmd {
namespace {

namespace fs = std::filesystem;

constexpr double k_segment_s = 10;

// Also one that names none.
std::string with_device(const std::string& record, const std::string& device) {
  nlohmann::json object = nlohmann::json::parse(record, nullptr, false);
  if (!object.is_object()) return record;
  object[k_segment_device] = device;
  return object.dump();
}

}  // namespace

std::int64_t segment_frames(const FrameRate& fps, std::int64_t faces_per_pass) {
  const auto frames = static_cast<std::int64_t>(std::ceil(k_segment_s * fps.hz()));
  return (frames + faces_per_pass - 1) / faces_per_pass * faces_per_pass;
}

SegmentWriter::SegmentWriter(Options options) : options_(std::move(options)) {
  std::error_code error;
  fs::create_directories(options_.work.folder, error);
  if (!error) fs::permissions(options_.work.folder, fs::perms::owner_all, error);
  if (error)
    throw Error(Code::failed, fmt::format("the folder {} cannot be made: {}",
                                          options_.work.folder.string(), error.message()));
  for (int i = 0; i < count(); ++i)
    made_.push_back(is_finished(i) ? with_device(options_.work.records[static_cast<std::size_t>(i)],
                                                 options_.device)
                                   : "");
}

int SegmentWriter::count() const {
  return static_cast<int>((options_.video_frames + options_.frames - 1) / options_.frames);
}

FrameRange SegmentWriter::range(int index) const {
  const std::int64_t first = index * options_.frames;
  return {first, std::min(first + options_.frames, options_.video_frames)};
}

fs::path SegmentWriter::path(int index) const {
  return options_.work.folder / fmt::format("{:06}.mp4", index);
}

std::optional<std::string> SegmentWriter::record(int index) const {
  std::error_code absent;
  if (!fs::exists(path(index), absent)) return std::nullopt;
  try {
    const std::vector<std::uint8_t> bytes = read_file(path(index));
    const FrameRange frames = range(index);
    return nlohmann::json{{"first", frames.first},
                          {"frames", frames.last - frames.first},
                          {"bytes", bytes.size()},
                          {"sha256", sha256(std::as_bytes(std::span(bytes)))},
                          {k_segment_device, options_.device}}
        .dump();
  } catch (const Error&) {
    return std::nullopt;
  }
}

bool SegmentWriter::is_finished(int index) const {
  const std::vector<std::string>& records = options_.work.records;
  if (static_cast<std::size_t>(index) >= records.size()) return false;
  const std::string& recorded = records[static_cast<std::size_t>(index)];
  const std::string device = device_of_segments({recorded});
  const bool other = !device.empty() && device != options_.device;
  if (!other && record(index) == with_device(recorded, options_.device)) return true;
  log::warn(fmt::format(
      "{}: this finished segment {}: it is rendered again", path(index).string(),
      other ? fmt::format("came from another device ({})", device) : "is missing or has changed"));
  return false;
}

std::vector<FrameRange> SegmentWriter::missing() const {
  std::vector<FrameRange> ranges;
  for (int i = 0; i < count(); ++i) {
    if (made_[static_cast<std::size_t>(i)].empty()) ranges.push_back(range(i));
  }
  return ranges;
}

void SegmentWriter::open(int index) {
  VideoOptions video = options_.video;
  open_.emplace(
      Open{.index = index, .file = PartialPath({.target = path(index), .overwrite = true})});
  video.path = open_->file.path();
  video.format = &mp4_format();
  video.audio.reset();
  open_->writer = std::make_unique<VideoWriter>(std::move(video));
}

void SegmentWriter::write(std::int64_t t, const RenderedPicture& picture) {
  const int index = static_cast<int>(t / options_.frames);
  if (!open_) open(index);
  try {
    std::visit([&](const auto& one) { open_->writer->write(one); }, picture);
    if (t + 1 == range(index).last) close();
  } catch (const Error& error) {
    if (!open_) throw;
    throw Error(error.code(), open_->file.named(error.message()));
  }
}

void SegmentWriter::close() {
  open_->writer->finish();
  open_->writer.reset();
  open_->file.commit(options_.work.storing);
  const int index = open_->index;
  open_.reset();
  const auto made = record(index);
  if (!made) throw Error(Code::failed, path(index).string() + " cannot be read back");
  made_[static_cast<std::size_t>(index)] = *made;
  const FrameRange frames = range(index);
  options_.work.finished({.index = index,
                          .duration_s = options_.video.fps.seconds(frames.last - frames.first),
                          .record = *made});
}

std::int64_t SegmentWriter::finish(const std::stop_token& stop) {
  std::vector<fs::path> parts;
  for (int i = 0; i < count(); ++i) {
    // Another process that has lost the job may have written it meanwhile.
    if (record(i) != made_[static_cast<std::size_t>(i)])
      throw Error(Code::failed, path(i).string() + " has changed since it was made");
    parts.push_back(path(i));
  }
  const std::int64_t frames = join_videos(parts, options_.video, stop, options_.work.joining);
  if (frames != options_.video_frames)
    throw Error(Code::failed,
                fmt::format("the segments in {} have {} frames, the video {}",
                            options_.work.folder.string(), frames, options_.video_frames));
  return frames;
}

}  // namespace navtalk::cmd
