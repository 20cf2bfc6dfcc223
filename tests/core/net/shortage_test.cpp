// Requests of a process that is out of descriptors.
#include "core/base/shortage.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <future>

#include "core/net/async_http_client.h"
#include "core/net/http_client.h"
#include "tests/fakes/loopback_server.h"
#include "tests/no_descriptors.h"

using namespace navtalk;
using namespace navtalk::tests;

TEST_CASE("an error of the own system is not blamed on the peer") {
  for (const int lack : {EMFILE, ENFILE, ENOBUFS, ENOMEM, EADDRNOTAVAIL}) CHECK(is_shortage(lack));
  for (const int fault : {0, ECONNREFUSED, ETIMEDOUT, ECONNRESET, EHOSTUNREACH, ENETUNREACH})
    CHECK_FALSE(is_shortage(fault));
  CHECK_FALSE(out_of_descriptors());
}

#ifndef __SANITIZE_ADDRESS__
namespace {

HttpFault fault_in(const HttpResult& result) {
  if (std::holds_alternative<HttpAnswer>(result)) FAIL("the exchange succeeded");
  return std::get<HttpFault>(result);
}

}  // namespace

TEST_CASE("a request that finds no descriptor is a shortage, and none has reached the server") {
  LoopbackServer server([](Connection& client, const ReceivedRequest&) { client.answer(200); });
  const std::string path = GENERATE("/", "named");
  // A name, which a resolver looks up in files, or an address.
  const std::string url = path == "named" ? "http://worker.invalid/" : server.url("/");
  HttpClient client;
  AsyncHttpClient asynchronous;
  std::promise<HttpResult> promise;
  HttpResult result, second;
  {
    const NoDescriptors none;
    CHECK(out_of_descriptors());
    result = client.send({.url = url});
    asynchronous.send({.url = url}, [&](HttpResult one) { promise.set_value(std::move(one)); });
    second = promise.get_future().get();
  }
  for (const HttpResult& one : {result, second}) {
    CHECK(fault_in(one).kind == HttpFault::Kind::shortage);
    CHECK_FALSE(fault_in(one).sent);
  }
  const HttpResult after = client.send({.url = url});
  if (const auto* fault = std::get_if<HttpFault>(&after)) UNSCOPED_INFO(fault->message);
  if (path == "named") {
    CHECK(fault_in(after).kind == HttpFault::Kind::resolve);
  } else {
    CHECK(std::holds_alternative<HttpAnswer>(after));
  }
}
#endif
