// The gateway that `bench serve` measures: one that is there already, or one that it starts. With the
// operator's key it is asked for its workers, and with the pool's secret those are asked for their
// metrics. Blocking; one owner, one thread.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "cmd/bench/serve/metrics.h"
#include "cmd/context.h"
#include "core/net/http_client.h"
#include "scheduler/health/worker_tokens.h"

namespace navtalk::cmd {

struct MeasuredWorker {
  std::string name{}, url{}, state{};
  std::string error{};         // why it failed last; "": it did not
  std::string token{};         // "": it asks for none, or the secret is not known
  std::optional<pid_t> pid{};  // of a worker of this machine and user
};

class GatewayAccess {
 public:
  struct Secrets {
    std::string operator_key{};  // "": not known
    WorkerTokens tokens{};
  };
  // `admin_url`: where it tells operators of its pool and metrics; "": there too.
  GatewayAccess(std::string url, Secrets secrets, std::string admin_url = {});

  const std::string& url() const { return url_; }
  std::optional<pid_t> pid() const { return pid_; }
  // Those with an address. Empty without the operator's key, or when the gateway does not answer.
  std::vector<MeasuredWorker> workers();
  // Waits until a worker is ready, at most two minutes, and five seconds where all of them failed:
  // Error{failed} with what the pool says of the workers. A gateway that does not tell, for want of the operator's key or because it does not answer,
  // is not waited for.
  void await_worker(const std::stop_token& stop);
  // Registers a worker at that URL. Error{failed} when the gateway refuses.
  void add_worker(const std::string& url, int slots);
  // Of the gateway, and of all its workers together; empty when they do not answer.
  Metrics gateway_metrics();
  Metrics worker_metrics();

 private:
  // nullopt when the gateway does not tell. Without process ids.
  std::optional<std::vector<MeasuredWorker>> ask_workers();
  std::optional<std::string> get(const std::string& url, const std::string& bearer);

  std::string url_, admin_url_;
  Secrets secrets_;
  std::optional<pid_t> pid_;
  HttpClient client_;
};

// A gateway of this program in a state folder of its own, with embedded defaults. It and its workers
// end with this object.
class OwnGateway {
 public:
  struct Options {
    int slots = 1;  // of the one local worker
    bool local_worker = true;
  };
  // Error{failed} with the last line of its log when it does not start.
  OwnGateway(const Options& options, const std::stop_token& stop);
  ~OwnGateway();
  OwnGateway(const OwnGateway&) = delete;
  OwnGateway& operator=(const OwnGateway&) = delete;

  GatewayAccess access() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A gateway that is there: with this machine's operator key and secret, as far as they can be read.
GatewayAccess access_to(const std::string& url, const std::string& admin_url, const Config& config);

}  // namespace navtalk::cmd
