#include "tests/scheduler/store_place.h"

#include <iostream>

namespace navtalk::tests {

bool PostgresPlace::there() {
  if (PostgresServer::programs()) return true;
  std::cout << "skipped: PostgreSQL is not installed\n";
  return false;
}

PostgresServer& PostgresPlace::server() {
  static PostgresServer server;
  return server;
}

}  // namespace navtalk::tests
