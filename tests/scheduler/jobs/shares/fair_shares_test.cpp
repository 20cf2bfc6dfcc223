// The division of a capacity: its invariants on random claims, and a few divisions worked out by hand.
#include "scheduler/jobs/shares/fair_shares.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <numeric>

#include "scheduler/simulator/random.h"

using namespace navtalk;

namespace {

constexpr double k_endless = std::numeric_limits<double>::infinity();

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

std::vector<ShareClaim> some_claims(Random& random, int plans) {
  std::vector<ShareClaim> claims(1 + static_cast<std::size_t>(random.uniform() * 12));
  for (ShareClaim& claim : claims) {
    claim = {.plan = static_cast<int>(random.uniform() * plans),
             .weight = 0.1 + 5 * random.uniform(),
             .demand = random.uniform() < 0.2 ? 0 : random.exponential(3)};
  }
  return claims;
}

}  // namespace

TEST_CASE("shares never exceed the capacity or a demand, and leave nothing that is asked for") {
  Random random(1, 1);
  for (int round = 0; round < 2000; ++round) {
    const auto claims = some_claims(random, 3);
    const double capacity = random.exponential(10);
    const auto shares = fair_shares(capacity, claims);
    REQUIRE(shares.size() == claims.size());
    double asked = 0;
    for (std::size_t i = 0; i < claims.size(); ++i) {
      CHECK(shares[i] >= 0);
      CHECK(shares[i] <= claims[i].demand);
      asked += claims[i].demand;
    }
    CHECK(sum(shares) == Approx(std::min(capacity, asked)));
  }
}

TEST_CASE(
    "who gets less than asked for has no less, with what it has had, than another that gets some") {
  Random random(3, 1);
  for (int round = 0; round < 2000; ++round) {
    auto claims = some_claims(random, 1);
    double asked = 0;
    for (ShareClaim& claim : claims) {
      claim.had = random.uniform() < 0.3 ? 0 : random.exponential(3);
      asked += claim.demand;
    }
    const double capacity = random.exponential(5);
    const auto shares = fair_shares(capacity, claims);
    CHECK(sum(shares) == Approx(std::min(capacity, asked)));
    double most = 0;
    for (std::size_t i = 0; i < claims.size(); ++i) {
      if (shares[i] > 1e-9) most = std::max(most, (claims[i].had + shares[i]) / claims[i].weight);
    }
    for (std::size_t i = 0; i < claims.size(); ++i) {
      if (shares[i] < claims[i].demand - 1e-9)
        CHECK((claims[i].had + shares[i]) / claims[i].weight >= most - 1e-6);
    }
  }
}

TEST_CASE(
    "who gets less than asked for has no less, by weight, by weight, than another of the plan") {
  Random random(2, 1);
  for (int round = 0; round < 2000; ++round) {
    const auto claims = some_claims(random, 1);
    const auto shares = fair_shares(random.exponential(5), claims);
    double most = 0;
    for (std::size_t i = 0; i < claims.size(); ++i) {
      most = std::max(most, shares[i] / claims[i].weight);
    }
    for (std::size_t i = 0; i < claims.size(); ++i) {
      if (shares[i] < claims[i].demand - 1e-9)
        CHECK(shares[i] / claims[i].weight == Approx(most).margin(1e-9));
    }
  }
}

TEST_CASE("a tenant who asks for more takes nothing from those within their share") {
  std::vector<ShareClaim> claims = {{.demand = 1}, {.demand = 2}, {.demand = 9}};
  const auto before = fair_shares(9, claims);
  claims[2].demand = k_endless;
  const auto after = fair_shares(9, claims);
  CHECK(before == std::vector<double>{1, 2, 6});
  CHECK(after == before);
}

TEST_CASE("weights divide what all want") {
  const std::vector<ShareClaim> claims = {{.weight = 1, .demand = k_endless},
                                          {.weight = 3, .demand = k_endless}};
  CHECK(fair_shares(8, claims) == std::vector<double>{2, 6});
}

TEST_CASE("a higher plan comes first, and a lower one keeps a tenth") {
  const std::vector<ShareClaim> claims = {{.plan = 0, .demand = k_endless},
                                          {.plan = 2, .demand = k_endless},
                                          {.plan = 1, .demand = k_endless}};
  const auto shares = fair_shares(100, claims);
  CHECK(shares[1] == Approx(90));
  CHECK(shares[2] == Approx(9));
  CHECK(shares[0] == Approx(1));
  const std::vector<ShareClaim> modest = {{.plan = 0, .demand = 2},
                                          {.plan = 1, .demand = k_endless}};
  CHECK(fair_shares(100, modest)[1] == Approx(98));
}

TEST_CASE("without capacity or claims there are no shares") {
  CHECK(fair_shares(0, std::vector<ShareClaim>{{.demand = 3}}) == std::vector<double>{0});
  CHECK(fair_shares(-1, std::vector<ShareClaim>{{.demand = 3}}) == std::vector<double>{0});
  CHECK(fair_shares(5, {}).empty());
}
