#include "server/gateway/pages/preview_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <optional>

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

std::optional<OpenPreview> open_preview(const std::filesystem::path& file) {
  // Not blocking: a pipe by that name keeps nobody.
  OpenPreview preview{
      UniqueFd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY))};
  struct stat facts {};
  if (!preview.fd || ::fstat(preview.fd.value(), &facts) != 0 || !S_ISREG(facts.st_mode))
    return std::nullopt;
  preview.size = static_cast<std::uint64_t>(facts.st_size);
  if (preview.size == 0 || preview.size > k_largest_preview) return std::nullopt;
  preview.etag = fmt::format("\"{:x}-{:x}-{:x}.{:x}\"", facts.st_ino, facts.st_size,
                             facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec);
  return preview;
}

// Shorter when the file was cut meanwhile.
std::string read_range(const OpenPreview& preview, const ByteRange& range) {
  std::string bytes(range.last - range.first + 1, '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto got = ::pread(preview.fd.value(), bytes.data() + done, bytes.size() - done,
                             static_cast<off_t>(range.first + done));
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  bytes.resize(done);
  return bytes;
}

}  // namespace

bool is_preview(const std::filesystem::path& file) { return open_preview(file).has_value(); }

Response preview_response(const Request& request, const std::filesystem::path& file) {
  const std::optional<OpenPreview> preview = open_preview(file);
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
  response.body = read_range(*preview, range);
  if (response.body.size() != range.last - range.first + 1)
    return error_response(503, "failed", "the preview changed while it was read; try again");
  return response;
}

}  // namespace navtalk::server
