#include "scheduler/pool/faults/session_faults.h"

#include <catch2/catch.hpp>

using namespace navtalk;
using namespace std::chrono_literals;
using Kind = SessionFault::Kind;

namespace {

constexpr TimePoint k_start{1h};

SessionFault fault(Duration at, const std::string& client, const std::string& gpu = "x",
                   Kind kind = Kind::cut) {
  return {
      .gpu = {gpu}, .origin = Origin::runpod, .client = client, .kind = kind, .at = k_start + at};
}

LastedSession lasted(const std::string& gpu, Duration until = 1min) {
  return {{gpu}, Origin::runpod, k_start, k_start + until};
}

}  // namespace

TEST_CASE("a session that lasted clears its GPU, and is noted beside the faults of others") {
  SessionFaults faults({fault(0s, "a"), fault(4s, "b", "y")});
  CHECK(faults.concerns(lasted("x"), "c"));
  faults.note_lasted(lasted("x"), "b", false);
  REQUIRE(faults.all().size() == 1);
  CHECK(faults.all()[0].gpu == GpuId{"y"});
  CHECK(faults.all()[0].client_well);
  CHECK(faults.lasted() == std::vector{lasted("x")});
  // The next one of that GPU is worth a write only after a while, one of another GPU at once.
  CHECK_FALSE(faults.concerns(lasted("x", 65s), "b"));
  CHECK(faults.concerns(lasted("x", 2min), "b"));
  CHECK(faults.concerns(lasted("z", 65s), "b"));
  faults.note_lasted(lasted("x", 2min), "b", false);
  CHECK(faults.lasted() == std::vector{lasted("x", 2min)});
}

TEST_CASE(
    "a session that was cut after it lasted clears its GPU, and proves nothing of the others") {
  SessionFaults faults({fault(0s, "a"), fault(4s, "b", "y")});
  faults.note_lasted(lasted("x"), "c", true);
  CHECK(faults.all().size() == 1);
  CHECK(faults.lasted().empty());
}

TEST_CASE("where no session fails, one that lasts is not noted") {
  SessionFaults faults;
  CHECK_FALSE(faults.concerns(lasted("x"), "a"));
  faults.note_lasted(lasted("x"), "a", false);
  CHECK(faults.lasted().empty());
}

TEST_CASE(
    "what is known of faults comes back from its text, and text of others counts as nothing") {
  SessionFaults faults({fault(0s, "a \"b\"", "x", Kind::declined), fault(1s, "c", "y")});
  SessionFault late = fault(2s, "d", "y");
  late.age = 75s;
  faults.add(late);
  SessionFault early = fault(2s, "e", "y");
  early.early_age = 12s;
  faults.add(early);
  faults.note_lasted(lasted("z"), "c", false);
  const auto back = parse_session_faults(as_text(faults));
  REQUIRE(back);
  CHECK(back->all() == faults.all());
  CHECK(back->lasted() == faults.lasted());
  CHECK_FALSE(parse_session_faults("nonsense"));
  CHECK_FALSE(parse_session_faults("{}"));
  CHECK(
      parse_session_faults(R"([7, {"kind": 99}, {"kind": "x"}, {"began_us": 1}])")->all().empty());
}

TEST_CASE("of one GPU's faults the densest go first, so that their times stay") {
  SessionFaults faults;
  for (int i = 0; i < 500; ++i) faults.add(fault(i * 1ms, "a"));
  for (int i = 1; i <= 20; ++i) faults.add(fault(i * 10s, "a"));
  CHECK(faults.all().size() < 60);
  CHECK(faults.all().front().at == k_start);
  for (int i = 1; i <= 20; ++i) {
    CHECK(std::any_of(faults.all().begin(), faults.all().end(),
                      [&](const SessionFault& known) { return known.at == k_start + i * 10s; }));
  }
}

TEST_CASE("faults are kept to a few hundred, the latest") {
  SessionFaults faults;
  for (int i = 0; i < 1000; ++i) faults.add(fault(i * 1ms, "a", std::to_string(i)));
  CHECK(faults.all().size() < 700);
  CHECK(faults.all().back().at == k_start + 999ms);
  faults.forget(k_start + 999ms);
  CHECK(faults.all().size() == 1);
}
