// Many who wait for one reading of the keys.
#include "server/gateway/access/key_ring.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <semaphore>

#include "tests/temporary_directory.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace std::chrono_literals;

TEST_CASE("who asks with new keys while the keys are read waits without computing") {
  const tests::TemporaryDirectory folder;
  KeyStore store(StoreBackend::open("sqlite:" + (folder / "pool.db").native()));
  boost::asio::io_context io;
  BlockingThreads threads(1);
  KeyRing ring(io.get_executor(), &store, threads);
  std::binary_semaphore go{0};
  threads.post([&] { go.acquire(); });
  int valid = 0;
  const auto judge = [&](std::string key) -> boost::asio::awaitable<void> {
    const KeyRing::Answer answer = co_await ring.judge(std::move(key));
    if (answer.verdict == KeyRing::Verdict::valid) ++valid;
  };
  for (int i = 0; i < 3; ++i)
    boost::asio::co_spawn(io, judge(store.create({.tenant = {"acme"}}).text),
                          boost::asio::detached);
  CHECK(io.run_for(300ms) < 100);  // handlers
  CHECK(valid == 0);
  go.release();
  io.restart();
  io.run();
  CHECK(valid == 3);
}
