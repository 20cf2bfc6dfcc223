// One preview as an HTTP answer: the whole file or a part of it. Stateless; blocks on the disk.
#pragma once

#include <cstdint>
#include <filesystem>

#include "server/http/message.h"

namespace navtalk::server {

// A larger file is not sent: an answer is made in memory.
inline constexpr std::uint64_t k_largest_preview = std::uint64_t{8} << 20;

// Whether preview_response() would send it.
bool is_preview(const std::filesystem::path& file);
// 200, 206, 304 or 416; 404 when there is no such regular file of that size. A link is not followed.
Response preview_response(const Request& request, const std::filesystem::path& file);

}  // namespace navtalk::server
