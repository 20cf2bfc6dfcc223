#include "cmd/pool/parts.h"

#include <pwd.h>
#include <unistd.h>

#include "core/files/state_directory.h"
#include "core/process/identity.h"
#include "scheduler/health/worker_token.h"
#include "scheduler/store/sql_pool_store.h"

namespace navtalk::cmd {

std::unique_ptr<PoolStore> open_store(const Config& config) {
  return std::make_unique<SqlPoolStore>(open_backend(config));
}

std::shared_ptr<StoreBackend> open_backend(const Config& config) {
  if (!config.store.url.empty()) return StoreBackend::open(config.store.url);
  return StoreBackend::open("sqlite:" + (made_state_directory() / "pool.db").native());
}

TenantTermsTable job_terms_of(const Config& config) {
  TenantTermsTable table;
  for (const TenantConfig& tenant : config.tenants) {
    table[{tenant.name}] = {
        .plan = tenant.plan,
        .weight = tenant.weight,
        .max_rate = tenant.max_job_rate,
        .max_queued = VideoMinutes(from_seconds(tenant.max_queued_minutes * 60)),
        .max_running = tenant.max_running_jobs};
  }
  return table;
}

PoolIdentity identity_of(PoolStore& store, const Config& config) {
  return pool_identity(store, config.runpod.name_prefix, config.pool.name);
}

WorkerTokens worker_tokens_of(const Config& config) {
  const std::filesystem::path& file = config.pool.worker_token_file;
  const bool allow_http = config.pool.allow_http_workers;
  if (!file.empty()) return WorkerTokens(worker_token(file), allow_http);
  return WorkerTokens(worker_token(made_state_directory() / "worker-token", MissingSecret::create),
                      allow_http);
}

std::string operator_name() {
  const passwd* user = getpwuid(geteuid());
  return "operator " + std::string(user == nullptr ? "?" : user->pw_name) + "@" + host_name();
}

}  // namespace navtalk::cmd
