#include "server/http/io_loop.h"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <catch2/catch.hpp>

#include "server/http/signal.h"

using namespace navtalk::server;
namespace asio = boost::asio;

namespace {

// What coroutines refer to.
struct Component {
  explicit Component(IoLoop& io) : never(io.get_executor()) {}
  Signal never;
  int open = 0;
};

// A local of a coroutine, whose destructor uses the component.
class Entry {
 public:
  explicit Entry(Component& component) : component_(component) { ++component_.open; }
  ~Entry() {
    --component_.open;
    component_.never.notify();
  }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

 private:
  Component& component_;
};

asio::awaitable<void> wait(Component& component) {
  const Entry entry(component);
  co_await component.never.wait();
}

asio::awaitable<void> call(Component& component) {
  const Entry entry(component);
  co_await wait(component);
}

}  // namespace

TEST_CASE("coroutines that still wait are destroyed before what they refer to") {
  IoLoop io;
  Component component(io);
  {
    const CoroutineScope scope(io);
    asio::co_spawn(io, call(component), asio::detached);
    io.poll();
    REQUIRE(component.open == 2);
  }
  CHECK(component.open == 0);
}
