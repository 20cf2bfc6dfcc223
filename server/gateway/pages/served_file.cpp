#include "server/gateway/pages/served_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "core/base/unique_fd.h"
#include "server/gateway/pages/byte_range.h"
#include "server/gateway/pages/revalidation.h"

namespace navtalk::server {
namespace {

struct OpenFile {
  UniqueFd fd;
  std::uint64_t size = 0;
  std::string etag{};
};

// Another one after every change of the file.
std::string etag_of(const struct stat& facts) {
  return fmt::format("\"{:x}-{:x}-{:x}.{:x}\"", facts.st_ino, facts.st_size, facts.st_mtim.tv_sec,
                     facts.st_mtim.tv_nsec);
}

std::optional<OpenFile> open_served(const std::filesystem::path& file) {
  // Not blocking: a pipe by that name keeps nobody.
  OpenFile opened{
      UniqueFd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY))};
  struct stat facts {};
  if (!opened.fd || ::fstat(opened.fd.value(), &facts) != 0 || !S_ISREG(facts.st_mode))
    return std::nullopt;
  opened.size = static_cast<std::uint64_t>(facts.st_size);
  if (opened.size == 0) return std::nullopt;
  opened.etag = etag_of(facts);
  return opened;
}

// A range of an open file, from its beginning to its end.
class FilePieces {
 public:
  FilePieces(OpenFile open, const ByteRange& range, BlockingThreads& threads)
      : file_(std::move(open)), at_(range.first), end_(range.last + 1), threads_(threads) {}

  boost::asio::awaitable<std::string> next() {
    auto work = [this] { return read(); };
    co_return co_await threads_.run(std::move(work));
  }

 private:
  // "" when the file is another one by now, or cannot be read.
  std::string read() {
    struct stat facts {};
    if (::fstat(file_.fd.value(), &facts) != 0 || etag_of(facts) != file_.etag) return "";
    std::string piece(std::min(k_served_piece_bytes, end_ - at_), '\0');
    const auto got = ::pread(file_.fd.value(), piece.data(), piece.size(), static_cast<off_t>(at_));
    piece.resize(static_cast<std::size_t>(std::max<ssize_t>(0, got)));
    at_ += piece.size();
    return piece;
  }

  const OpenFile file_;
  std::uint64_t at_;
  const std::uint64_t end_;
  BlockingThreads& threads_;
};

}  // namespace

std::optional<std::uint64_t> served_size(const std::filesystem::path& file) {
  const std::optional<OpenFile> open = open_served(file);
  return open ? std::optional(open->size) : std::nullopt;
}

Response served_bytes(const Request& request, const ServedBytes& bytes) {
  Response response{.content_type = bytes.content_type,
                    .headers = {{"ETag", bytes.etag},
                                {"Cache-Control", "no-cache"},
                                {"Accept-Ranges", "bytes"},
                                {"X-Content-Type-Options", "nosniff"}}};
  if (is_current(request, bytes.etag)) {
    response.status = 304;
    return response;
  }
  const std::string same = request.header("if-range").value_or(bytes.etag);
  const WantedBytes wanted =
      wanted_bytes(same == bytes.etag ? request.header("range").value_or("") : "", bytes.size);
  ByteRange range{0, bytes.size - 1};
  if (std::holds_alternative<NoSuchRange>(wanted)) {
    response.status = 416;
    response.headers.emplace_back("Content-Range", fmt::format("bytes */{}", bytes.size));
    return response;
  }
  if (const auto* part = std::get_if<ByteRange>(&wanted)) {
    range = *part;
    response.status = 206;
    response.headers.emplace_back(
        "Content-Range", fmt::format("bytes {}-{}/{}", range.first, range.last, bytes.size));
  }
  response.long_body = {.bytes = range.last - range.first + 1, .next = bytes.pieces(range)};
  return response;
}

Response served_file(const Request& request, const std::filesystem::path& file, const ServedAs& as,
                     BlockingThreads& threads) {
  std::optional<OpenFile> open = open_served(file);
  if (!open) return error_response(404, "not_found", as.missing);
  const std::string etag = open->etag;
  const std::uint64_t size = open->size;
  return served_bytes(
      request,
      {.content_type = as.content_type, .etag = etag, .size = size, .pieces = [&](ByteRange range) {
         const auto read = std::make_shared<FilePieces>(std::move(*open), range, threads);
         return [read] { return read->next(); };
       }});
}

}  // namespace navtalk::server
