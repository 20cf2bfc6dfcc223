// Makes one video of parts that were coded separately, without coding their pictures again, together
// with its sound.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <stop_token>

#include "core/media/encode/video_writer.h"

namespace navtalk {

// `parts`: MP4 files of VideoWriter without sound, with the format, size, rate and quality of `whole`;
// each begins where the one before it ends. Writes `whole.path` as VideoWriter would: the same times, and
// the same sound. Returns the number of pictures. Error{failed} for a part that cannot be read or does not
// fit the first one, and when writing fails; errors of VideoWriter for the sound. `written` is called
// behind each picture, if there is one: the sound of an hour takes a minute.
std::int64_t join_videos(std::span<const std::filesystem::path> parts, const VideoOptions& whole,
                         const std::stop_token& stop, const std::function<void()>& written = {});

}  // namespace navtalk
