// A source on a web server or in a bucket of S3, which is a web server that accepts uploads and needs
// signed requests. Private to core/artifacts.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/artifacts/source.h"
#include "core/net/http_client.h"

namespace navtalk {

struct HttpSourceOptions {
  std::string name;  // for messages
  std::string url;   // a slash and the key are appended
  bool s3 = false;
  std::optional<AwsIdentity> identity{};
  std::chrono::seconds stall_timeout{20};  // with fewer bytes a second than `least_rate`
  long least_rate = 1;
  std::chrono::milliseconds connect_timeout{10'000};
  bool redirects = true;
  std::vector<std::pair<std::string, std::string>> headers{};  // of every request
  // Of the requests to the URL's own host and port, never of one that they redirect to.
  std::vector<std::pair<std::string, std::string>> origin_headers{};
  // Of a bucket: larger files are sent in parts of so many bytes.
  std::uint64_t largest_put = std::uint64_t{5} << 30, part_bytes = std::uint64_t{64} << 20;
};
std::unique_ptr<ArtifactSource> http_source(HttpSourceOptions options);

// Of no bytes: the body of a signed request that has none.
inline constexpr const char* k_nothing_sha256 =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
Transfer judge_fault(const HttpFault& fault);
// What an answer's status means for a request for bytes: done for 200 and 206.
Transfer judge_status(const HttpAnswer& answer);
// First byte and total size from the header of an answer 206: 5 and 10 from "bytes 5-9/10". nullopt when
// the header cannot be read.
struct ContentRange {
  std::uint64_t first = 0, whole = 0;
};
std::optional<ContentRange> parse_content_range(std::string_view header);

}  // namespace navtalk
