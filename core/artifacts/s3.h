// Where a bucket is and who asks, from "s3://BUCKET/PREFIX" and the variables that Amazon's own tools
// read. Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/net/http_client.h"

namespace navtalk {

struct S3Location {
  std::string url;                      // without a slash at the end
  std::optional<AwsIdentity> identity;  // nullopt: a public bucket
};

// Variables: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION or
// AWS_DEFAULT_REGION (us-east-1), and AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL for a service that is
// not Amazon's, where the bucket is the first part of the path. Error{invalid} names the variable, not
// its value.
S3Location s3_location(const std::string& source,
                       const std::function<std::string(const char*)>& variable);

}  // namespace navtalk
