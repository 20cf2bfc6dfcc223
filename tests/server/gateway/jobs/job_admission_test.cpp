// The process that judges speech is a script here, which does not end before it is stopped.
#include "server/gateway/jobs/job_admission.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "server/http/io_loop.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

class Submissions {
 public:
  Submissions() = default;
  ~Submissions() { probe_.stop(); }
  Submissions(const Submissions&) = delete;
  Submissions& operator=(const Submissions&) = delete;

  // Of that tenant, with speech that a process has to judge.
  void add(const std::string& tenant) {
    asio::co_spawn(io_, ask(tenant), asio::detached);
    ++asked_;
  }
  // Until so many have been refused.
  void wait_for(std::size_t refused) {
    while (refusals_.size() < refused) REQUIRE(io_.run_one_for(20s) == 1);
  }
  void stop_and_wait() {
    probe_.stop();
    wait_for(asked_);
  }
  long with(int status) const {
    return std::ranges::count(refusals_, status, [](const Response& one) { return one.status; });
  }
  const std::vector<Response>& refusals() const { return refusals_; }

 private:
  asio::awaitable<void> ask(std::string tenant) {
    JobRequest asked;
    asked.job.spec.tenant = TenantId{std::move(tenant)};
    asked.audio = "speech";
    if (auto refusal = co_await admission_.refusal_of(asked))
      refusals_.push_back(std::move(*refusal));
  }

  IoLoop io_;
  const InputRules rules_{{}};
  SpeechProbe probe_{{.command = {"/bin/sh", "-c", R"(echo '{"confined":true}'; exec sleep 60)"}}};
  std::size_t asked_ = 0;
  std::vector<Response> refusals_;
  JobAdmission admission_{{.rules = rules_,
                           .probe = probe_,
                           .judges = judges_,
                           .fetch_threads = fetch_threads_,
                           .probe_threads = probe_threads_}};
  CoroutineScope coroutines_{io_};
  BlockingThreads judges_{1}, fetch_threads_{1}, probe_threads_{JobAdmission::k_probe_threads};
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
  CHECK_THAT(refusal.body, Catch::Contains("too many recordings"));
  // Those that wait start no process any more.
  const auto before = std::chrono::steady_clock::now();
  submissions.stop_and_wait();
  CHECK(std::chrono::steady_clock::now() - before < 30s);
  const auto& all = submissions.refusals();
  CHECK(std::ranges::count_if(all, [](const Response& one) {
          return one.body.find("too many recordings") != std::string::npos;
        }) == 1);
}
