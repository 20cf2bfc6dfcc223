#include "tests/scheduler/store/store_place.h"

#include <thread>

#include "core/database/postgres.h"

namespace navtalk::tests {

bool PostgresPlace::there() {
  if (PostgresServer::programs()) return true;
  WARN("skipped: PostgreSQL is not installed");
  return false;
}

PostgresServer& PostgresPlace::server() {
  static PostgresServer server;
  return server;
}

void PostgresPlace::wait_for_the_killed() const {
  PostgresConnection db(url_);
  for (;;) {
    const auto rows =
        db.query("SELECT 1 FROM pg_stat_activity WHERE application_name = 'another'", {});
    if (!rows->next()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace navtalk::tests
