// Whether an Ogg file has its end. FFmpeg takes a file that was cut off for a shorter one, since no
// header says how long it should be. Private to core/media.
#pragma once

#include <filesystem>

namespace navtalk::media {

// True when the file is Ogg and its last page is cut, or is not marked as its stream's last
// (RFC 3533, section 6); false for every other file.
bool is_cut_ogg(const std::filesystem::path& path);

}  // namespace navtalk::media
