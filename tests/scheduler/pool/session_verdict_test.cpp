#include "scheduler/pool/faults/session_verdict.h"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace navtalk;
using namespace std::chrono_literals;
using Kind = SessionFault::Kind;
using Verdict = SessionVerdict;

namespace {

constexpr TimePoint k_start{1h};
using Faults = std::vector<SessionFault>;

SessionFault fault(Duration at, const std::string& client, const std::string& gpu = "x",
                   Kind kind = Kind::cut) {
  return {
      .gpu = {gpu}, .origin = Origin::runpod, .client = client, .kind = kind, .at = k_start + at};
}

// A session that has lasted on that GPU, and began so long after the first fault.
LastedSession living(const std::string& gpu, Duration began = 0s, Origin origin = Origin::runpod) {
  return {{gpu}, origin, k_start + began, TimePoint::max()};
}

// Of GPU x, a second after the last fault.
Verdict verdict(const Faults& faults, const std::vector<LastedSession>& lasting) {
  return judge_sessions(SessionFaults(faults), {"x"}, Origin::runpod, lasting,
                        faults.back().at + 1s, {});
}

// `clients` take turns to fail on that GPU, one every `every`.
Faults series(int count, Duration every, int clients = 1, const std::string& gpu = "x",
              Kind kind = Kind::cut) {
  Faults faults;
  for (int i = 0; i < count; ++i) {
    faults.push_back(fault(i * every, gpu + std::to_string(i % clients), gpu, kind));
  }
  return faults;
}

Faults operator+(Faults left, const Faults& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

}  // namespace

TEST_CASE("beside a GPU that works, one is to blame for a series, not for one client or moment") {
  struct Row {
    const char* what;
    Faults faults;
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
      {"two clients in turn", series(4, 4s, 2), false},
      {"one client, sixteen times in half a minute", series(16, 1900ms), false},
      {"one client for two minutes", series(8, 18s), true},
      {"one client that seldom fails", series(5, 60s), false},
      {"faults on another GPU",
       {fault(0s, "a", "y"), fault(4s, "b", "y"), fault(8s, "c", "x")},
       false},
      {"faults that are old", {fault(0s, "a"), fault(4s, "b"), fault(20min, "c")}, false},
      {"sessions that did not start, of three clients", series(3, 4s, 3, "x", late), true},
      {"sessions that did not start, of one client", series(3, 5s, 1, "x", late), false},
      {"refusals of the worker, of one client", series(3, 5s, 1, "x", no), true},
      {"two refusals", series(2, 5s, 1, "x", no), false},
      {"refusals at one moment", series(9, 100ms, 1, "x", no), false},
  };
  for (const Row& row : table) {
    INFO(row.what);
    CHECK((verdict(row.faults, {living("works")}) == Verdict::worker) == row.blamed);
  }
}

TEST_CASE("a GPU whose sessions break as those of the others do is not to blame") {
  struct Row {
    const char* what;
    Faults others;
    std::vector<LastedSession> lasting;
    Verdict verdict;
  };
  const Faults y = series(2, 4s, 2, "y"), z = series(2, 4s, 2, "z");
  LastedSession external = living("e", 0s, Origin::external);
  const std::vector<Row> table = {
      {"another one breaks too", y, {}, Verdict::network},
      {"one breaks too, and one works", y, {living("a")}, Verdict::network},
      {"one breaks too, and two work", y, {living("a"), living("b")}, Verdict::worker},
      {"two break too, and two work", y + z, {living("a"), living("b")}, Verdict::network},
      {"another one had a single fault", {fault(0s, "d", "y")}, {living("a")}, Verdict::worker},
      {"another one breaks, though an old session lives on there",
       y,
       {living("y", -1min)},
       Verdict::network},
      {"the only other one has had nobody", {}, {}, Verdict::none},
      {"elsewhere only sessions live on that are older", {}, {living("a", -1s)}, Verdict::none},
      {"sessions last at another origin", {}, {external}, Verdict::none},
  };
  for (const Row& row : table) {
    INFO(row.what);
    CHECK(verdict(row.others + series(3, 4s, 3), row.lasting) == row.verdict);
    const bool breaks = row.verdict == Verdict::network;
    CHECK(sessions_break(SessionFaults(row.others + series(3, 4s, 3)), Origin::runpod, row.lasting,
                         k_start + 10s, {}) == breaks);
  }
}

TEST_CASE("cuts at one age blame nobody before a session elsewhere has outlived them") {
  Faults faults = series(3, 4s, 3);
  for (SessionFault& cut : faults) cut.early_age = 32s;  // two seconds after it was ready
  const auto judged = [&](Duration length) {
    const LastedSession beside{{"a"}, Origin::runpod, k_start + 1s, k_start + 1s + length};
    return verdict(faults, {beside});
  };
  CHECK(judged(31s) == Verdict::none);
  CHECK(judged(34s) == Verdict::none);
  CHECK(judged(39s) == Verdict::worker);
  faults.push_back(fault(16s, "d"));  // one that is cut late or early does not change it
  CHECK(judged(34s) == Verdict::none);
  CHECK(judged(39s) == Verdict::worker);
}

TEST_CASE("three resets of all connections are the network's, from the second GPU's second on") {
  Faults faults;
  for (int reset = 0; reset < 3; ++reset) {
    for (const char* const gpu : {"y", "x"}) {
      if (reset == 2 && faults.back().at == k_start + 15s * reset) continue;
      for (const char* const user : {"1", "2", "3", "4"}) {
        faults.push_back(fault(15s * reset, std::string(gpu) + user, gpu));
      }
    }
  }
  CHECK(verdict(faults, {}) == Verdict::none);  // x was not judged at the third yet
  faults.push_back(fault(30s, "x1"));
  CHECK(verdict(faults, {}) == Verdict::network);
}

TEST_CASE("cuts of all sessions of one GPU together are its path's, one by one its worker's") {
  const auto resets = [](int count, Duration between, Origin origin = Origin::runpod) {
    Faults faults;
    for (int reset = 0; reset < count; ++reset) {
      for (int user = 0; user < 3; ++user) {
        SessionFault cut =
            fault(reset * 35s + user * between, std::to_string(reset) + std::to_string(user));
        cut.early_age = 20s;
        cut.origin = origin;
        faults.push_back(cut);
      }
    }
    return faults;
  };
  const std::vector<LastedSession> works = {living("works")};
  CHECK(verdict(resets(3, 0s), works) == Verdict::none);
  CHECK(verdict(resets(3, 5s), works) == Verdict::worker);
  CHECK(verdict(resets(7, 0s), works) == Verdict::none);
  CHECK(verdict(resets(8, 0s), works) == Verdict::worker);  // nobody can be served there
  // Another session lived through them.
  CHECK(verdict(resets(3, 0s), {living("works"), living("x", -1min)}) == Verdict::worker);
  const Faults local = resets(3, 0s, Origin::local);
  CHECK(judge_sessions(SessionFaults(local), {"x"}, Origin::local,
                       {living("works", 0s, Origin::local)}, local.back().at + 1s,
                       {}) == Verdict::worker);
  Faults late = resets(3, 0s);
  for (SessionFault& cut : late) cut.age = 34s;
  CHECK(verdict(late, works) == Verdict::none);
  for (SessionFault& cut : late) {
    if (cut.client.ends_with('1')) cut.at += 10s;
  }
  std::sort(late.begin(), late.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
  CHECK(verdict(late, works) == Verdict::worker_late);
}

TEST_CASE("a GPU with nothing to compare with is to blame for many clients over minutes") {
  CHECK(verdict(series(3, 4s, 3), {}) == Verdict::none);
  CHECK(verdict(series(40, 4s, 40), {}) == Verdict::none);  // a burst of less than three minutes
  CHECK(verdict(series(8, 40s, 8), {}) == Verdict::worker);
  CHECK(verdict(series(8, 40s, 5), {}) == Verdict::none);
  CHECK(verdict(series(3, 5s, 1, "x", Kind::declined), {}) == Verdict::worker);
  // One client is enough where no network lies between.
  const SessionFaults of_one(series(8, 18s));
  const TimePoint then = of_one.all().back().at;
  CHECK(judge_sessions(of_one, {"x"}, Origin::runpod, {}, then, {}) == Verdict::none);
  CHECK(judge_sessions(of_one, {"x"}, Origin::local, {}, then, {}) == Verdict::worker);
  // Its successor breaks as it did: it was not to blame.
  CHECK(verdict(series(8, 40s, 8, "gone") + series(8, 40s, 8), {}) == Verdict::network);
}

TEST_CASE("a session that ended proves that its GPU works if it saw the others break") {
  const Faults faults = series(3, 40s, 3);
  const auto judged = [&](Duration began, Duration until) {
    const LastedSession ended{{"a"}, Origin::runpod, k_start + began, k_start + until};
    return judge_sessions(SessionFaults(faults, {ended}), {"x"}, Origin::runpod, {}, k_start + 81s,
                          {});
  };
  CHECK(judged(5s, 50s) == Verdict::worker);
  CHECK(judged(5s, 39s) == Verdict::none);   // the last two may have a new reason
  CHECK(judged(-5s, 50s) == Verdict::none);  // new sessions may break where old ones live on
}

TEST_CASE("clients that fail on three GPUs prove nothing until their sessions last elsewhere") {
  Faults everywhere;
  for (const char* const client : {"a", "b", "c"}) {
    for (const char* const gpu : {"x", "y", "z"}) {
      everywhere.push_back(fault(everywhere.size() * 2s, client, gpu));
    }
  }
  // So that x is compared with GPUs that work.
  const std::vector<LastedSession> lasting = {living("1"), living("2"), living("3"), living("4")};
  const TimePoint now = everywhere.back().at;
  SessionFaults faults(everywhere);
  const auto of_x = [&] { return judge_sessions(faults, {"x"}, Origin::runpod, lasting, now, {}); };
  CHECK(of_x() == Verdict::none);
  for (const char* const client : {"a", "b", "c"}) faults.note_lasted(living("1"), client, false);
  CHECK(of_x() == Verdict::worker);
}

TEST_CASE("one client whose sessions break everywhere is not taken for a fault of the network") {
  const Faults faults = {fault(0s, "a", "x"), fault(0s, "a", "y"), fault(5s, "a", "x"),
                         fault(5s, "a", "y")};
  CHECK_FALSE(sessions_break(SessionFaults(faults), Origin::runpod, {}, k_start + 6s, {}));
}

namespace {

SessionFault late_cut(Duration at, const std::string& client, Duration age,
                      const std::string& gpu = "x") {
  SessionFault cut = fault(at, client, gpu);
  cut.age = age;
  return cut;
}

// A session on another GPU that began so long after the first fault, and went on for so long.
LastedSession beside(const std::string& gpu, Duration began, Duration length) {
  return {{gpu}, Origin::runpod, k_start + began, k_start + began + length};
}

// Three clients, cut a minute after they began.
Faults late_series(const std::string& gpu = "x") {
  return {late_cut(0s, gpu + "1", 60s, gpu), late_cut(30s, gpu + "2", 62s, gpu),
          late_cut(60s, gpu + "3", 61s, gpu)};
}

}  // namespace

TEST_CASE("a GPU is to blame for late cuts where sessions elsewhere outlive them") {
  const LastedSession longer = beside("y", 10s, 75s), shorter = beside("y", 10s, 50s);
  struct Row {
    const char* what;
    Faults faults;
    std::vector<LastedSession> living;
    Verdict verdict;
  };
  const std::vector<Row> table = {
      {"three clients, and one session outlives them",
       late_series(),
       {longer},
       Verdict::worker_late},
      {"no session elsewhere has come so far", late_series(), {shorter}, Verdict::none},
      {"sessions elsewhere are about to come to the age of the cuts, or have just passed it",
       late_series(),
       {beside("y", 10s, 61s), beside("z", 10s, 66s)},
       Verdict::none},
      {"nothing to compare with", late_series(), {}, Verdict::none},
      {"one cut", {late_cut(0s, "a", 60s)}, {longer}, Verdict::none},
      {"two clients in turn",
       {late_cut(0s, "a", 60s), late_cut(20s, "b", 60s), late_cut(40s, "a", 60s),
        late_cut(60s, "b", 60s)},
       {longer},
       Verdict::none},
      {"three clients at one moment",
       {late_cut(60s, "a", 60s), late_cut(60s, "b", 40s), late_cut(61s, "c", 50s)},
       {longer},
       Verdict::none},
      {"cuts of any age together",
       {fault(0s, "a"), late_cut(30s, "b", 50s), late_cut(60s, "c", 60s)},
       {longer},
       Verdict::worker_late},
      {"another GPU cuts as well", late_series() + late_series("y"), {}, Verdict::network},
      {"another GPU cuts as well, and a third one works",
       late_series() + late_series("y"),
       {beside("z", 10s, 75s)},
       Verdict::network},
      {"a session on the GPU itself has outlived them",
       late_series(),
       {longer, beside("x", -30s, 100s)},
       Verdict::none},
      {"a session on the GPU itself has not come so far",
       late_series(),
       {longer, beside("x", 10s, 55s)},
       Verdict::worker_late},
  };
  for (const Row& row : table) {
    INFO(row.what);
    CHECK(judge_sessions(SessionFaults(row.faults), {"x"}, Origin::runpod, row.living,
                         k_start + 65s, {}) == row.verdict);
  }
}

TEST_CASE("late cuts on most GPUs of a origin are told as a fault of the network") {
  const auto breaks = [](const Faults& faults, const std::vector<LastedSession>& lasting) {
    return sessions_break(SessionFaults(faults), Origin::runpod, lasting, k_start + 65s, {});
  };
  CHECK(breaks(late_series() + late_series("y"), {}));
  CHECK(breaks(late_series() + late_series("y"), {beside("z", 10s, 75s)}));
  CHECK_FALSE(
      breaks(late_series() + late_series("y"), {beside("z", 10s, 75s), beside("w", 9s, 75s)}));
  CHECK_FALSE(breaks(late_series(), {}));
  CHECK_FALSE(breaks(late_series() + Faults{late_cut(0s, "a", 60s, "y")}, {}));
}

TEST_CASE("a local GPU that cuts all its sessions late is to blame without another one") {
  Faults faults;
  for (int i = 0; i < 8; ++i) faults.push_back(late_cut(i * 50s, "a", 45s));
  const TimePoint then = faults.back().at;
  CHECK(judge_sessions(SessionFaults(faults), {"x"}, Origin::local, {}, then, {}) ==
        Verdict::worker_late);
  CHECK(judge_sessions(SessionFaults(faults), {"x"}, Origin::runpod, {}, then, {}) ==
        Verdict::none);
}

TEST_CASE("a session that outlived late cuts clears them, and one that was cut too does not") {
  const Faults cuts = late_series();
  const LastedSession other = beside("y", 10s, 75s);
  const auto judged = [&](const SessionFaults& faults) {
    return judge_sessions(faults, {"x"}, Origin::runpod, {other}, k_start + 65s, {});
  };
  SessionFaults faults(cuts);
  faults.note_lasted(beside("x", -10s, 61s), "z", false);  // it outlived one of them
  CHECK(faults.all().size() == 2);
  CHECK(judged(faults) == Verdict::none);
  SessionFaults cut_again(cuts);
  cut_again.note_lasted(beside("x", -10s, 70s), "z", true);
  CHECK(cut_again.all().size() == 3);
  CHECK(judged(cut_again) == Verdict::worker_late);
}
