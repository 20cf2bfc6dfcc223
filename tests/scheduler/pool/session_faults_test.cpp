#include "scheduler/pool/session_faults.h"

#include <catch2/catch.hpp>

using namespace navtalk;
using namespace std::chrono_literals;
using Kind = SessionFault::Kind;

namespace {

constexpr TimePoint k_start{1h};

SessionFault fault(Duration at, const std::string& client, const std::string& gpu = "x",
                   Kind kind = Kind::cut) {
  return {.gpu = {gpu}, .client = client, .kind = kind, .at = k_start + at};
}

// Is GPU x blamed, a second after the last fault?
bool blamed(const std::vector<SessionFault>& faults) {
  return SessionFaults(faults).blame({"x"}, faults.back().at + 1s, {});
}

// One client's fault on x every `every`.
std::vector<SessionFault> series(int count, Duration every, Kind kind = Kind::cut) {
  std::vector<SessionFault> faults;
  for (int i = 0; i < count; ++i) faults.push_back(fault(i * every, "a", "x", kind));
  return faults;
}

}  // namespace

TEST_CASE("a GPU is blamed for a series of faults, not for one client's or for one moment's") {
  struct Row {
    const char* what;
    std::vector<SessionFault> faults;
    bool blamed;
  };
  const Kind no = Kind::declined, late = Kind::not_started;
  const std::vector<Row> table = {
      {"one cut", {fault(0s, "a")}, false},
      {"three clients, one after the other",
       {fault(0s, "a"), fault(4s, "b"), fault(8s, "c")},
       true},
      {"three clients at one moment", {fault(0s, "a"), fault(0s, "b"), fault(1s, "c")}, false},
      {"many clients within a few seconds",
       {fault(0s, "a"), fault(2s, "b"), fault(4s, "c"), fault(6s, "d")},
       false},
      {"two clients in turn",
       {fault(0s, "a"), fault(4s, "b"), fault(8s, "a"), fault(12s, "b")},
       false},
      {"one client, sixteen times in half a minute", series(16, 1900ms), false},
      {"one client for two minutes", series(8, 18s), true},
      {"one client that seldom fails", series(5, 60s), false},
      {"faults on another GPU",
       {fault(0s, "a", "y"), fault(4s, "b", "y"), fault(8s, "c", "x")},
       false},
      {"faults that are old", {fault(0s, "a"), fault(4s, "b"), fault(10min, "c")}, false},
      {"sessions that did not start, of three clients",
       {fault(0s, "a", "x", late), fault(4s, "b", "x", late), fault(8s, "c", "x", late)},
       true},
      {"sessions that did not start, of one client", series(3, 5s, late), false},
      {"refusals of the worker, of one client", series(3, 5s, no), true},
      {"two refusals", series(2, 5s, no), false},
      {"refusals at one moment", series(9, 100ms, no), false},
      {"three clients that fail everywhere",
       {fault(0s, "a", "y"), fault(0s, "a", "z"), fault(0s, "b", "y"), fault(0s, "b", "z"),
        fault(1s, "a"), fault(5s, "b"), fault(9s, "c")},
       false},
  };
  for (const Row& row : table) {
    INFO(row.what);
    CHECK(blamed(row.faults) == row.blamed);
  }
}

TEST_CASE("a session that lasted clears its GPU, and proves its client's network") {
  SessionFaults faults({fault(0s, "a"), fault(4s, "b"), fault(8s, "c")});
  faults.lasted({"x"}, "d");
  CHECK(faults.all().empty());

  // Each fails on three GPUs, so nothing of it counts, until sessions of theirs last elsewhere.
  std::vector<SessionFault> everywhere;
  for (const char* const client : {"a", "b", "c"}) {
    for (const char* const gpu : {"x", "y", "z"}) {
      everywhere.push_back(fault(everywhere.size() * 2s, client, gpu));
    }
  }
  SessionFaults spread(everywhere);
  const TimePoint now = everywhere.back().at;
  CHECK_FALSE(spread.blame({"x"}, now, {}));
  for (const char* const client : {"a", "b", "c"}) spread.lasted({"good"}, client);
  CHECK(spread.blame({"x"}, now, {}));
  CHECK_FALSE(spread.concerns({"good"}, "a"));
  CHECK(spread.concerns({"x"}, "d"));
}

TEST_CASE(
    "what is known of faults comes back from its text, and text of others counts as nothing") {
  SessionFaults faults({fault(0s, "a \"b\"", "x", Kind::declined), fault(1s, "c", "y")});
  faults.lasted({"z"}, "c");
  const auto back = parse_session_faults(as_text(faults));
  REQUIRE(back);
  CHECK(back->all() == faults.all());
  CHECK_FALSE(parse_session_faults("nonsense"));
  CHECK_FALSE(parse_session_faults("{}"));
  CHECK(parse_session_faults(R"([7, {"kind": 99}, {"kind": "x"}])")->all().empty());
}

TEST_CASE("faults are kept to a few hundred, the latest") {
  SessionFaults faults;
  for (int i = 0; i < 1000; ++i) faults.add(fault(i * 1ms, "a"));
  CHECK(faults.all().size() < 500);
  CHECK(faults.all().back().at == k_start + 999ms);
  faults.forget(k_start + 999ms);
  CHECK(faults.all().size() == 1);
}
