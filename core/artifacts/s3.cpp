#include "core/artifacts/s3.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/net/url.h"
#include "core/text/printable.h"
#include "core/text/trim.h"

namespace navtalk {
namespace {

constexpr std::string_view k_scheme = "s3://";

bool lower_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool valid_bucket(std::string_view name) {
  return name.size() >= 3 && name.size() <= 63 && lower_or_digit(name.front()) &&
         lower_or_digit(name.back()) && std::all_of(name.begin(), name.end(), [](char c) {
           return lower_or_digit(c) || c == '-' || c == '.';
         });
}

// What needs no encoding, so that a signature and a request cannot disagree.
bool valid_prefix(std::string_view text) {
  return text.find("..") == text.npos && std::all_of(text.begin(), text.end(), [](char c) {
           return lower_or_digit(c) || (c >= 'A' && c <= 'Z') || c == '-' || c == '.' || c == '_' ||
                  c == '/';
         });
}

// Of two names the first that is set.
std::string value_of(const std::function<std::string(const char*)>& variable, const char* name,
                     const char* other = nullptr) {
  std::string value(trim(variable(name)));
  if (value.empty() && other != nullptr) value = trim(variable(other));
  const bool plain =
      std::all_of(value.begin(), value.end(), [](char c) { return c > ' ' && c < '\x7f'; });
  if (!plain)
    throw Error(Code::invalid, std::string(name) + " contains characters that are not allowed");
  return value;
}

std::optional<AwsIdentity> identity_of(const std::function<std::string(const char*)>& variable,
                                       const std::string& region) {
  AwsIdentity identity{.access_key = value_of(variable, "AWS_ACCESS_KEY_ID"),
                       .secret_key = value_of(variable, "AWS_SECRET_ACCESS_KEY"),
                       .session_token = value_of(variable, "AWS_SESSION_TOKEN"),
                       .region = region};
  if (identity.access_key.empty() && identity.secret_key.empty()) return std::nullopt;
  if (identity.access_key.empty() || identity.secret_key.empty())
    throw Error(Code::invalid,
                "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY belong together: one is not set");
  return identity;
}

std::string host_url(const std::string& bucket, const std::string& region,
                     const std::function<std::string(const char*)>& variable) {
  std::string endpoint = value_of(variable, "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL");
  if (!endpoint.empty()) {
    try {
      return parse_http_url(endpoint).base() + "/" + bucket;
    } catch (const Error& error) {
      throw error.within("AWS_ENDPOINT_URL");
    }
  }
  // A certificate for *.s3.REGION.amazonaws.com does not cover a bucket's name with a dot.
  if (bucket.find('.') != std::string::npos)
    return "https://s3." + region + ".amazonaws.com/" + bucket;
  return "https://" + bucket + ".s3." + region + ".amazonaws.com";
}

}  // namespace

S3Location s3_location(const std::string& source,
                       const std::function<std::string(const char*)>& variable) {
  std::string_view rest = std::string_view(source).substr(k_scheme.size());
  while (rest.ends_with('/')) rest.remove_suffix(1);
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  const std::string bucket(rest.substr(0, slash));
  const std::string_view prefix = rest.substr(std::min(slash + 1, rest.size()));
  if (!valid_bucket(bucket))
    throw Error(Code::invalid, "'" + printable_start(bucket, 64) + "' is not the name of a bucket");
  if (!valid_prefix(prefix)) {
    throw Error(Code::invalid, "the prefix '" + printable_start(prefix, 64) +
                                   "' may have only A-Z, a-z, 0-9, '.', '_', '-' and '/'");
  }
  std::string region = value_of(variable, "AWS_REGION", "AWS_DEFAULT_REGION");
  if (region.empty()) region = "us-east-1";
  if (!std::all_of(region.begin(), region.end(),
                   [](char c) { return lower_or_digit(c) || c == '-'; }))
    throw Error(Code::invalid, "AWS_REGION is not the name of a region");
  S3Location location{.url = host_url(bucket, region, variable),
                      .identity = identity_of(variable, region)};
  if (!prefix.empty()) location.url += "/" + std::string(prefix);
  return location;
}

}  // namespace navtalk
