// Which of several clouds a call goes to, and what their answers are together.
#include <catch2/catch.hpp>
#include <utility>

#include "scheduler/provision/clouds/several_clouds.h"

namespace navtalk {
namespace {

// Answers what the test says, and writes down who was asked.
class ToldCloud : public Provider {
 public:
  ToldCloud(std::string name, std::string& asked, double usd)
      : name_(std::move(name)), asked_(asked), usd_(usd) {}

  Outcome answer = Done{};
  Listing listing{.complete = true};
  bool news = false;

  Source source() const override { return Source::cloud; }
  Outcome create(const Gpu&, const std::stop_token&) override { return ask("create"); }
  Outcome wake(const Gpu&, const std::stop_token&) override { return ask("wake"); }
  Outcome pause(const Gpu&, const std::stop_token&) override { return ask("pause"); }
  Outcome destroy(const Gpu&, const std::stop_token&) override { return ask("destroy"); }
  Listing list(const std::stop_token&) override { return listing; }
  Lookup find(const Gpu&, const std::stop_token&) override {
    ask("find");
    return NotFound{};
  }
  bool changed() override { return std::exchange(news, false); }
  std::string place(const Gpu&) const override { return "node of " + name_; }
  int creatable(const std::vector<Gpu>& rows) const override {
    return 10 - static_cast<int>(rows.size());
  }
  double expected_usd_per_hour() const override { return usd_; }

 private:
  Outcome ask(const std::string& what) {
    asked_ += what + " " + name_ + "; ";
    return answer;
  }

  std::string name_;
  std::string& asked_;
  double usd_;
};

struct TwoClouds {
  explicit TwoClouds(bool cheapest = false, double cluster_usd = 2, double runpod_usd = 1) {
    auto a = std::make_unique<ToldCloud>("k", asked, cluster_usd);
    auto b = std::make_unique<ToldCloud>("r", asked, runpod_usd);
    cluster = a.get();
    runpod = b.get();
    std::vector<OneCloud> both;
    both.push_back({Origin::kubernetes, std::move(a)});
    both.push_back({Origin::runpod, std::move(b)});
    clouds = std::make_unique<SeveralClouds>(std::move(both), cheapest,
                                             [this](Origin cloud) { return closed == cloud; });
  }

  std::string asked;
  std::optional<Origin> closed{};
  ToldCloud *cluster, *runpod;
  std::unique_ptr<SeveralClouds> clouds;
  std::stop_token never{};
};

Gpu row_at(const std::string& provider_id) {
  return {.id = {"gpu-1"}, .source = Source::cloud, .provider_id = provider_id};
}

TEST_CASE(
    "a create goes to the next cloud where one has no capacity or refuses, and nowhere else") {
  struct Row {
    Outcome first;
    const char* asked;
  };
  for (const Row& row :
       {Row{Done{}, "create k; "}, Row{NoCapacity{"full", Duration(5)}, "create k; create r; "},
        Row{Refused{"quota", false}, "create k; create r; "},
        Row{Refused{"key", true}, "create k; create r; "},
        // It may have made an instance there: a second one would be paid for too.
        Row{UnknownOutcome{"timeout"}, "create k; "}, Row{Failure{"broken"}, "create k; "}}) {
    TwoClouds two;
    two.cluster->answer = row.first;
    const Outcome outcome = two.clouds->create(row_at(""), two.never);
    CHECK(two.asked == row.asked);
    if (two.asked.find(" r") != std::string::npos) CHECK(std::holds_alternative<Done>(outcome));
  }
}

TEST_CASE("what no cloud makes is told for all of them") {
  TwoClouds two;
  two.cluster->answer = Refused{"the key is wrong", true};
  two.runpod->answer = NoCapacity{"full", std::chrono::seconds(7)};
  const Outcome mixed = two.clouds->create(row_at(""), two.never);
  REQUIRE(std::holds_alternative<NoCapacity>(mixed));
  CHECK(std::get<NoCapacity>(mixed).retry_after == std::chrono::seconds(7));
  CHECK(std::get<NoCapacity>(mixed).message == "kubernetes: the key is wrong; runpod: full");
  two.runpod->answer = Refused{"a rule of ours", false};
  const Outcome refused = two.clouds->create(row_at(""), two.never);
  REQUIRE(std::holds_alternative<Refused>(refused));
  // One account pauses creation at its own cloud, not at the other one.
  CHECK_FALSE(std::get<Refused>(refused).account);
}

TEST_CASE("the price decides where the cheapest cloud comes first") {
  for (const auto& [cluster, runpod, first] : {std::tuple{2., 1., "create r; "},
                                               {1., 2., "create k; "},
                                               {1., 1., "create k; "},
                                               {1., 0., "create k; "},
                                               {0., 3., "create r; "}}) {
    CAPTURE(cluster, runpod);
    TwoClouds two(true, cluster, runpod);
    two.clouds->create(row_at(""), two.never);
    CHECK(two.asked == first);
  }
  CHECK(TwoClouds(true, 2, 1).clouds->expected_usd_per_hour() == 1);
  CHECK(TwoClouds(false, 2, 1).clouds->expected_usd_per_hour() == 2);
}

TEST_CASE("a cloud in maintenance is not asked to create, nor counted or priced") {
  TwoClouds two;
  two.closed = Origin::kubernetes;
  two.clouds->create(row_at(""), two.never);
  CHECK(two.asked == "create r; ");
  CHECK(two.clouds->creatable({}) == 10);
  CHECK(two.clouds->expected_usd_per_hour() == 1);
  two.asked.clear();
  two.clouds->destroy(row_at("kubernetes/gpus/a/u"), two.never);
  CHECK(two.asked == "destroy k; ");
  two.runpod->answer = NoCapacity{"full", std::chrono::minutes(5)};
  const Outcome none = two.clouds->create(row_at(""), two.never);
  REQUIRE(std::holds_alternative<NoCapacity>(none));
  CHECK(std::get<NoCapacity>(none).message == "kubernetes: a maintenance window; runpod: full");
  CHECK(std::get<NoCapacity>(none).retry_after == std::chrono::minutes(1));
}

TEST_CASE("a row's id says which cloud is asked for it") {
  const std::string pod = "kubernetes/gpus/navtalk-a/u-1";
  TwoClouds two;
  two.clouds->wake(row_at(pod), two.never);
  two.clouds->pause(row_at("abc123"), two.never);
  two.clouds->destroy(row_at(pod), two.never);
  two.clouds->find(row_at("abc123"), two.never);
  CHECK(two.asked == "wake k; pause r; destroy k; find r; ");
  CHECK(origin_of(row_at(pod)) == Origin::kubernetes);
  CHECK(origin_of(row_at("abc123")) == Origin::runpod);
  CHECK(origin_of({.source = Source::local, .provider_id = "123"}) == Origin::local);
  // Each cloud counts its own rows, and those that may become so.
  CHECK(two.clouds->creatable({row_at(pod), row_at(pod), row_at("")}) == 7 + 9);
}

TEST_CASE("a row without an id is looked for at every cloud before it counts as destroyed") {
  TwoClouds two;
  two.cluster->answer = Done{.unknown = true};
  two.runpod->answer = UnknownOutcome{"timeout"};
  CHECK(std::holds_alternative<UnknownOutcome>(two.clouds->destroy(row_at(""), two.never)));
  two.runpod->answer = Done{.unknown = true};
  const Outcome nowhere = two.clouds->destroy(row_at(""), two.never);
  REQUIRE(std::holds_alternative<Done>(nowhere));
  CHECK(std::get<Done>(nowhere).unknown);
  two.runpod->answer = Done{};
  CHECK_FALSE(std::get<Done>(two.clouds->destroy(row_at(""), two.never)).unknown);
}

TEST_CASE("a cloud that does not answer keeps no other cloud from destroying a row without an id") {
  TwoClouds two;
  two.cluster->answer = UnknownOutcome{"timeout"};
  const Outcome outcome = two.clouds->destroy(row_at(""), two.never);
  CHECK(two.asked == "destroy k; destroy r; ");
  REQUIRE(std::holds_alternative<UnknownOutcome>(outcome));
  CHECK(std::get<UnknownOutcome>(outcome).message == "timeout");
}

TEST_CASE("news of any cloud is news, and told once") {
  TwoClouds two;
  CHECK_FALSE(two.clouds->changed());
  two.cluster->news = two.runpod->news = true;
  CHECK(two.clouds->changed());
  CHECK_FALSE(two.clouds->changed());
  CHECK(two.clouds->place(row_at("kubernetes/gpus/navtalk-a/u-1")) == "node of k");
  CHECK(two.clouds->place(row_at("")).empty());
}

TEST_CASE("a list is complete when every cloud's is") {
  TwoClouds two;
  two.cluster->listing.instances = {{.provider_id = "kubernetes/gpus/a/u"}};
  two.runpod->listing.instances = {{.provider_id = "abc"}};
  CHECK(two.clouds->list(two.never).instances.size() == 2);
  CHECK(two.clouds->list(two.never).complete);
  two.runpod->listing.complete = false;
  two.runpod->listing.message = "HTTP 500";
  const Listing partial = two.clouds->list(two.never);
  CHECK_FALSE(partial.complete);
  CHECK(partial.message == "runpod: HTTP 500");
  CHECK(partial.without == std::vector{Origin::runpod});
  // Nothing of a list that broke off.
  REQUIRE(partial.instances.size() == 1);
  CHECK(partial.instances.front().provider_id == "kubernetes/gpus/a/u");
}

}  // namespace
}  // namespace navtalk
