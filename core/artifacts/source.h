// Where models and avatars come from: a folder, a web server or a bucket of S3, all with the same
// layout (docs/model-store.md). A source tries each request once; the caller decides what to repeat
// (retry.h). One thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "core/artifacts/partial_blob.h"

namespace navtalk {

// The outcome of one request.
struct Transfer {
  enum class Outcome {
    done,
    missing,  // the source does not have it
    again,    // it may succeed later: cut off, slow, out of order, overloaded
    refused,  // it will not succeed: forbidden, or malformed
  } outcome = Outcome::done;
  std::string why{};  // empty when done; names the source, never a secret
  std::optional<std::chrono::seconds> retry_after{};  // as the server asked, with `again`
  int status = 0;                                     // of a web server's answer; 0: there was none
  bool slow = false;                                  // too little came in time
  bool more = false;                                  // the answer says that it is not all: a page
};

// The bytes from `first` to before `end`, of a file that has `whole`.
struct FileRange {
  std::uint64_t first = 0, end = 0, whole = 0;
};

class ArtifactSource {
 public:
  virtual ~ArtifactSource() = default;

  virtual const std::string& name() const = 0;  // for messages: "s3://bucket/prefix"
  // The content of a small file; one longer than `longest` bytes is refused.
  virtual Transfer read(const std::string& key, std::size_t longest, std::string& text,
                        const std::stop_token& stop) = 0;
  // Appends the bytes that the blob lacks, or replaces all of them where the source sends the whole
  // file again. `done` says that all bytes were sent, not that they are right.
  virtual Transfer fetch(const std::string& key, PartialBlob& blob,
                         const std::stop_token& stop) = 0;
  // Another connection to the same place, for ranges; nullptr where several are no faster than one.
  virtual std::unique_ptr<ArtifactSource> another() const { return nullptr; }
  // Gives the bytes of the range to `take`, in their order, until that is false. `take` throws nothing.
  virtual Transfer fetch_range(const std::string& key, const FileRange& range,
                               const std::function<bool(std::string_view)>& take,
                               const std::stop_token& stop);
  // Does it have a file of this name and size? `missing` if not.
  virtual Transfer find(const std::string& key, std::uint64_t bytes,
                        const std::stop_token& stop) = 0;
  // Is that file there with this content? A source that does not read it says what find() says.
  virtual Transfer find_content(const std::string& key, std::uint64_t bytes,
                                const std::string& sha256, const std::stop_token& stop);
  // Copies a file to the source, where it appears complete or not at all.
  virtual Transfer put_file(const std::string& key, const std::filesystem::path& file,
                            const std::string& sha256, const std::stop_token& stop) = 0;
  virtual Transfer put_text(const std::string& key, const std::string& text,
                            const std::stop_token& stop) = 0;
};

struct SourceOptions {
  std::chrono::seconds stall_timeout{20};  // without a byte
  // The variables that S3 and a hub need (AWS_ACCESS_KEY_ID, NAVTALK_HUB_TOKEN and the like); empty for one that is not set.
  std::function<std::string(const char* name)> variable{};
  // Files that are larger go to a bucket in parts of so many bytes: 5 GiB is the most that it takes at once.
  std::uint64_t largest_put = std::uint64_t{5} << 30, part_bytes = std::uint64_t{64} << 20;
};

// "s3://BUCKET/PREFIX", "https://HOST/PATH", "https://HUB/ORG/REPO/resolve/REVISION" (hub/hub_source.h), or a
// folder. http only on this machine's own addresses: a
// manifest is believed. Error{invalid} for anything else.
std::unique_ptr<ArtifactSource> open_source(const std::string& source,
                                            const SourceOptions& options);

}  // namespace navtalk
