#include "cmd/serve/reload.h"

#include <algorithm>

#include "cmd/config/rules.h"
#include "core/base/error.h"
#include "core/config/keys.h"
#include "core/log/log.h"
#include "core/text/rfc3339.h"
#include "scheduler/service/pool_config.h"
#include "server/http/http_server.h"

namespace navtalk::cmd {
namespace {

constexpr const char* k_now = "now";
constexpr const char* k_restart = "after a restart";

void tell_change(const std::string& key, const char* effect) {
  log::warn("the configuration changed", {{"key", key}, {"takes_effect", effect}});
}

server::TlsFiles tls_files(const Config& config) {
  return {.certificate = config.server.tls_certificate_file, .key = config.server.tls_key_file};
}

bool has_tls(const Config& config) { return !tls_files(config).empty(); }

// The certificate of a gateway that runs is replaced; TLS is not switched on or off.
bool is_live(const ConfigKey& key, const Config& running, const Config& read) {
  const bool of_tls = key.name.starts_with("tls_");
  return key.live && (!of_tls || has_tls(running) == has_tls(read));
}

const TenantConfig* find_tenant(const Config& config, const std::string& name) {
  const auto found = std::find_if(config.tenants.begin(), config.tenants.end(),
                                  [&](const TenantConfig& tenant) { return tenant.name == name; });
  return found == config.tenants.end() ? nullptr : &*found;
}

}  // namespace

std::shared_ptr<const server::TlsIdentity> tls_identity(const Config& config) {
  const server::TlsFiles files = tls_files(config);
  return files.empty() ? nullptr : server::TlsIdentity::load(files);
}

server::AccessRules access_rules(const Config& config, const std::string& operator_key) {
  server::AccessRules rules{.operator_key = operator_key,
                            .allow_origins = config.server.allow_origins};
  for (const TenantConfig& tenant : config.tenants) {
    rules.tenants[{tenant.name}] = {.plan = tenant.plan,
                                    .weight = tenant.weight,
                                    .max_sessions = tenant.max_sessions,
                                    .max_waiting = tenant.max_waiting,
                                    .max_connections = tenant.max_connections,
                                    .max_messages_per_s = tenant.max_messages_per_s};
  }
  return rules;
}

Reload::Reload(Sources sources, Config running, std::string operator_key, server::Gateway& gateway)
    : sources_(std::move(sources)),
      running_(std::move(running)),
      operator_key_(std::move(operator_key)),
      gateway_(gateway) {}

void Reload::run() {
  try {
    apply_all();
  } catch (const std::exception& error) {
    log::error("nothing was reloaded, and everything stays as it is", {{"error", error.what()}});
  }
}

void Reload::apply_all() {
  const ConfigReading reading = sources_.configuration();
  const Config& read = reading.config;
  server::parse_listen_address(read.server.listen);
  if (!read.server.admin_listen.empty()) server::parse_listen_address(read.server.admin_listen);
  const std::string operator_key = sources_.operator_key(read);
  server::GatewayChanges changes{.access = access_rules(read, operator_key),
                                 .tls = tls_identity(read)};
  server::Access::check(changes.access);
  timetable(reading);  // an entry that cannot be one is a fault
  for (const std::string& found : contradictions(reading)) log::warn(found);
  log::set_level(read.log.level);
  const auto tls = changes.tls;
  gateway_.apply(std::move(changes));
  int differences = take_over(read) + take_over_blocks(read);
  // Of what takes effect now, and of the rest as it was.
  ConfigReading in_effect = reading;
  in_effect.config = running_;
  sources_.limits(*timetable(in_effect));
  if (operator_key != operator_key_) {
    operator_key_ = operator_key;
    tell_change("the operator key", k_now);
    ++differences;
  }
  log::warn("reloaded", {{"changes", std::to_string(differences)},
                         {"certificate_expires", tls ? rfc3339(tls->expires_at()) : "no TLS"}});
}

int Reload::take_over(const Config& read) {
  int differences = 0;
  const Config before = running_;
  for (const ConfigKey& key : config_keys()) {
    const ConfigValue value = config_value(read, key);
    if (config_value(before, key) == value) continue;
    const bool live = is_live(key, before, read);
    if (live) write_member(key.member(running_), value);
    tell_change(key.full_name(), live ? k_now : k_restart);
    ++differences;
  }
  return differences;
}

int Reload::take_over_blocks(const Config& read) {
  int differences = 0;
  const auto tell = [&](const std::string& name) {
    tell_change("[[tenant]] " + name, k_now);
    ++differences;
  };
  for (const TenantConfig& tenant : read.tenants) {
    const TenantConfig* const before = find_tenant(running_, tenant.name);
    if (before == nullptr || *before != tenant) tell(tenant.name);
  }
  for (const TenantConfig& tenant : running_.tenants) {
    if (find_tenant(read, tenant.name) == nullptr) tell(tenant.name);
  }
  running_.tenants = read.tenants;
  if (read.schedules != running_.schedules) {
    tell_change("[[pool.schedule]]", k_now);
    ++differences;
  }
  if (read.maintenance != running_.maintenance) {
    tell_change("[[pool.maintenance]]", k_now);
    ++differences;
  }
  running_.schedules = read.schedules;
  running_.maintenance = read.maintenance;
  return differences;
}

}  // namespace navtalk::cmd
