// Everything that the client asks, and everything that the fake answers, fits the API's document:
// the published one where it is at hand beside the checkout, else our reduced one.
#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>

#include "tests/runpod/scene.h"
#include "tests/temporary_directory.h"

using namespace navtalk;
using namespace std::chrono_literals;
using tests::is;
using tests::row;
using tests::RunpodServer;
using tests::Scene;

namespace {

using tests::k_never;
const std::string k_root = NAVTALK_SOURCE_DIR;

struct Verdict {
  int status = 0;
  std::string out{};
};

Verdict validated(const std::filesystem::path& exchanges, bool published) {
  std::string command = "python3 '" + k_root + "/tests/fakes/runpod/validate_exchanges.py' '" +
                        exchanges.native() + "' '" + k_root +
                        "/tests/fakes/runpod/runpod_v2_reduced.json'";
  if (published) command += " '" + k_root + "/../shared/reference/runpod-openapi-v2.json'";
  std::FILE* const pipe = ::popen((command + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  Verdict verdict;
  char buffer[4096];
  while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, pipe)) {
    verdict.out.append(buffer, got);
  }
  verdict.status = WEXITSTATUS(::pclose(pipe));
  return verdict;
}

// One of every call, in every form that the client has.
void ask_everything(Scene& scene) {
  const std::string id = scene.made("a");
  is<Done>(scene.provider.pause(row("a", id), k_never));
  is<Done>(scene.provider.pause(row("a", id), k_never));  // 409, then a look
  is<Done>(scene.provider.wake(row("a", id), k_never));
  scene.made("b");
  scene.provider.list(k_never);
  scene.server.page_size(1);
  scene.provider.list(k_never);
  is<Done>(scene.provider.destroy(row("a", id), k_never));
  is<Done>(scene.provider.destroy(row("a", "never"), k_never));
  scene.server.full({"*|*|*"});
  is<NoCapacity>(scene.create("c"));
}

}  // namespace

TEST_CASE("what is asked of Runpod and what the fake answers fit the document") {
  const bool published = GENERATE(true, false);
  const tests::TemporaryDirectory folder;
  Scene scene;
  ask_everything(scene);

  runpod::ProviderOptions options = tests::quick_options(scene.server);
  options.preferences = {{"H100"}, {"COMMUNITY"}, {}};
  options.min_cuda = "12.8";
  options.registry = "registry-1";
  options.volume_id = "volume-1";
  options.volume_path = "/models";
  options.env = {{"NAVTALK_LOG_LEVEL", "info"}};
  scene.server.full({});
  runpod::RunpodProvider other(options, runpod::ApiKey("not-a-key"));
  is<Done>(other.create(row("d"), k_never));
  runpod::Api(tests::quick_api(scene.server), runpod::ApiKey("not-a-key")).pod_bills(7, k_never);
  runpod::RunpodProvider stranger(options, runpod::ApiKey("another-key"));
  CHECK_FALSE(stranger.list(k_never).complete);  // 401

  scene.server.write_exchanges(folder / "exchanges");
  const Verdict verdict = validated(folder / "exchanges", published);
  if (verdict.status == 77) {
    WARN(verdict.out);
    return;
  }
  INFO(verdict.out);
  CHECK(verdict.status == 0);
}

TEST_CASE("an order that the document forbids is found") {
  const tests::TemporaryDirectory folder;
  const auto bad = GENERATE(
      R"({"method":"POST","path":"/v2/pods","query":{},"request":{"name":"a","image":"b","gpu":{"id":"x","count":0}},"status":201,"answer":null,"scripted":true})",
      R"({"method":"POST","path":"/v2/pods","query":{},"request":{"name":"a","image":"b","gpu":{"id":"x","count":1},"interruptible":true},"status":201,"answer":null,"scripted":true})",
      R"({"method":"POST","path":"/v2/pods/{id}/action","query":{},"request":{"action":"reset"},"status":200,"answer":null,"scripted":true})",
      R"({"method":"GET","path":"/v2/pods","query":{"name":"a"},"request":null,"status":200,"answer":{"pods":[]},"scripted":false})",
      R"({"method":"GET","path":"/v2/pods","query":{},"request":null,"status":200,"answer":{"pods":[{"id":"a"}]},"scripted":false})",
      R"({"method":"GET","path":"/v1/pods","query":{},"request":null,"status":200,"answer":null,"scripted":true})");
  std::ofstream(folder / "exchanges") << bad << "\n";
  const Verdict verdict = validated(folder / "exchanges", GENERATE(true, false));
  if (verdict.status == 77) {
    WARN(verdict.out);
    return;
  }
  INFO(bad << verdict.out);
  CHECK(verdict.status == 1);
}
