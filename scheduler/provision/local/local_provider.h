// Workers as child processes of this host, one for each device. /proc is the source of truth: a
// restarted gateway finds the workers that still run by the name on their command line. A child that
// crashed is known by its exit status. Workers exit when no gateway contacts them for a minute, so
// none is left over.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/base/guarded.h"
#include "core/process/identity.h"
#include "scheduler/health/worker_tokens.h"
#include "scheduler/provision/local/children.h"
#include "scheduler/provision/local/crash_history.h"
#include "scheduler/provision/provider.h"

namespace navtalk {

struct LocalProviderOptions {
  std::filesystem::path program;         // navtalk itself
  std::vector<std::string> arguments{};  // more for `serve --worker`: --config, --log-level
  // NAME=value, added to the environment of this process. Unlike the arguments above, a difference in
  // these makes a worker outdated.
  std::vector<std::string> environment{};
  std::vector<std::string> secrets{};  // the same, compared with nothing
  std::vector<std::string> devices = {"cpu"};
  int slots = 1;          // of each new worker
  std::string host;       // rows of other hosts are not ours
  WorkerTokens tokens{};  // each worker gets its own through the environment
  std::string owner =
      this_process();  // who starts them; workers of a living owner are not outdated
  // From the start of the process to the line with its address.
  std::chrono::milliseconds address_timeout{20'000};
  // From SIGTERM to SIGKILL.
  std::chrono::milliseconds stop_timeout{10'000};
  // A worker that no gateway contacts for so long exits.
  std::chrono::seconds gateway_timeout{60};
  // A worker ended by itself: its name, and how. Called on a thread of the provider. Where another gateway started it, it may be
  // another pool's, or that or a third gateway may have ended it.
  std::function<void(const std::string& name, const std::string& how)> on_crash{};
  // Why rows of this host may name processes that cannot be seen from here; empty: none does. While
  // there is a reason, nothing is concluded and nothing is done.
  std::function<std::string()> blind{};
};

class LocalProvider : public Provider {
 public:
  explicit LocalProvider(LocalProviderOptions options);

  Source source() const override { return Source::local; }
  // On gpu.device; done when the process has printed its address. NoCapacity during the backoff of a
  // device on which workers crashed.
  Outcome create(const Gpu& gpu, const std::stop_token& stop) override;
  Outcome wake(const Gpu& gpu, const std::stop_token& stop) override;
  Outcome pause(const Gpu& gpu, const std::stop_token& stop) override;
  // SIGTERM, which lets sessions end, then SIGKILL.
  Outcome destroy(const Gpu& gpu, const std::stop_token& stop) override;
  // Workers that run, and ended ones that were not destroyed yet (failed, with how they ended). Those of gateways that run no
  // more are watched from then on: on_crash tells of their end, too.
  Listing list(const std::stop_token& stop) override;
  // The same for one process. A process that /proc lacks has ended for certain.
  Lookup find(const Gpu& gpu, const std::stop_token& stop) override;
  // Its process is gone, and the backoff of its device is over. That of a worker of another gateway that runs is not known here.
  bool replaceable(const Gpu& gpu, bool sole) override;
  int creatable(const std::vector<Gpu>& existing) const override;
  double expected_usd_per_hour() const override { return 0; }
  // Workers that this process started and that still run. They stay up for `gateway_timeout` after it
  // ends, so that the next gateway finds them ready.
  std::size_t running() const { return children_.running(); }
  std::chrono::seconds gateway_timeout() const { return options_.gateway_timeout; }

 private:
  std::vector<std::string> arguments(const Gpu& gpu, const std::string& device) const;
  local::ChildCommand command(const Gpu& gpu, const std::string& device) const;
  Outcome address_of(const Gpu& gpu, const std::string& device,
                     const local::Children::Started& child, const std::stop_token& stop);
  Outcome give_up(const local::Children::Started& child, const std::string& why);
  std::string why_blind() const;
  std::optional<ProcessId> process_of(const Gpu& gpu) const;
  bool is_orphaned(const local::WorkerProcess& process) const;
  void adopt(const local::WorkerProcess& process);
  std::string outdated(const local::WorkerProcess& process) const;
  Instance instance_of(const local::WorkerProcess& process, bool orphaned,
                       const std::stop_token& stop) const;
  std::vector<Instance> crashed() const;
  void on_end(const local::EndedChild& child);

  LocalProviderOptions options_;
  Guarded<local::CrashHistory> crashes_;
  // By worker's name, until its end is recorded in crashes_.
  Guarded<std::map<std::string, std::string>> devices_;
  local::Children children_;  // last: its thread uses the rest
};

}  // namespace navtalk
