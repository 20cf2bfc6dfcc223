// A gateway that renders jobs, at its end.
#include <catch2/catch.hpp>
#include <filesystem>
#include <future>

#include "tests/server/gateway/gateway_pool.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace navtalk::tests;
using namespace std::chrono_literals;

namespace {

const std::string k_submission =
    "--x\r\nContent-Disposition: form-data; name=\"job\"\r\n\r\n{\"avatar\":\"ada\"}\r\n"
    "--x\r\nContent-Disposition: form-data; name=\"audio\"\r\n\r\nspeech\r\n--x--\r\n";

}  // namespace

TEST_CASE("a gateway ends while speech is being judged, and answers who waits for that") {
  const TemporaryDirectory folder;
  const std::string begun = folder / "begun";
  const std::string script = R"(echo '{"confined":true}'; : > )" + begun + "; exec sleep 60";
  GatewayOptions options;
  options.jobs = JobOptions{.probe = {.command = {"/bin/sh", "-c", script}}};
  GatewayPool pool({}, options);
  auto answer = std::async(std::launch::async, [&] {
    return pool.operate("POST", "/v1/jobs", k_submission,
                        {{"Content-Type", "multipart/form-data; boundary=x"}});
  });
  REQUIRE(eventually([&] { return std::filesystem::exists(begun); }));
  pool.stop();
  CHECK(pool.ends());
  CHECK(answer.get().status == 503);
}
