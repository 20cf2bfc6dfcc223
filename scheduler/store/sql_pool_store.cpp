#include "scheduler/store/sql_pool_store.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "core/base/error.h"
#include "core/text/printable.h"
#include "scheduler/store/postgres/postgres_backend.h"
#include "scheduler/store/sqlite/sqlite_backend.h"

namespace navtalk {

SqlPoolStore::SqlPoolStore(std::shared_ptr<StoreBackend> backend) : backend_(std::move(backend)) {}

TimePoint SqlPoolStore::now() { return backend_->now(); }

std::uint64_t SqlPoolStore::wait_for_change(std::uint64_t seen, Duration at_most,
                                            const std::stop_token& stop) {
  return backend_->wait_for_change(seen, at_most, stop);
}

std::unique_ptr<PoolStore> PoolStore::open(const std::string& url) {
  return std::make_unique<SqlPoolStore>(StoreBackend::open(url));
}

std::shared_ptr<StoreBackend> StoreBackend::open(const std::string& url) {
  constexpr std::string_view k_sqlite = "sqlite:";
  if (url.starts_with(k_sqlite) && url.size() > k_sqlite.size())
    return std::make_shared<SqliteBackend>(std::filesystem::path(url.substr(k_sqlite.size())));
  if (url.starts_with("postgresql://") || url.starts_with("postgres://"))
    return std::make_shared<PostgresBackend>(url);
  // The rest may hold a password.
  throw Error(Code::invalid, fmt::format("a pool store is \"sqlite:PATH\" or \"postgresql://...\", "
                                         "not \"{}...\"",
                                         printable(url.substr(0, url.find_first_of(":/")))));
}

}  // namespace navtalk
