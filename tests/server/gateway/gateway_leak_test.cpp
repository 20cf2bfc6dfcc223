// What two hundred users leave behind at a gateway: nothing.
#include <catch2/catch.hpp>
#include <filesystem>

#include "tests/server/gateway/media_client.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace navtalk::tests;
using namespace std::chrono_literals;

namespace {

std::ptrdiff_t entries_of(const char* folder) {
  const std::filesystem::directory_iterator entries(folder);
  return std::distance(begin(entries), end(entries));
}
std::ptrdiff_t threads() { return entries_of("/proc/self/task"); }
std::ptrdiff_t descriptors() { return entries_of("/proc/self/fd"); }

// One user, who ends the session in one of the ways that there are.
void visit(GatewayPool& pool, int number) {
  Received received;
  MediaClient client(pool, received);
  REQUIRE(client.until_media(MediaKind::video));
  switch (number % 3) {
    case 0:
      client.socket().send(R"({"type":"session.end"})");
      client.socket().close_code();
      break;
    case 1:
      client.socket().vanish();
      break;
    default: {
      client.socket().vanish();
      MediaClient again(pool, received, start_with(client.token()));
      again.socket().send(R"({"type":"session.end"})");
      again.socket().close_code();
    }
  }
}

}  // namespace

TEST_CASE("two hundred sessions leave no thread, descriptor, lease or connection behind") {
  const Script script(k_media);
  GatewayOptions brief;
  brief.session.resume_within = 2s;
  GatewayPool pool({}, brief);
  const Gpu gpu = pool.add_worker(64);
  const auto at_rest = [&] {
    return eventually([&] {
      return pool.store().leases().empty() && pool.asked_of(gpu).at("sessions") == 0 &&
             ask("GET", pool.url() + "/metrics").text.find("\nnavtalk_gateway_connections 0\n") !=
                 std::string::npos;
    });
  };
  for (int i = 0; i < 10; ++i) visit(pool, i);  // whatever is made once
  REQUIRE(at_rest());
  const std::ptrdiff_t threads_before = threads(), descriptors_before = descriptors();
  for (int i = 0; i < 200; ++i) visit(pool, i);
  REQUIRE(at_rest());
  CHECK(eventually([&] { return threads() <= threads_before; }));
  CHECK(eventually([&] { return descriptors() <= descriptors_before; }));
}
