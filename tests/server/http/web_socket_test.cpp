// The client's end of a WebSocket that does not come about.
#include "server/http/socket/web_socket.h"

#include <catch2/catch.hpp>

#include "tests/fakes/loopback_server.h"
#include "tests/server/http/client.h"

using namespace navtalk;

TEST_CASE(
    "a server that ends the connection instead of answering a handshake has given no status") {
  const tests::LoopbackServer silent(
      [](tests::Connection& connection, const auto&) { connection.close(); });
  const tests::SocketClient client(silent.url(), "/v1/session");
  CHECK_FALSE(client.connected());
  CHECK(client.declined_status() == 0);
}

TEST_CASE("a server that refuses a handshake has given its status") {
  const tests::LoopbackServer full(
      [](tests::Connection& connection, const auto&) { connection.answer(503); });
  const tests::SocketClient client(full.url(), "/v1/session");
  CHECK_FALSE(client.connected());
  CHECK(client.declined_status() == 503);
}
