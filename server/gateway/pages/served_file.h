// One video as an HTTP answer: the whole file or a part of it, read in pieces while it is sent; also one that lies
// elsewhere. Stateless; blocks on the disk.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "server/gateway/pages/byte_range.h"
#include "server/http/blocking_threads.h"
#include "server/http/message.h"

namespace navtalk::server {

// What one answer has of its file in memory.
inline constexpr std::uint64_t k_served_piece_bytes = std::uint64_t{256} << 10;

struct ServedAs {
  std::string content_type = "video/mp4";
  std::string missing{};  // the message of 404
};

// Bytes of what served_file() would send; nullopt: nothing.
std::optional<std::uint64_t> served_size(const std::filesystem::path& file);
// 200, 206, 304 or 416; 404 when there is no such regular file with content. A link is not followed. The pieces
// are read on `threads`. A file that changes meanwhile ends the connection.
Response served_file(const Request& request, const std::filesystem::path& file, const ServedAs& as,
                     BlockingThreads& threads);

// What lies elsewhere.
struct ServedBytes {
  std::string content_type = "video/mp4";
  std::string etag{};  // with its quotes; another one for other bytes
  std::uint64_t size = 0;
  // Reads that part in pieces: LongBody::next.
  std::function<std::function<boost::asio::awaitable<std::string>()>(ByteRange)> pieces{};
};
// 200, 206, 304 or 416.
Response served_bytes(const Request& request, const ServedBytes& bytes);

}  // namespace navtalk::server
