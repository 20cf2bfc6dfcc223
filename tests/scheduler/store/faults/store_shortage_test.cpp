// A store in SQLite whose process has no descriptor for another connection.
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "scheduler/store/sqlite/sqlite_backend.h"
#include "tests/core/expect_error.h"
#include "tests/no_descriptors.h"
#include "tests/scheduler/store/store_place.h"

using namespace navtalk;
using namespace navtalk::tests;

namespace {

void fail(SqliteBackend& backend) {
  const auto work = [](Transaction&) { throw Error(Code::invalid, "the work fails"); };
  test::expect_error(Code::invalid, {"the work fails"},
                     [&] { backend.write(Durability::relaxed, work); });
}

// A connection that has this table is the one that made it.
void mark(Transaction& t) { t.db.script("CREATE TEMP TABLE mark (x)"); }

bool marked(SqliteBackend& backend) {
  bool found = false;
  backend.read([&](Transaction& t) {
    const auto rows = t.db.query("SELECT COUNT(*) FROM sqlite_temp_master", {});
    found = rows->next() && rows->integer(0) == 1;
  });
  return found;
}

}  // namespace

TEST_CASE("a store whose work has failed needs no descriptor to go on") {
  const SqlitePlace place;
  SqliteBackend backend(place.file());
  const NoDescriptors none;
  for (int i = 0; i < 20; ++i) fail(backend);
  CHECK_NOTHROW(backend.read([](Transaction&) {}));
  CHECK_NOTHROW(backend.write(Durability::durable, [](Transaction&) {}));
}

TEST_CASE("threads share the store's connections when there is no descriptor for more") {
  const SqlitePlace place;
  SqliteBackend backend(place.file());
  std::atomic<int> done = 0;
  {
    const NoDescriptors none;
    std::vector<std::jthread> threads;
    for (int i = 0; i < 16; ++i) {
      threads.emplace_back([&backend, &done] {
        try {
          for (int k = 0; k < 20; ++k) {
            backend.write(Durability::relaxed, [](Transaction&) {});
            backend.read([](Transaction&) { std::this_thread::yield(); });
            ++done;
          }
        } catch (const Error&) {
          return;
        }
      });
    }
  }
  CHECK(done == 16 * 20);
}

TEST_CASE("a connection is kept when work fails, and replaced when its file does") {
  const SqlitePlace place;
  SqliteBackend backend(place.file());
  backend.write(Durability::relaxed, mark);
  REQUIRE(marked(backend));
  fail(backend);
  CHECK(marked(backend));
  const auto attach = [](Transaction& t) {
    t.db.script("ATTACH DATABASE '/nowhere/pool.db' AS elsewhere");
  };
  test::expect_error(Code::failed, {"cannot open"}, [&] { backend.read(attach); });
  CHECK_FALSE(marked(backend));
}
