// Workers as child processes of this host, one a device. What /proc says is the truth: a restarted
// gateway finds the workers that still run by the name on their command line, and one that crashed
// is known by its exit status. Workers end by themselves when no gateway speaks to them for a
// minute, so none is ever orphaned.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/base/guarded.h"
#include "core/process/identity.h"
#include "scheduler/provision/local/children.h"
#include "scheduler/provision/local/crash_history.h"
#include "scheduler/provision/provider.h"

namespace navtalk {

struct LocalProviderOptions {
  std::filesystem::path program;         // navtalk itself
  std::vector<std::string> arguments{};  // more for `serve --worker`: --config, --log-level
  // NAME=value, over the environment of this process. Unlike the arguments above they tell a worker
  // that was started otherwise.
  std::vector<std::string> environment{};
  std::vector<std::string> devices = {"cpu"};
  int slots = 1;                       // of each new worker
  std::string host;                    // rows of other hosts are not ours
  std::string token;                   // that workers ask for; passed through the environment
  std::string owner = this_process();  // who starts them; what a living owner started is as it is
  // From the start of the process to the line with its address.
  std::chrono::milliseconds address_timeout{20'000};
  // From SIGTERM to SIGKILL.
  std::chrono::milliseconds stop_timeout{10'000};
  // A worker that no gateway spoke to for so long ends by itself.
  std::chrono::seconds gateway_silence{60};
  // A worker ended that nobody asked to end: its name, and how. On a thread of the provider.
  std::function<void(const std::string& name, const std::string& how)> on_crash{};
};

class LocalProvider : public Provider {
 public:
  explicit LocalProvider(LocalProviderOptions options);

  Source source() const override { return Source::local; }
  // gpu.device says where; it is done when the process has told its address. A device on which
  // workers crashed rests first (NoCapacity).
  Outcome create(const Gpu& gpu, const std::stop_token& stop) override;
  Outcome wake(const Gpu& gpu, const std::stop_token& stop) override;
  Outcome pause(const Gpu& gpu, const std::stop_token& stop) override;
  // SIGTERM, which lets sessions end, then SIGKILL.
  Outcome destroy(const Gpu& gpu, const std::stop_token& stop) override;
  // Workers that run, and ended ones that were not destroyed yet (failed, with how they ended).
  Listing list(const std::stop_token& stop) override;
  int room(const std::vector<Gpu>& existing) const override;
  double expected_usd_per_hour() const override { return 0; }

 private:
  std::vector<std::string> arguments(const Gpu& gpu, const std::string& device) const;
  local::ChildCommand command(const Gpu& gpu, const std::string& device) const;
  Outcome address_of(const Gpu& gpu, const std::string& device,
                     const local::Children::Started& child, const std::stop_token& stop);
  Outcome give_up(const local::Children::Started& child, const std::string& why);
  std::optional<local::ProcessId> process_of(const Gpu& gpu) const;
  std::string outdated(const local::WorkerProcess& process) const;
  Instance instance_of(const local::WorkerProcess& process, const std::stop_token& stop) const;
  void on_end(const local::EndedChild& child);

  LocalProviderOptions options_;
  Guarded<local::CrashHistory> crashes_;
  Guarded<std::map<std::string, std::string>> devices_;  // by worker's name
  local::Children children_;                             // last: its thread uses the rest
};

}  // namespace navtalk
