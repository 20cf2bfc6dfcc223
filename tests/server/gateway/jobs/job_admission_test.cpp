// The process that judges speech is a script here, which does not end before it is stopped, and the server of audio_urls one
// that never answers.
#include "server/gateway/jobs/job_admission.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <catch2/catch.hpp>
#include <chrono>
#include <list>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "server/http/io_loop.h"
#include "tests/fakes/loopback_server.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

constexpr auto k_silence = 8s;  // a server that sends nothing is given up after ten

class Submissions {
 public:
  Submissions() = default;
  ~Submissions() { stop(); }
  Submissions(const Submissions&) = delete;
  Submissions& operator=(const Submissions&) = delete;

  // Of that tenant, with speech that a process has to judge.
  void add(const std::string& tenant) {
    JobRequest request;
    request.audio = "speech";
    add(tenant, std::move(request));
  }
  void add_url(const std::string& tenant) {
    add_url(tenant, address_of(silent_.local_endpoint().port()));
  }
  void add_url(const std::string& tenant, const std::string& url) {
    JobRequest request;
    request.audio_url = url;
    add(tenant, std::move(request));
  }
  // Until the server of audio_urls is asked for so many at once.
  void wait_for_fetches(std::size_t fetches) {
    while (connections_.size() < fetches) {
      bool asked = false;
      silent_.async_accept(connections_.emplace_back(io_),
                           [&](const boost::system::error_code&) { asked = true; });
      while (!asked) REQUIRE(io_.run_one_for(20s) == 1);
    }
  }
  // Which the operator's moderation judges; nobody is there.
  void add_text(const std::string& tenant) {
    JobRequest request;
    request.job.spec.text = "Good morning";
    add(tenant, std::move(request));
  }
  // Until so many have been refused.
  void wait_for(std::size_t refused) {
    while (refusals_.size() + errors_.size() < refused) REQUIRE(io_.run_one_for(20s) == 1);
  }
  void stop_and_wait() {
    stop();
    wait_for(asked_);
  }
  long with(int status) const {
    return std::ranges::count(refusals_, status, [](const Response& one) { return one.status; });
  }
  const std::vector<Response>& refusals() const { return refusals_; }
  // Of those that are refused for good.
  const std::vector<std::string>& errors() const { return errors_; }

 private:
  static std::string address_of(unsigned port) {
    return "http://127.0.0.1:" + std::to_string(port) + "/";
  }
  void add(const std::string& tenant, JobRequest request) {
    request.job.spec.tenant = TenantId{tenant};
    asio::co_spawn(io_, ask(std::move(request)), asio::detached);
    ++asked_;
  }
  void stop() {
    ending_.request_stop();
    probe_.stop();
    fetches_.stop();
  }
  asio::awaitable<void> ask(JobRequest asked) {
    try {
      if (auto refusal = co_await admission_.refusal_of(asked))
        refusals_.push_back(std::move(*refusal));
    } catch (const Error& error) {
      errors_.push_back(error.message());
    }
  }

  IoLoop io_;
  asio::ip::tcp::acceptor silent_{io_, {asio::ip::address_v4::loopback(), 0}};
  std::list<asio::ip::tcp::socket> connections_{};
  std::stop_source ending_;
  const InputRules rules_{{.moderation_url = address_of(1)}, ending_.get_token()};
  SpeechProbe probe_{{.command = {"/bin/sh", "-c", R"(echo '{"confined":true}'; exec sleep 60)"}}};
  std::size_t asked_ = 0;
  std::vector<Response> refusals_;
  std::vector<std::string> errors_;
  JobAdmission admission_{{.rules = rules_,
                           .probe = probe_,
                           .blocked_words = blocked_words_,
                           .fetches = fetches_,
                           .moderation = moderation_,
                           .probes = probes_}};
  CoroutineScope coroutines_{io_};
  BlockingThreads blocked_words_{1}, moderation_{1};
  SpeechFetches fetches_{{.allow_private = true}};
  BlockingThreads probes_{JobAdmission::k_probe_threads};
};

bool says_when(const Response& refusal) {
  return std::ranges::count(refusal.headers, "Retry-After",
                            [](const auto& one) { return one.first; }) == 1;
}

}  // namespace

TEST_CASE("a tenant has two recordings judged at once, and leaves threads to others") {
  Submissions submissions;
  for (int i = 0; i < 3; ++i) submissions.add("ada");
  for (int i = 0; i < 2; ++i) submissions.add("bob");
  submissions.wait_for(1);
  CHECK(submissions.refusals()[0].status == 429);
  CHECK(says_when(submissions.refusals()[0]));
  CHECK_THAT(submissions.refusals()[0].body, Catch::Contains("recordings and texts of yours"));
  submissions.stop_and_wait();
  CHECK(submissions.with(429) == 1);
  CHECK(submissions.with(503) == 4);
}

TEST_CASE("sixteen recordings wait to be judged, and more are refused for now") {
  Submissions submissions;
  for (int i = 0; i < JobAdmission::k_probe_threads + 17; ++i)
    submissions.add("tenant " + std::to_string(i));
  submissions.wait_for(1);
  const Response refusal = submissions.refusals()[0];
  CHECK(refusal.status == 503);
  CHECK(says_when(refusal));
  CHECK_THAT(refusal.body, Catch::Contains("too many recordings and texts"));
  // Those that wait start no process any more.
  const auto before = std::chrono::steady_clock::now();
  submissions.stop_and_wait();
  CHECK(std::chrono::steady_clock::now() - before < 30s);
  const auto& all = submissions.refusals();
  CHECK(std::ranges::count_if(all, [](const Response& one) {
          return one.body.find("too many recordings") != std::string::npos;
        }) == 1);
}

TEST_CASE("speech that another server does not send holds up no text that is moderated") {
  Submissions submissions;
  const auto before = std::chrono::steady_clock::now();
  submissions.add_url("ada");
  submissions.wait_for_fetches(1);
  submissions.add_text("bob");
  submissions.wait_for(1);
  CHECK(std::chrono::steady_clock::now() - before < k_silence);
  CHECK_THAT(submissions.refusals()[0].body, Catch::Contains("moderated"));
}

TEST_CASE("servers of many tenants that send nothing hold up no audio_url of another one") {
  Submissions submissions;
  constexpr int k_tenants = 24;
  for (int i = 0; i < k_tenants; ++i) submissions.add_url("tenant " + std::to_string(i));
  submissions.wait_for_fetches(k_tenants);
  tests::LoopbackServer prompt([](tests::Connection& client, const tests::ReceivedRequest&) {
    client.answer(404, "no speech");
  });
  submissions.add_url("one more", prompt.url("/"));
  submissions.wait_for(1);
  CHECK_THAT(submissions.errors()[0], Catch::Contains("the server answered 404"));
}

TEST_CASE("a tenant has one audio_url fetched while half of those that may be are") {
  Submissions submissions;
  constexpr int k_tenants = JobAdmission::k_fetches / 4;
  for (int i = 0; i < k_tenants; ++i)
    for (int twice = 0; twice < 2; ++twice) submissions.add_url("tenant " + std::to_string(i));
  submissions.wait_for_fetches(2 * k_tenants);
  for (int twice = 0; twice < 2; ++twice) submissions.add_url("one more");
  submissions.wait_for(1);
  CHECK(submissions.refusals()[0].status == 429);
  CHECK(says_when(submissions.refusals()[0]));
  submissions.wait_for_fetches(2 * k_tenants + 1);
}

TEST_CASE("so many audio_urls are fetched at once, and more are refused for now") {
  Submissions submissions;
  for (int i = 0; i < JobAdmission::k_fetches + 1; ++i)
    submissions.add_url("tenant " + std::to_string(i));
  submissions.wait_for(1);
  CHECK(submissions.refusals()[0].status == 503);
  CHECK(says_when(submissions.refusals()[0]));
  CHECK_THAT(submissions.refusals()[0].body, Catch::Contains("too many audio_urls"));
}

TEST_CASE("speech that another server does not send keeps no gateway from its end") {
  Submissions submissions;
  for (const char* tenant : {"ada", "bob"}) submissions.add_url(tenant);
  submissions.wait_for_fetches(1);
  const auto before = std::chrono::steady_clock::now();
  submissions.stop_and_wait();
  CHECK(std::chrono::steady_clock::now() - before < k_silence);
  CHECK(submissions.with(503) == 2);
  CHECK(says_when(submissions.refusals()[0]));
}
