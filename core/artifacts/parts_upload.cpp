#include "core/artifacts/parts_upload.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <span>
#include <string>

#include "core/artifacts/http_source.h"
#include "core/artifacts/retry.h"
#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/base/sleep.h"
#include "core/checkpoint/checkpoint.h"
#include "core/files/whole_file.h"
#include "core/log/log.h"
#include "core/text/percent.h"

namespace navtalk {
namespace {

using Outcome = Transfer::Outcome;

constexpr std::uint64_t k_most_parts = 10'000;
constexpr int k_part_tries = 3;
constexpr std::chrono::milliseconds k_longest_abandon{5'000};  // this process may be ending

// As the signature has it: what is unreserved in a URL stays as it is.
std::string encoded_id(std::string_view id) {
  std::string text;
  for (const char c : id)
    text += c == '.' || c == '~' ? std::string(1, c) : percent_encoded({&c, 1});
  return text;
}

class Upload {
 public:
  Upload(const PartsUpload& upload, const std::filesystem::path& file, const std::stop_token& stop)
      : upload_(upload), file_(file), stop_(stop) {}

  Transfer run() {
    open_input(file_);  // with an error that names it
    const std::uint64_t bytes = std::filesystem::file_size(file_);
    HttpAnswer answer;
    Transfer transfer = send("POST", "?uploads=", "", answer);
    if (transfer.outcome != Outcome::done) return transfer;
    id_ = encoded_id(xml_element(answer.body, "UploadId"));
    if (id_.empty())
      return {.outcome = Outcome::refused, .why = upload_.name + ": the bucket takes no parts"};
    try {
      transfer = send_parts(bytes);
      if (transfer.outcome == Outcome::done) transfer = complete();
    } catch (...) {
      abandon();
      throw;
    }
    if (transfer.outcome != Outcome::done) abandon();
    return transfer;
  }

 private:
  Transfer send_parts(std::uint64_t bytes) {
    const std::uint64_t least = (bytes + k_most_parts - 1) / k_most_parts;
    const std::uint64_t size = std::max(upload_.part_bytes, least);
    std::ifstream from(file_, std::ios::binary);
    std::string part;
    for (std::uint64_t at = 0, number = 1; at < bytes; at += size, ++number) {
      part.resize(std::min(size, bytes - at));
      if (!from.read(part.data(), static_cast<std::streamsize>(part.size())))
        throw Error(Code::invalid, file_.native() + " was cut while it was sent");
      const Transfer transfer = send_part(number, part);
      if (transfer.outcome != Outcome::done) return transfer;
    }
    return {};
  }

  Transfer send_part(std::uint64_t number, const std::string& part) {
    for (int tries = 1;; ++tries) {
      HttpAnswer answer;
      Transfer transfer =
          send("PUT", fmt::format("?partNumber={}&uploadId={}", number, id_), part, answer);
      if (transfer.outcome == Outcome::done) {
        all_ += fmt::format("<Part><PartNumber>{}</PartNumber><ETag>{}</ETag></Part>", number,
                            answer.header("etag").value_or(""));
        return transfer;
      }
      if (transfer.outcome != Outcome::again || tries == k_part_tries) return transfer;
      if (!sleep_for(retry_delay(tries, 0, transfer.retry_after), stop_)) throw_if_stopped(stop_);
    }
  }

  // An answer 200 may hold an error: the service begins to answer before it is done.
  Transfer complete() {
    HttpAnswer answer;
    const Transfer transfer =
        send("POST", "?uploadId=" + id_,
             "<CompleteMultipartUpload>" + all_ + "</CompleteMultipartUpload>", answer);
    if (transfer.outcome != Outcome::done || xml_element(answer.body, "ETag") != "")
      return transfer;
    return {.outcome = Outcome::again,
            .why = upload_.name + ": the bucket did not put the parts together"};
  }

  // Also when it was stopped: parts that nobody completes are paid for until somebody finds them.
  void abandon() {
    HttpRequest asked = request("DELETE", "?uploadId=" + id_, "");
    asked.timeout = k_longest_abandon;
    HttpAnswer answer;
    const Transfer transfer = judge(client_.send(asked), answer);
    if (transfer.outcome == Outcome::done || transfer.outcome == Outcome::missing) return;
    log::warn("parts of an upload stay in the bucket",
              {{"upload_id", id_}, {"error", transfer.why}});
  }

  Transfer send(const char* method, const std::string& query, const std::string& body,
                HttpAnswer& answer) {
    HttpResult result = client_.send(request(method, query, body), stop_);
    throw_if_stopped(stop_);
    return judge(std::move(result), answer);
  }

  HttpRequest request(const char* method, const std::string& query, const std::string& body) const {
    HttpRequest asked = upload_.object;
    asked.method = method;
    asked.url += query;
    asked.body = body;
    asked.body_sha256 = sha256(std::as_bytes(std::span(body.data(), body.size())));
    return asked;
  }

  Transfer judge(HttpResult result, HttpAnswer& answer) const {
    const auto* const fault = std::get_if<HttpFault>(&result);
    if (fault == nullptr) answer = std::move(std::get<HttpAnswer>(result));
    Transfer transfer = fault != nullptr ? judge_fault(*fault) : judge_status(answer);
    if (!transfer.why.empty()) transfer.why = upload_.name + ": " + transfer.why;
    return transfer;
  }

  const PartsUpload& upload_;
  const std::filesystem::path& file_;
  const std::stop_token& stop_;
  HttpClient client_;
  std::string id_, all_;
};

}  // namespace

Transfer put_in_parts(const PartsUpload& upload, const std::filesystem::path& file,
                      const std::stop_token& stop) {
  return Upload(upload, file, stop).run();
}

std::string_view xml_element(std::string_view text, std::string_view name) {
  const std::string open = fmt::format("<{}>", name), close = fmt::format("</{}>", name);
  const std::size_t start = text.find(open);
  if (start == text.npos) return "";
  text.remove_prefix(start + open.size());
  const std::size_t end = text.find(close);
  return end == text.npos ? "" : text.substr(0, end);
}

}  // namespace navtalk
