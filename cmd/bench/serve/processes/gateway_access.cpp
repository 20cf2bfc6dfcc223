#include "cmd/bench/serve/processes/gateway_access.h"

#include <signal.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cmd/bench/child_process.h"
#include "cmd/bench/serve/processes/process_use.h"
#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/base/sleep.h"
#include "core/files/secret_file.h"
#include "core/files/state_directory.h"
#include "core/files/temporary_folder.h"
#include "core/net/url.h"
#include "core/text/printable.h"
#include "scheduler/health/worker_protocol.h"

namespace navtalk::cmd {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr auto k_worker_ready_within = 120s;
constexpr auto k_another_within = 5s;  // what a gateway takes at most to try another one
constexpr auto k_between_looks = 50ms;
constexpr const char* k_operator_key_file = "operator-key";
constexpr const char* k_worker_token_file = "worker-token";

std::string text_member_of(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::optional<pid_t> local_listener(const std::string& url) {
  const HttpUrl parts = parse_http_url(url);
  return parts.loopback() ? listener_of(parts.port) : std::nullopt;
}

// "" where the token is not known, or would travel in clear text.
std::string token_of(const WorkerTokens& tokens, const nlohmann::json& gpu) {
  try {
    return text_member_of(gpu, "provider") == "external"
               ? tokens.of_url(text_member_of(gpu, "url"))
               : tokens.of_worker(text_member_of(gpu, "name"));
  } catch (const Error&) {
    return "";
  }
}

// Of a gateway that this command did not start: nothing is made, and a missing file is not an error.
// What lies on this machine is for gateways of this machine.
std::string secret_if_there(const SecretKind& kind, const fs::path& file, bool local) {
  std::error_code none;
  return read_secret(kind, local && fs::exists(file, none) ? file : fs::path());
}

// What would make a gateway other than the embedded defaults. Where the demo lies makes it no other.
bool configures(const std::string& variable) {
  if (variable == "NAVTALK_DATA_DIR") return false;
  return variable.starts_with("NAVTALK_") || variable == "MIN_RUNNING_GPU" ||
         variable == "FREE_RUNNING_GPU" || variable == "RUNPOD_API_KEY" ||
         variable == "STATE_DIRECTORY";
}

std::string first_line(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

std::string last_line(const fs::path& file) {
  std::ifstream stream(file);
  std::string last;
  for (std::string line; std::getline(stream, line);) last = line;
  return printable_start(last, 500);
}

}  // namespace

GatewayAccess::GatewayAccess(std::string url, Secrets secrets, std::string admin_url)
    : url_(std::move(url)),
      admin_url_(admin_url.empty() ? url_ : std::move(admin_url)),
      secrets_(std::move(secrets)),
      pid_(local_listener(url_)) {}

std::optional<std::string> GatewayAccess::get(const std::string& url, const std::string& bearer) {
  HttpRequest request{.url = url, .headers = worker_request_headers(bearer)};
  // A connection that is kept would count among the descriptors of what is measured.
  request.headers.emplace_back("Connection", "close");
  const HttpResult result = client_.send(request);
  const auto* answer = std::get_if<HttpAnswer>(&result);
  if (answer == nullptr || answer->status != 200) return std::nullopt;
  return answer->body;
}

std::optional<std::vector<MeasuredWorker>> GatewayAccess::ask_workers() {
  if (secrets_.operator_key.empty()) return std::nullopt;
  const auto body = get(admin_url_ + "/v1/pool", secrets_.operator_key);
  if (!body) return std::nullopt;
  std::vector<MeasuredWorker> found;
  const nlohmann::json pool = nlohmann::json::parse(*body, nullptr, false);
  for (const nlohmann::json& gpu : pool.value("gpus", nlohmann::json::array())) {
    MeasuredWorker worker{.name = text_member_of(gpu, "name"),
                          .url = text_member_of(gpu, "url"),
                          .state = text_member_of(gpu, "state"),
                          .error = text_member_of(gpu, "last_error")};
    if (!worker.url.empty()) worker.token = token_of(secrets_.tokens, gpu);
    found.push_back(std::move(worker));
  }
  return found;
}

std::vector<MeasuredWorker> GatewayAccess::workers() {
  std::vector<MeasuredWorker> found = ask_workers().value_or(std::vector<MeasuredWorker>());
  std::erase_if(found, [](const MeasuredWorker& worker) { return worker.url.empty(); });
  for (MeasuredWorker& worker : found) worker.pid = local_listener(worker.url);
  return found;
}

void GatewayAccess::await_worker(const std::stop_token& stop) {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + k_worker_ready_within;
  auto last_hope = Clock::now();
  std::string states;
  while (Clock::now() < until) {
    const auto found = ask_workers();
    if (!found) return;
    states.clear();
    bool hope = found->empty();
    for (const MeasuredWorker& worker : *found) {
      if (worker.state == "idle" || worker.state == "running") return;
      hope = hope || worker.state != "failed";
      states += (states.empty() ? "" : ", ") + worker.state;
      if (!worker.error.empty()) states += " (" + printable_start(worker.error, 500) + ")";
    }
    if (hope) last_hope = Clock::now();
    if (Clock::now() > last_hope + k_another_within)
      throw Error(Code::failed, "the gateway's workers failed: " + states);
    sleep_for(k_between_looks, stop);
    throw_if_stopped(stop);
  }
  throw Error(Code::failed, "no worker of the gateway got ready within two minutes" +
                                (states.empty() ? "" : ": " + states));
}

void GatewayAccess::add_worker(const std::string& url, int slots) {
  const nlohmann::json body = {{"url", url}, {"slots", slots}};
  const HttpResult result =
      client_.send({.method = "POST",
                    .url = admin_url_ + "/v1/pool/gpus",
                    .headers = {{"Authorization", "Bearer " + secrets_.operator_key},
                                {"Content-Type", "application/json"},
                                {"Connection", "close"}},
                    .body = body.dump()});
  if (const auto* fault = std::get_if<HttpFault>(&result))
    throw Error(Code::failed, fault->message);
  const auto& answer = std::get<HttpAnswer>(result);
  if (answer.status != 201)
    throw Error(Code::failed, "the gateway refused a worker: " + printable_start(answer.body, 500));
}

Metrics GatewayAccess::gateway_metrics() {
  return parse_metrics(get(admin_url_ + "/metrics", secrets_.operator_key).value_or(""));
}

Metrics GatewayAccess::worker_metrics() {
  Metrics sum;
  for (const MeasuredWorker& worker : workers()) {
    add(sum, parse_metrics(get(worker.url + "/metrics", worker.token).value_or("")));
  }
  return sum;
}

struct OwnGateway::State {
  TemporaryFolder folder{};
  std::optional<ChildProcess> process{};
  std::string url{};
};

OwnGateway::OwnGateway(const Options& options, const std::stop_token& stop)
    : state_(std::make_unique<State>()) {
  const fs::path& folder = state_->folder.path();
  const fs::path log = folder / "log", configuration = folder / "navtalk.toml";
  std::ofstream(configuration) << "[local]\nslots_per_device = " << options.slots << "\n"
                               << (options.local_worker ? "" : "devices = [\"none\"]\n");
  state_->process.emplace(
      ChildProcess::Start{.arguments = {"--json", "--config", configuration.native(), "serve",
                                        "--listen", "127.0.0.1:0", "--drain-s", "0"},
                          .variables = {"STATE_DIRECTORY=" + folder.native()},
                          .withheld = configures,
                          .errors = log});
  try {
    state_->url = nlohmann::json::parse(state_->process->line(stop)).at("url").get<std::string>();
  } catch (const Error& error) {
    if (error.code() != Code::failed) throw;
    throw Error(Code::failed, "the gateway did not start: " + last_line(log));
  }
}

// Its workers would go on for a minute, so that a next gateway finds them.
OwnGateway::~OwnGateway() {
  const fs::path& folder = state_->folder.path();
  state_->process->terminate();
  for (const pid_t worker : processes_of_state(folder)) kill(worker, SIGKILL);
}

GatewayAccess OwnGateway::access() const {
  const fs::path& folder = state_->folder.path();
  return GatewayAccess(state_->url,
                       {.operator_key = first_line(folder / k_operator_key_file),
                        .tokens = WorkerTokens(first_line(folder / k_worker_token_file))});
}

GatewayAccess access_to(const std::string& url, const std::string& admin_url,
                        const Config& config) {
  const HttpUrl parts = parse_http_url(url);
  const HttpUrl admin = admin_url.empty() ? parts : parse_http_url(admin_url);
  const fs::path state = state_directory();
  const auto secret = [&](const SecretKind& kind, const fs::path& configured, const char* file) {
    return secret_if_there(kind, configured.empty() ? state / file : configured,
                           parts.loopback() && admin.loopback());
  };
  GatewayAccess::Secrets secrets{
      .operator_key = secret({.name = "operator key", .variable = "NAVTALK_OPERATOR_KEY"},
                             config.server.operator_key_file, k_operator_key_file)};
  const std::string shared = secret({.name = "worker token", .variable = "NAVTALK_WORKER_TOKEN"},
                                    config.pool.worker_token_file, k_worker_token_file);
  if (!shared.empty()) secrets.tokens = WorkerTokens(shared, config.pool.allow_http_workers);
  return GatewayAccess(parts.base(), std::move(secrets), admin.base());
}

}  // namespace navtalk::cmd
