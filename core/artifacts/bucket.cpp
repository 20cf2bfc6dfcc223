#include "core/artifacts/bucket.h"

#include <fmt/format.h>

#include "core/artifacts/http_source.h"
#include "core/artifacts/parts_upload.h"
#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/net/url.h"
#include "core/text/number.h"
#include "core/text/printable.h"

namespace navtalk {
namespace {

using Outcome = Transfer::Outcome;

constexpr std::size_t k_error_text = std::size_t{64}
                                     << 10;  // bytes, of an answer without the object
constexpr int k_forbidden = 403;

S3Location checked_location(const std::string& address,
                            const std::function<std::string(const char*)>& variable) {
  if (!address.starts_with("s3://"))
    throw Error(Code::invalid, "'" + address + "' is not s3://BUCKET/PREFIX");
  S3Location location = s3_location(address, variable);
  const HttpUrl url = parse_http_url(location.url);
  if (!url.secure && !url.loopback())
    throw Error(Code::invalid, "the bucket at " + url.authority() + " must be https");
  if (!location.identity)
    throw Error(Code::invalid,
                "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to write to a bucket");
  return location;
}

}  // namespace

Bucket::Bucket(const std::string& address, const std::function<std::string(const char*)>& variable,
               BucketOptions options)
    : name_(address), location_(checked_location(address, variable)), options_(options) {}

HttpRequest Bucket::request(const char* method, const std::string& key) const {
  return {.method = method,
          .url = location_.url + "/" + key,
          .timeout = std::chrono::milliseconds(0),
          .stall_timeout = options_.stall_timeout,
          .aws = location_.identity,
          .body_sha256 = k_nothing_sha256};
}

Transfer Bucket::send(HttpRequest asked, const std::stop_token& stop, HttpAnswer& answer) const {
  HttpClient client;
  HttpResult result = client.send(asked, stop);
  throw_if_stopped(stop);
  if (const auto* fault = std::get_if<HttpFault>(&result)) return judge_fault(*fault);
  answer = std::move(std::get<HttpAnswer>(result));
  Transfer transfer = judge_status(answer);
  transfer.status = answer.status;
  if (!transfer.why.empty())
    transfer.why = name_ + asked.url.substr(location_.url.size()) + ": " + transfer.why;
  return transfer;
}

Transfer Bucket::put_file(const std::string& key, const std::filesystem::path& file,
                          const std::string& sha256, const std::stop_token& stop) const {
  std::error_code error;
  const std::uint64_t bytes = std::filesystem::file_size(file, error);
  if (!error && bytes > options_.largest_put)
    return put_in_parts({.name = name_ + "/" + key,
                         .object = request("PUT", key),
                         .part_bytes = options_.part_bytes},
                        file, stop);
  HttpRequest put = request("PUT", key);
  put.body_file = file;
  put.body_sha256 = sha256;
  HttpAnswer answer;
  return send(std::move(put), stop, answer);
}

Transfer Bucket::read(const std::string& key, std::uint64_t first, std::uint64_t count,
                      std::string& bytes, const std::stop_token& stop) const {
  HttpRequest asked = request("GET", key);
  asked.headers.emplace_back("Range", fmt::format("bytes={}-{}", first, first + count - 1));
  asked.max_answer = count + k_error_text;
  HttpAnswer answer;
  const Transfer transfer = send(std::move(asked), stop, answer);
  if (transfer.outcome != Outcome::done) return transfer;
  const auto range = parse_content_range(answer.header("content-range").value_or(""));
  const bool whole = answer.status == 200 && first == 0;
  if ((!whole && (!range || range->first != first)) || answer.body.size() > count)
    return {.outcome = Outcome::again,
            .why = name_ + "/" + key + " answers with other bytes than the requested ones"};
  bytes = std::move(answer.body);
  return transfer;
}

Transfer Bucket::size(const std::string& key, std::uint64_t& bytes,
                      const std::stop_token& stop) const {
  HttpAnswer answer;
  const Transfer transfer = send(request("HEAD", key), stop, answer);
  const bool refused = transfer.status == k_forbidden;
  if (transfer.outcome != Outcome::done && !refused) return transfer;
  const auto length = parse_number<std::uint64_t>(answer.header("content-length").value_or(""));
  if (refused || !length) return size_by_reading(key, bytes, stop);
  bytes = *length;
  return transfer;
}

// An answer to HEAD has no body that says why, and may have no length.
Transfer Bucket::size_by_reading(const std::string& key, std::uint64_t& bytes,
                                 const std::stop_token& stop) const {
  HttpRequest asked = request("GET", key);
  asked.headers.emplace_back("Range", "bytes=0-0");
  asked.max_answer = k_error_text;
  HttpAnswer answer;
  Transfer transfer = send(std::move(asked), stop, answer);
  if (transfer.status == k_forbidden) {
    const std::string_view code = xml_element(answer.body, "Code");
    if (!code.empty()) transfer.why += fmt::format(" ({})", printable_start(code, 64));
    // S3 answers so for what is not there to those who may not list the bucket. Of keys that it does not take it
    // says something else.
    if (code.empty() || code == "AccessDenied") transfer.outcome = Outcome::missing;
  }
  if (transfer.outcome != Outcome::done) return transfer;
  const auto range = parse_content_range(answer.header("content-range").value_or(""));
  if (!range)
    return {.outcome = Outcome::refused,
            .why = name_ + "/" + key + ": the bucket does not tell its size"};
  bytes = range->whole;
  return transfer;
}

Transfer Bucket::remove(const std::string& key, const std::stop_token& stop) const {
  HttpAnswer answer;
  const Transfer transfer = send(request("DELETE", key), stop, answer);
  return transfer.outcome == Outcome::missing ? Transfer{} : transfer;
}

}  // namespace navtalk
