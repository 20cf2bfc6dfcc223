// What `navtalk serve` does on SIGHUP: reads its configuration, the operator key and the certificate
// again, and applies what may change while it runs. All of it is checked first: with a fault anywhere
// everything stays as it is. Each key that differs from what runs is logged, and whether it takes
// effect now or after a restart. Of one thread.
#pragma once

#include <functional>
#include <string>

#include "core/config/config.h"
#include "scheduler/pool/schedule/timetable.h"
#include "server/gateway/gateway.h"

namespace navtalk::cmd {

// From the configured files; nullptr where none is configured. Error{invalid} as TlsIdentity::load().
std::shared_ptr<const server::TlsIdentity> tls_identity(const Config& config);
server::AccessRules access_rules(const Config& config, const std::string& operator_key);

class Reload {
 public:
  struct Sources {
    std::function<ConfigReading()> configuration;
    std::function<std::string(const Config&)> operator_key;
    // Makes the limits and their schedules those of that configuration. Throws nothing.
    std::function<void(const Timetable&)> limits;
  };
  // `running`: what the gateway was started with.
  Reload(Sources sources, Config running, std::string operator_key, server::Gateway& gateway);

  // Throws nothing.
  void run();

 private:
  // Error when anything is wrong; nothing has changed then.
  void apply_all();
  // Logs what differs, and takes over what takes effect. The number of differences.
  int take_over(const Config& read);
  int take_over_blocks(const Config& read);

  Sources sources_;
  Config running_;
  std::string operator_key_;
  server::Gateway& gateway_;
};

}  // namespace navtalk::cmd
