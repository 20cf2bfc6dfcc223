// A gateway's jobs over HTTP, as a tenant sees them. What fails for a moment is tried again, when the gateway asks for it where that
// is within a minute; a submission carries a key, so that it is done once. Blocking; one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <stop_token>
#include <string>
#include <vector>

#include "cmd/context.h"
#include "core/net/http_client.h"

namespace CLI {
class App;
}

namespace navtalk::cmd {

struct GatewayOptions {
  std::string url;  // empty: the configured gateway of this machine
  std::filesystem::path key_file;
};
// --url and --key-file.
void add_gateway_options(CLI::App& command, GatewayOptions& options);

class JobClient {
 public:
  // The key is NAVTALK_API_KEY, or in the file; without either, none is sent. Error{invalid} for an URL
  // that is none, and a key that would travel in clear text beyond this machine.
  JobClient(const GatewayOptions& options, const Context& context);

  // The job as the gateway tells it. `audio`: speech, or empty. Error{no_capacity} at once where the tenant may queue no more work.
  nlohmann::json submit(const nlohmann::json& job, const std::string& audio,
                        const std::string& key);
  nlohmann::json show(const std::string& id);
  // The same of a job that is waited for: a gateway that is away is asked again for ten minutes.
  nlohmann::json show_when_back(const std::string& id);
  // Its events so far, oldest first, as the API tells them. Tried once. Error{failed} also where the gateway
  // is of a version that sends them as a stream alone.
  nlohmann::json events(const std::string& id);
  nlohmann::json list(const std::string& query);
  nlohmann::json cancel(const std::string& id);
  // The result of a job that is done, into a file that appears whole. Error{failed} when it is not.
  void fetch(const nlohmann::json& job, const std::filesystem::path& file, bool force,
             const std::function<void(std::uint64_t done, std::uint64_t of)>& progress);

  const std::string& url() const { return url_; }

 private:
  HttpResult send(HttpRequest request);
  // Tries for at least so long, and six times at least.
  HttpAnswer ask(const HttpRequest& request, std::chrono::seconds patience = {});
  nlohmann::json ask_for_json(const HttpRequest& request, std::chrono::seconds patience = {});
  // Of the job itself, which the error names where there is none.
  nlohmann::json ask_about(const std::string& id, HttpRequest request,
                           std::chrono::seconds patience = {});

  std::string url_, key_;
  std::stop_token stop_;
  HttpClient client_;
};

}  // namespace navtalk::cmd
