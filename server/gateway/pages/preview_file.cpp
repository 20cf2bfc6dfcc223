#include "server/gateway/pages/preview_file.h"

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

struct OpenPreview {
  UniqueFd fd;
  std::uint64_t size = 0;
  std::string etag{};
};

// Another one after every change of the file.
std::string etag_of(const struct stat& facts) {
  return fmt::format("\"{:x}-{:x}-{:x}.{:x}\"", facts.st_ino, facts.st_size, facts.st_mtim.tv_sec,
                     facts.st_mtim.tv_nsec);
}

std::optional<OpenPreview> open_preview(const std::filesystem::path& file) {
  // Not blocking: a pipe by that name keeps nobody.
  OpenPreview preview{
      UniqueFd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY))};
  struct stat facts {};
  if (!preview.fd || ::fstat(preview.fd.value(), &facts) != 0 || !S_ISREG(facts.st_mode))
    return std::nullopt;
  preview.size = static_cast<std::uint64_t>(facts.st_size);
  if (preview.size == 0) return std::nullopt;
  preview.etag = etag_of(facts);
  return preview;
}

// A range of an open file, from its beginning to its end.
class PreviewPieces {
 public:
  PreviewPieces(OpenPreview preview, const ByteRange& range, BlockingThreads& threads)
      : preview_(std::move(preview)), at_(range.first), end_(range.last + 1), threads_(threads) {}

  boost::asio::awaitable<std::string> next() {
    auto work = [this] { return read(); };
    co_return co_await threads_.run(std::move(work));
  }

 private:
  // "" when the file is another one by now, or cannot be read.
  std::string read() {
    struct stat facts {};
    if (::fstat(preview_.fd.value(), &facts) != 0 || etag_of(facts) != preview_.etag) return "";
    std::string piece(std::min(k_preview_piece_bytes, end_ - at_), '\0');
    const auto got =
        ::pread(preview_.fd.value(), piece.data(), piece.size(), static_cast<off_t>(at_));
    piece.resize(static_cast<std::size_t>(std::max<ssize_t>(0, got)));
    at_ += piece.size();
    return piece;
  }

  const OpenPreview preview_;
  std::uint64_t at_;
  const std::uint64_t end_;
  BlockingThreads& threads_;
};

}  // namespace

bool is_preview(const std::filesystem::path& file) { return open_preview(file).has_value(); }

Response preview_response(const Request& request, const std::filesystem::path& file,
                          BlockingThreads& threads) {
  std::optional<OpenPreview> preview = open_preview(file);
  if (!preview) return error_response(404, "not_found", "this avatar has no preview");
  Response response{.content_type = "video/mp4",
                    .headers = {{"ETag", preview->etag},
                                {"Cache-Control", "no-cache"},
                                {"Accept-Ranges", "bytes"},
                                {"X-Content-Type-Options", "nosniff"}}};
  if (is_current(request, preview->etag)) {
    response.status = 304;
    return response;
  }
  const std::string same = request.header("if-range").value_or(preview->etag);
  const WantedBytes wanted = wanted_bytes(
      same == preview->etag ? request.header("range").value_or("") : "", preview->size);
  ByteRange range{0, preview->size - 1};
  if (std::holds_alternative<NoSuchRange>(wanted)) {
    response.status = 416;
    response.headers.emplace_back("Content-Range", fmt::format("bytes */{}", preview->size));
    return response;
  }
  if (const auto* part = std::get_if<ByteRange>(&wanted)) {
    range = *part;
    response.status = 206;
    response.headers.emplace_back(
        "Content-Range", fmt::format("bytes {}-{}/{}", range.first, range.last, preview->size));
  }
  const auto pieces = std::make_shared<PreviewPieces>(std::move(*preview), range, threads);
  response.long_body = {.bytes = range.last - range.first + 1,
                        .next = [pieces] { return pieces->next(); }};
  return response;
}

}  // namespace navtalk::server
