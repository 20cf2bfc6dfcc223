#include "cmd/job/remote/job_client.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "core/base/error.h"
#include "core/base/id.h"
#include "core/base/interrupt.h"
#include "core/files/partial_path.h"
#include "core/files/secret_file.h"
#include "core/log/log.h"
#include "core/net/retry_after.h"
#include "core/net/url.h"
#include "core/text/percent.h"
#include "core/text/printable.h"

namespace navtalk::cmd {
namespace {

using namespace std::chrono_literals;

constexpr int k_tries = 6;
constexpr auto k_first_pause = 500ms, k_longest_wait = 10'000ms;
constexpr auto k_patience = 600s;           // with a gateway that is away while jobs are waited for
constexpr auto k_longest_asked = 60s;       // a gateway that asks for more time is not waited for
constexpr std::uint64_t k_piece = 8 << 20;  // bytes of a result at once
constexpr auto k_upload_timeout = 300s;

// A member of the error that the gateway tells; `other` where it tells none.
std::string told(const HttpAnswer& answer, const char* member, const std::string& other) {
  const nlohmann::json body = nlohmann::json::parse(answer.body, nullptr, false);
  if (!body.is_object() || !body.contains("error") || !body["error"].is_object()) return other;
  const auto text = body["error"].find(member);
  return text != body["error"].end() && text->is_string() ? text->get<std::string>() : other;
}

// The tenant's queue is full: until jobs of it are done, which takes longer than this command tries.
bool is_over_quota(const HttpAnswer& answer) {
  return answer.status == 429 && told(answer, "code", "") == "quota";
}

// What the gateway says about a refusal, else its status.
Error refusal(const HttpAnswer& answer) {
  const std::string message =
      told(answer, "message", fmt::format("the gateway answered {}", answer.status));
  if (answer.status == 404) return {Code::not_found, message};
  if (is_over_quota(answer)) return {Code::no_capacity, message};
  const bool ours = answer.status >= 400 && answer.status < 500;
  return {ours ? Code::invalid : Code::failed, message};
}

bool is_for_later(const HttpResult& result) {
  if (const auto* fault = std::get_if<HttpFault>(&result))
    return fault->kind != HttpFault::Kind::stopped;
  const auto& answer = std::get<HttpAnswer>(result);
  if (answer.status == 429) return !is_over_quota(answer);
  return answer.status == 408 || answer.status == 502 || answer.status == 503 ||
         answer.status == 504;
}

std::chrono::seconds asked_pause(const HttpResult& result) {
  const auto* answer = std::get_if<HttpAnswer>(&result);
  return answer == nullptr ? 0s : retry_after(*answer).value_or(0s);
}

void pause(std::chrono::milliseconds time, const std::stop_token& stop) {
  const auto until = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < until) {
    throw_if_stopped(stop);
    std::this_thread::sleep_for(50ms);
  }
}

std::string own_gateway(const Config& config) {
  const bool tls = !config.server.tls_certificate_file.empty();
  return (tls ? "https://" : "http://") + config.server.listen;
}

}  // namespace

void add_gateway_options(CLI::App& command, GatewayOptions& options) {
  command
      .add_option("--url", options.url, "The gateway (default: the one that server.listen names)")
      ->type_name("URL");
  command
      .add_option("--key-file", options.key_file,
                  "File with the API key (default: the variable NAVTALK_API_KEY)")
      ->type_name("FILE");
}

JobClient::JobClient(const GatewayOptions& options, const Context& context)
    : url_(options.url.empty() ? own_gateway(context.config) : options.url),
      key_(read_secret({.name = "API key", .variable = "NAVTALK_API_KEY"}, options.key_file)),
      stop_(context.stop) {
  const HttpUrl url = parse_http_url(url_);
  url_ = url.base();
  if (!key_.empty() && !url.secure && !url.loopback())
    throw Error(Code::invalid,
                url.authority() + " would get the API key in clear text: use an https:// URL");
}

HttpResult JobClient::send(HttpRequest request) {
  request.url = url_ + request.url;
  if (!key_.empty()) request.headers.emplace_back("Authorization", "Bearer " + key_);
  HttpResult result = client_.send(request, stop_);
  throw_if_stopped(stop_);
  return result;
}

HttpAnswer JobClient::ask(const HttpRequest& request, std::chrono::seconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  auto wait = std::chrono::milliseconds(k_first_pause);
  for (int tries = 1;;
       ++tries, wait = std::min(wait * 2, std::chrono::milliseconds(k_longest_wait))) {
    HttpResult result = send(request);
    const std::chrono::seconds asked = asked_pause(result);
    const bool last = tries >= k_tries && std::chrono::steady_clock::now() >= until;
    if (!is_for_later(result) || last || asked > k_longest_asked) {
      if (auto* answer = std::get_if<HttpAnswer>(&result)) return std::move(*answer);
      throw Error(Code::failed, std::get<HttpFault>(result).message);
    }
    pause(std::max<std::chrono::milliseconds>(wait, asked), stop_);
  }
}

nlohmann::json JobClient::ask_for_json(const HttpRequest& request, std::chrono::seconds patience) {
  const HttpAnswer answer = ask(request, patience);
  if (answer.status / 100 != 2) throw refusal(answer);
  nlohmann::json body = nlohmann::json::parse(answer.body, nullptr, false);
  if (!body.is_object())
    throw Error(Code::failed, url_ + " is not a navtalk gateway: its answer is no JSON object");
  return body;
}

nlohmann::json JobClient::ask_about(const std::string& id, HttpRequest request,
                                    std::chrono::seconds patience) {
  request.url = "/v1/jobs/" + percent_encoded(id);
  try {
    return ask_for_json(request, patience);
  } catch (const Error& error) {
    if (error.code() != Code::not_found) throw;
    throw error.within("job " + printable(id));
  }
}

nlohmann::json JobClient::submit(const nlohmann::json& job, const std::string& audio,
                                 const std::string& key) {
  HttpRequest request{.method = "POST",
                      .url = "/v1/jobs",
                      .headers = {{"Idempotency-Key", key}},
                      .timeout = k_upload_timeout};
  const std::string text = job.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (audio.empty()) {
    request.headers.emplace_back("Content-Type", "application/json");
    request.body = text;
  } else {
    // Random, so that no speech has it.
    const std::string boundary = "navtalk-" + random_id();
    request.headers.emplace_back("Content-Type", "multipart/form-data; boundary=" + boundary);
    request.body = fmt::format(
        "--{0}\r\nContent-Disposition: form-data; name=\"job\"\r\nContent-Type: "
        "application/json\r\n\r\n{1}\r\n--{0}\r\nContent-Disposition: form-data; name=\"audio\"; "
        "filename=\"audio\"\r\n\r\n",
        boundary, text);
    request.body += audio;
    request.body += "\r\n--" + boundary + "--\r\n";
  }
  return ask_for_json(request);
}

nlohmann::json JobClient::show(const std::string& id) { return ask_about(id, {}); }

nlohmann::json JobClient::show_when_back(const std::string& id) {
  return ask_about(id, {}, k_patience);
}

nlohmann::json JobClient::events(const std::string& id) {
  bool lists = true;
  std::string text;
  // A stream of events has no end while the job runs.
  const auto take = [&](const HttpAnswer& head, std::string_view bytes) {
    lists = head.header("content-type").value_or("").starts_with("application/json");
    text += bytes;
    return lists;
  };
  HttpRequest request{.url = "/v1/jobs/" + percent_encoded(id) + "/events",
                      .headers = {{"Accept", "application/json"}},
                      .on_body = take};
  HttpResult result = send(request);
  const auto* answer = std::get_if<HttpAnswer>(&result);
  if (answer != nullptr && answer->status / 100 != 2) throw refusal(*answer);
  if (answer == nullptr && lists) throw Error(Code::failed, std::get<HttpFault>(result).message);
  const nlohmann::json body = nlohmann::json::parse(text, nullptr, false);
  if (!body.is_object() || !body.contains("events"))
    throw Error(Code::failed, "a gateway of an older version lists no events");
  return body["events"];
}

nlohmann::json JobClient::list(const std::string& query) {
  return ask_for_json({.url = "/v1/jobs" + query});
}

nlohmann::json JobClient::cancel(const std::string& id) {
  return ask_about(id, {.method = "DELETE"});
}

void JobClient::fetch(const nlohmann::json& job, const std::filesystem::path& file, bool force,
                      const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
  if (job.at("state") != "done")
    throw Error(Code::failed,
                fmt::format("job {} has no video: it is {}", job.at("id").get<std::string>(),
                            job.at("state").get<std::string>()));
  const auto bytes = job.at("result").at("bytes").get<std::uint64_t>();
  PartialPath partial({.target = file, .overwrite = force});
  std::ofstream to(partial.path(), std::ios::binary);
  for (std::uint64_t done = 0; done < bytes;) {
    progress(done, bytes);
    const std::uint64_t last = std::min(bytes, done + k_piece) - 1;
    const HttpAnswer answer = ask({.url = job.at("result").at("url"),
                                   .headers = {{"Range", fmt::format("bytes={}-{}", done, last)}},
                                   .timeout = k_upload_timeout});
    if (answer.status != 206 && answer.status != 200) throw refusal(answer);
    const bool whole = answer.status == 200 && done == 0 && answer.body.size() == bytes;
    if (!whole && (answer.status != 206 || answer.body.size() != last - done + 1))
      throw Error(Code::failed, "the gateway sent another part of the video than it was asked for");
    to.write(answer.body.data(), static_cast<std::streamsize>(answer.body.size()));
    to.flush();
    if (!to) throw Error(Code::failed, file.native() + " cannot be written: the disk may be full");
    done += answer.body.size();
  }
  to.close();
  partial.commit();
}

}  // namespace navtalk::cmd
