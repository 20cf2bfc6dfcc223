// Against real servers on loopback.
#include "server/gateway/jobs/speech/speech_fetches.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <catch2/catch.hpp>
#include <chrono>
#include <future>
#include <string>

#include "core/base/error.h"
#include "tests/fakes/loopback_server.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace std::chrono_literals;
namespace asio = boost::asio;
using tests::Connection;
using tests::LoopbackServer;
using tests::ReceivedRequest;

namespace {

const TenantId k_fetching_tenant{"ada"};

// The speech, or why there is none.
std::string fetched_from(SpeechFetches& fetches, const std::string& url) {
  asio::io_context io;
  auto speech = asio::co_spawn(io, fetches.fetch(k_fetching_tenant, url), asio::use_future);
  io.run_for(60s);
  REQUIRE(speech.wait_for(0s) == std::future_status::ready);
  try {
    return *speech.get();
  } catch (const Error& error) {
    return error.message();
  }
}

}  // namespace

TEST_CASE("speech is fetched whole, and a refusal names its reason") {
  const std::string speech(300'000, 's');
  LoopbackServer server([&](Connection& client, const ReceivedRequest& request) {
    if (request.path == "/speech") client.answer(200, speech);
    if (request.path == "/long") client.answer(200, speech + "s");
    if (request.path == "/empty") client.answer(200, "");
    if (request.path == "/moved") client.answer(302, {}, {{"Location", "/speech"}});
    if (request.path == "/cut") {
      client.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
      client.close();
    }
  });
  SpeechFetches fetches({.allow_private = true, .max_audio = speech.size()});
  CHECK(fetched_from(fetches, server.url("/speech")) == speech);
  CHECK_THAT(fetched_from(fetches, server.url("/long")),
             Catch::Contains("longer than 300000 bytes"));
  CHECK_THAT(fetched_from(fetches, server.url("/empty")), Catch::Contains("sent nothing"));
  CHECK_THAT(fetched_from(fetches, server.url("/moved")), Catch::Contains("answered 302"));
  CHECK_THAT(fetched_from(fetches, server.url("/cut")), Catch::Contains("audio_url: 127.0.0.1"));
  CHECK_THAT(fetched_from(fetches, "http://127.0.0.1:1/"),
             Catch::Contains("audio_url: 127.0.0.1:1"));
}

TEST_CASE("speech is fetched from public addresses alone, whatever name they have") {
  LoopbackServer server(
      [](Connection& client, const ReceivedRequest&) { client.answer(200, "s"); });
  SpeechFetches fetches({});
  const std::string port = std::to_string(server.port());
  for (const char* host : {"127.0.0.1", "localhost", "[::ffff:127.0.0.1]"})
    CHECK_THAT(fetched_from(fetches, "http://" + std::string(host) + ":" + port + "/"),
               Catch::Contains("not a public one"));
}
