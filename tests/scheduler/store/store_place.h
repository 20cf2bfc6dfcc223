// Where a contract test keeps its store: one place per kind of database, fresh for every test.
#pragma once

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "scheduler/pool/pool_store.h"
#include "tests/scheduler/store/processes/postgres_server.h"
#include "tests/temporary_directory.h"

namespace navtalk::tests {

class SqlitePlace {
 public:
  static bool there() { return true; }
  std::string url() const { return "sqlite:" + file().native(); }
  std::string url_of_another() const { return url(); }
  void wait_for_the_killed() const {}  // what is killed writes no more
  std::filesystem::path file() const { return folder_.path() / "pool.db"; }
  std::unique_ptr<PoolStore> open() const { return PoolStore::open(url()); }

 private:
  TemporaryDirectory folder_;
};

// A schema of a server that all tests of one program share.
class PostgresPlace {
 public:
  static bool there();  // says that the test is skipped where PostgreSQL is not installed
  static PostgresServer& server();

  PostgresPlace() : url_(server().fresh_schema()) {}
  std::string url() const { return url_; }
  // For processes that may be killed.
  std::string url_of_another() const { return url_ + "&application_name=another"; }
  // Returns when the server has noticed them gone: what it had in hand for them still commits.
  void wait_for_the_killed() const;
  std::unique_ptr<PoolStore> open() const { return PoolStore::open(url()); }

 private:
  std::string url_;
};

}  // namespace navtalk::tests

// A claim about every store: TestType is a place, fresh whenever one is made.
#define STORE_TEST(name) STORE_TEST_NAMED(name, INTERNAL_CATCH_UNIQUE_NAME(store_test_))
#define STORE_TEST_NAMED(name, function)                           \
  template <class TestType>                                        \
  static void function();                                          \
  TEMPLATE_TEST_CASE(name, "[store]", navtalk::tests::SqlitePlace, \
                     navtalk::tests::PostgresPlace) {              \
    if (TestType::there()) function<TestType>();                   \
  }                                                                \
  template <class TestType>                                        \
  static void function()
