// The pool's parts, made from the configuration: what `navtalk serve` and `navtalk pool` share.
#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>

#include "cmd/context.h"
#include "scheduler/health/worker_tokens.h"
#include "scheduler/jobs/shares/tenant_store.h"
#include "scheduler/pool/identity.h"
#include "scheduler/pool/pool_store.h"
#include "scheduler/store/transaction.h"

namespace navtalk::cmd {

// The configured store; SQLite in the state directory where none is named.
std::unique_ptr<PoolStore> open_store(const Config& config);
// The same database, for what is beside the pool's rows.
std::shared_ptr<StoreBackend> open_backend(const Config& config);
// What the file's [[tenant]] blocks say of offline rendering.
TenantTermsTable job_terms_of(const Config& config);
PoolIdentity identity_of(PoolStore& store, const Config& config);
// From the secret in the configured file, else in worker-token in the state directory, made at first
// use.
WorkerTokens worker_tokens_of(const Config& config);

// "operator USER@HOST": who an event of this command names.
std::string operator_name();

}  // namespace navtalk::cmd
