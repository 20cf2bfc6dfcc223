// A source on a web server or in a bucket of S3, which is a web server that accepts uploads and needs
// signed requests. Private to core/artifacts.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "core/artifacts/source.h"
#include "core/net/http_client.h"

namespace navtalk {

struct HttpSourceOptions {
  std::string name;  // for messages
  std::string url;   // a slash and the key are appended
  bool s3 = false;
  std::optional<AwsIdentity> identity{};
  std::chrono::seconds stall_timeout{20};
};
std::unique_ptr<ArtifactSource> http_source(HttpSourceOptions options);

// What an answer's status means for a request for bytes: done for 200 and 206.
Transfer judge_status(const HttpAnswer& answer);
// First byte and total size from the header of an answer 206: 5 and 10 from "bytes 5-9/10". nullopt when
// the header cannot be read.
struct ContentRange {
  std::uint64_t first = 0, whole = 0;
};
std::optional<ContentRange> parse_content_range(std::string_view header);

}  // namespace navtalk
