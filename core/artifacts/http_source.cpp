#include "core/artifacts/http_source.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <span>

#include "core/artifacts/parts_upload.h"
#include "core/base/cptr.h"
#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/checkpoint/checkpoint.h"
#include "core/net/retry_after.h"
#include "core/net/url.h"
#include "core/text/number.h"

namespace navtalk {
namespace {

using Outcome = Transfer::Outcome;

constexpr int k_redirects = 5;
constexpr int k_range_not_satisfiable = 416;

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// Where an answer redirects to; empty when its Location is not a URL.
std::string resolved(const std::string& url, const std::string& location) {
  const CPtr<CURLU, curl_url_cleanup> parsed(curl_url());
  char* text = nullptr;
  const bool good = curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) == CURLUE_OK &&
                    curl_url_set(parsed.get(), CURLUPART_URL, location.c_str(), 0) == CURLUE_OK &&
                    curl_url_get(parsed.get(), CURLUPART_URL, &text, 0) == CURLUE_OK;
  const CPtr<char, curl_free> owned(text);
  return good ? text : "";
}

// To https, or within this machine; from elsewhere never to this machine's own services.
bool may_follow(const HttpUrl& from, const std::string& to) {
  try {
    const HttpUrl next = parse_http_url(to);
    return (next.secure || (next.loopback() && !from.secure)) &&
           (!next.loopback() || from.loopback());
  } catch (const Error&) {
    return false;
  }
}

// Puts the bytes of one answer where they belong, whatever the server makes of the range that was
// asked for.
class BlobWriter {
 public:
  explicit BlobWriter(PartialBlob& blob) : blob_(blob), asked_(blob.size()) {}

  // Called by curl, through which no exception may pass.
  bool take(const HttpAnswer& head, std::string_view bytes) noexcept {
    try {
      return write(head, bytes);
    } catch (...) {
      failure_ = std::current_exception();
      return false;
    }
  }
  // Empty: all went well. Error{failed} when the disk is full.
  const std::string& problem() const {
    if (failure_) std::rethrow_exception(failure_);
    return problem_;
  }

 private:
  bool write(const HttpAnswer& head, std::string_view bytes) {
    if (!begun_ && !begin(head)) return false;
    begun_ = true;
    if (blob_.append(bytes)) return true;
    problem_ = fmt::format("sends more than the {} bytes of the manifest", blob_.wanted());
    return false;
  }

  bool begin(const HttpAnswer& head) {
    if (head.status != 206) {  // from the beginning, although a range was asked for
      if (blob_.size() > 0) blob_.restart();
      return true;
    }
    const auto range = parse_content_range(head.header("content-range").value_or(""));
    if (range && range->first == asked_ && range->whole == blob_.wanted()) return true;
    problem_ = "answers with other bytes than the requested ones";
    return false;
  }

  PartialBlob& blob_;
  const std::uint64_t asked_;
  bool begun_ = false;
  std::string problem_;
  std::exception_ptr failure_;
};

std::string range_problem(const HttpAnswer& head, const FileRange& range) {
  if (head.status != 206) return "sends the whole file instead of a range";
  const auto sent = parse_content_range(head.header("content-range").value_or(""));
  if (sent && sent->first == range.first && sent->whole == range.whole) return "";
  return "answers with other bytes than the requested ones";
}

bool same_origin(const HttpUrl& a, const HttpUrl& b) {
  return a.secure == b.secure && a.host == b.host && a.port == b.port;
}

class HttpSource : public ArtifactSource {
 public:
  explicit HttpSource(HttpSourceOptions options) : options_(std::move(options)) {}

  const std::string& name() const override { return options_.name; }

  Transfer read(const std::string& key, std::size_t longest, std::string& text,
                const std::stop_token& stop) override {
    HttpRequest asked = request("GET", key);
    asked.max_answer = longest;
    bool more = false;
    Transfer transfer = send(std::move(asked), stop, [&](HttpAnswer& answer) {
      more = answer.header("link").value_or("").find("rel=\"next\"") != std::string::npos;
      text = std::move(answer.body);
    });
    transfer.more = more;
    return transfer;
  }

  std::unique_ptr<ArtifactSource> another() const override {
    return std::make_unique<HttpSource>(options_);
  }

  Transfer fetch_range(const std::string& key, const FileRange& range,
                       const std::function<bool(std::string_view)>& take,
                       const std::stop_token& stop) override {
    HttpRequest asked = request("GET", key);
    const std::string known = moved_.key == key ? moved_.url : "";
    if (!known.empty()) move(asked, known);
    asked.headers.emplace_back("Range", fmt::format("bytes={}-{}", range.first, range.end - 1));
    std::string problem;
    bool begun = false;
    asked.on_body = [&](const HttpAnswer& head, std::string_view bytes) {
      if (!begun) problem = range_problem(head, range);
      begun = true;
      return problem.empty() && take(bytes);
    };
    moved_ = {};
    Transfer transfer = send(
        std::move(asked), stop, [](HttpAnswer&) {}, key);
    if (!problem.empty())
      return {.outcome = Outcome::refused, .why = options_.name + "/" + key + ": " + problem};
    // Where it was redirected to may have been an address for a while.
    if (!known.empty() && transfer.outcome == Outcome::refused) transfer.outcome = Outcome::again;
    if (transfer.outcome != Outcome::done) {
      moved_ = {};
    } else if (moved_.url.empty() && !known.empty()) {
      moved_ = {.key = key, .url = known};
    }
    return transfer;
  }

  Transfer fetch(const std::string& key, PartialBlob& blob, const std::stop_token& stop) override {
    if (blob.size() == blob.wanted()) return {};
    HttpRequest asked = request("GET", key);
    if (blob.size() > 0) asked.headers.emplace_back("Range", fmt::format("bytes={}-", blob.size()));
    BlobWriter writer(blob);
    asked.on_body = [&writer](const HttpAnswer& head, std::string_view bytes) {
      return writer.take(head, bytes);
    };
    Transfer transfer = send(std::move(asked), stop, [](HttpAnswer&) {});
    if (!writer.problem().empty()) {
      // What was written may be wrong as well.
      blob.restart();
      return again(key, writer.problem());
    }
    // The server has fewer bytes than were kept, so that these are of something else.
    if (status_ == k_range_not_satisfiable) blob.restart();
    if (transfer.outcome != Outcome::done) return transfer;
    if (blob.size() < blob.wanted())
      return again(key, fmt::format("sends {} of {} bytes", blob.size(), blob.wanted()));
    return transfer;
  }

  Transfer find(const std::string& key, std::uint64_t bytes, const std::stop_token& stop) override {
    Transfer there;
    const Transfer transfer = send(request("HEAD", key), stop, [&](HttpAnswer& answer) {
      const auto length = parse_number<std::uint64_t>(answer.header("content-length").value_or(""));
      if (length != bytes) there = {.outcome = Outcome::missing, .why = "another size"};
    });
    // S3 answers 403 for what is not there to those who may not list the bucket.
    if (transfer.outcome == Outcome::refused && options_.s3)
      return {.outcome = Outcome::missing, .why = transfer.why};
    return transfer.outcome == Outcome::done ? there : transfer;
  }

  Transfer put_file(const std::string& key, const std::filesystem::path& file,
                    const std::string& sha256, const std::stop_token& stop) override {
    std::error_code error;
    const std::uint64_t bytes = std::filesystem::file_size(file, error);
    if (!error && bytes > options_.largest_put && options_.identity)
      return put_in_parts({.name = options_.name + "/" + key,
                           .object = request("PUT", key),
                           .part_bytes = options_.part_bytes},
                          file, stop);
    HttpRequest put = request("PUT", key);
    put.body_file = file;
    put.body_sha256 = sha256;
    return upload(std::move(put), stop);
  }

  Transfer put_text(const std::string& key, const std::string& text,
                    const std::stop_token& stop) override {
    HttpRequest put = request("PUT", key);
    put.body = text;
    put.body_sha256 = navtalk::sha256(std::as_bytes(std::span(text.data(), text.size())));
    put.headers.emplace_back("Content-Type", "application/json");
    return upload(std::move(put), stop);
  }

 private:
  HttpRequest request(const char* method, const std::string& key) const {
    auto headers = options_.headers;
    headers.insert(headers.end(), options_.origin_headers.begin(), options_.origin_headers.end());
    return {.method = method,
            .url = options_.url + "/" + key,
            .headers = std::move(headers),
            .connect_timeout = options_.connect_timeout,
            .timeout = std::chrono::milliseconds(0),
            .stall_timeout = options_.stall_timeout,
            .least_rate = options_.least_rate,
            .aws = options_.identity,
            .body_sha256 = k_nothing_sha256};
  }

  void move(HttpRequest& asked, const std::string& url) const {
    asked.url = url;
    if (same_origin(parse_http_url(url), parse_http_url(options_.url))) return;
    std::erase_if(asked.headers, [&](const auto& header) {
      return std::ranges::find(options_.origin_headers, header) != options_.origin_headers.end();
    });
  }

  Transfer again(const std::string& key, const std::string& why) const {
    return {.outcome = Outcome::again, .why = options_.name + "/" + key + ": " + why};
  }

  Transfer upload(HttpRequest put, const std::stop_token& stop) {
    if (!options_.s3)
      return {.outcome = Outcome::refused,
              .why = options_.name + " can only be read: push to s3://BUCKET/PREFIX or a folder"};
    if (!options_.identity)
      return {.outcome = Outcome::refused,
              .why = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to write to a bucket"};
    return send(std::move(put), stop, [](HttpAnswer&) {});
  }

  // Follows redirects. `take` gets the answer that says done.
  template <class Take>
  Transfer send(HttpRequest asked, const std::stop_token& stop, const Take& take) {
    const std::string key = asked.url.substr(options_.url.size() + 1);
    return send(std::move(asked), stop, take, key);
  }
  template <class Take>
  Transfer send(HttpRequest asked, const std::stop_token& stop, const Take& take,
                const std::string& key) {
    const std::string shown = options_.name + "/" + key;
    for (int hop = 0;; ++hop) {
      status_ = 0;
      HttpResult result = client_.send(asked, stop);
      throw_if_stopped(stop);
      if (const auto* fault = std::get_if<HttpFault>(&result)) return judge_fault(*fault);
      auto& answer = std::get<HttpAnswer>(result);
      status_ = answer.status;
      if (!options_.redirects || !is_redirect(answer.status)) {
        Transfer transfer = judge_status(answer);
        transfer.status = answer.status;
        if (transfer.outcome == Outcome::done) take(answer);
        if (!transfer.why.empty()) transfer.why = shown + ": " + transfer.why;
        return transfer;
      }
      const std::string next = resolved(asked.url, answer.header("location").value_or(""));
      if (options_.s3)
        return {.outcome = Outcome::refused,
                .why = shown + ": the bucket is in another region: set AWS_REGION"};
      if (hop == k_redirects || !may_follow(parse_http_url(asked.url), next))
        return {.outcome = Outcome::refused,
                .why = shown + ": redirects to an address that is not allowed"};
      move(asked, next);
      moved_ = {.key = key, .url = next};
    }
  }

  HttpSourceOptions options_;
  HttpClient client_;
  int status_ = 0;  // of the last answer; 0: none came
  // Where content was redirected to, so that not every range is.
  struct Moved {
    std::string key{}, url{};
  } moved_{};
};

}  // namespace

Transfer judge_fault(const HttpFault& fault) {
  using enum HttpFault::Kind;
  const bool lasting = fault.kind == tls || fault.kind == too_long;
  return {.outcome = lasting ? Outcome::refused : Outcome::again,
          .why = fault.message,
          .slow = fault.kind == timeout};
}

Transfer judge_status(const HttpAnswer& answer) {
  const std::string why = fmt::format("the server answered {}", answer.status);
  switch (answer.status) {
    case 200:
    case 201:
    case 204:
    case 206:
      return {};
    case 404:
    case 410:
      return {.outcome = Outcome::missing, .why = why};
    case 401:
    case 403:
      return {.outcome = Outcome::refused, .why = why + ", which refuses access"};
    default:
      break;
  }
  const bool passing = answer.status >= 500 || answer.status == 408 || answer.status == 416 ||
                       answer.status == 425 || answer.status == 429;
  Transfer transfer{.outcome = passing ? Outcome::again : Outcome::refused, .why = why};
  if (passing) transfer.retry_after = retry_after(answer);
  return transfer;
}

std::optional<ContentRange> parse_content_range(std::string_view header) {
  constexpr std::string_view k_unit = "bytes ";
  if (!header.starts_with(k_unit)) return std::nullopt;
  header.remove_prefix(k_unit.size());
  const std::size_t dash = std::min(header.find('-'), header.size());
  const std::size_t slash = std::min(header.find('/'), header.size());
  if (dash >= slash || slash == header.size()) return std::nullopt;
  const auto first = parse_number<std::uint64_t>(header.substr(0, dash));
  const auto whole = parse_number<std::uint64_t>(header.substr(slash + 1));
  if (!first || !whole) return std::nullopt;
  return ContentRange{.first = *first, .whole = *whole};
}

std::unique_ptr<ArtifactSource> http_source(HttpSourceOptions options) {
  return std::make_unique<HttpSource>(std::move(options));
}

}  // namespace navtalk
