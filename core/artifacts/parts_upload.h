// Sends a file to S3 in parts, for what is larger than one request may be. Private to core/artifacts.
//
//   POST OBJECT?uploads= ──► id      PUT OBJECT?partNumber=N&uploadId=id ──► etag, one after the other
//   POST OBJECT?uploadId=id with all etags: the object appears      DELETE OBJECT?uploadId=id after a failure
#pragma once

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>
#include <string_view>

#include "core/artifacts/source.h"
#include "core/net/http_client.h"

namespace navtalk {

struct PartsUpload {
  std::string name{};            // of the object, for messages: "s3://bucket/key"
  HttpRequest object{};          // signed; its method and body do not count
  std::uint64_t part_bytes = 0;  // or as many as make 10,000 parts
};
// Each part is tried three times. What is not done leaves nothing in the bucket, also after a request to stop,
// unless the bucket does not answer within 5 s; that is logged. Error{not_found}, Error{invalid} when the file cannot be read.
Transfer put_in_parts(const PartsUpload& upload, const std::filesystem::path& file,
                      const std::stop_token& stop);

// Between <NAME> and </NAME>, the first one; "" when there is none.
std::string_view xml_element(std::string_view text, std::string_view name);

}  // namespace navtalk
