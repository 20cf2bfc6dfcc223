// Where a contract test keeps its store: one place per kind of database, fresh for every test.
#pragma once

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "scheduler/pool_store.h"
#include "tests/temporary_directory.h"

namespace navtalk::tests {

class SqlitePlace {
 public:
  static constexpr bool k_there = true;
  std::string url() const { return "sqlite:" + file().native(); }
  std::filesystem::path file() const { return folder_.path() / "pool.db"; }
  std::unique_ptr<PoolStore> open() const { return PoolStore::open(url()); }

 private:
  TemporaryDirectory folder_;
};

}  // namespace navtalk::tests

// A claim about every store: `place` is where the test's own store stands, `store` is open there.
#define STORE_TEST(name) TEMPLATE_TEST_CASE(name, "[store]", navtalk::tests::SqlitePlace)
