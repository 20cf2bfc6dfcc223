#include "core/artifacts/source.h"

#include "core/artifacts/folder_source.h"
#include "core/artifacts/http_source.h"
#include "core/artifacts/hub/hub_source.h"
#include "core/artifacts/s3.h"
#include "core/base/error.h"
#include "core/net/url.h"

namespace navtalk {
namespace {

void check_base(const std::string& url) {
  const HttpUrl parsed = parse_http_url(url);
  if (parsed.path.find('?') != std::string::npos)
    throw Error(Code::invalid,
                "a model source's URL cannot have a query: paths are appended to it");
  if (!parsed.secure && !parsed.loopback()) {
    throw Error(Code::invalid, "the model source at " + parsed.authority() +
                                   " must be https: whoever can change what http carries could "
                                   "replace models");
  }
}

}  // namespace

Transfer ArtifactSource::fetch_range(const std::string& key, const FileRange&,
                                     const std::function<bool(std::string_view)>&,
                                     const std::stop_token&) {
  return {.outcome = Transfer::Outcome::refused, .why = name() + "/" + key + ": has no ranges"};
}

Transfer ArtifactSource::find_content(const std::string& key, std::uint64_t bytes,
                                      const std::string&, const std::stop_token& stop) {
  return find(key, bytes, stop);
}

std::unique_ptr<ArtifactSource> open_source(const std::string& source,
                                            const SourceOptions& options) {
  if (source.starts_with("s3://")) {
    S3Location location = s3_location(source, options.variable);
    check_base(location.url);
    return http_source({.name = source,
                        .url = std::move(location.url),
                        .s3 = true,
                        .identity = std::move(location.identity),
                        .stall_timeout = options.stall_timeout,
                        .largest_put = options.largest_put,
                        .part_bytes = options.part_bytes});
  }
  if (source.starts_with("http://") || source.starts_with("https://")) {
    check_base(source);
    const HttpUrl url = parse_http_url(source);
    if (const auto place = hub_place(url.base())) return hub_source(*place, options);
    return http_source(
        {.name = url.base(), .url = url.base(), .stall_timeout = options.stall_timeout});
  }
  if (source.find("://") != std::string::npos)
    throw Error(Code::invalid,
                "a model source is s3://BUCKET/PREFIX, https://HOST/PATH or a folder");
  if (source.empty()) throw Error(Code::invalid, "a model source cannot be empty");
  return folder_source(source);
}

}  // namespace navtalk
