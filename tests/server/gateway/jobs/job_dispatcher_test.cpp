#include "server/gateway/jobs/job_dispatcher.h"

#include "tests/server/gateway/jobs/dispatching.h"
#include "tests/server/gateway/jobs/memory_bucket.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace navtalk::tests;
using namespace std::chrono_literals;

TEST_CASE("a job whose speech is gone dies with the reason, and stops no other and no worker") {
  Dispatching gateway({.rules = {.most_attempts = 2, .first_delay = 1ms}});
  const Job silent = gateway.add("a", "gone", 1), other = gateway.add("b");
  gateway.release();
  CHECK(gateway.state(silent, JobState::dead) == JobState::dead);
  CHECK(gateway.now(silent).error.find("speech") != std::string::npos);
  CHECK(gateway.state(other, JobState::done) == JobState::done);
  CHECK(gateway.told() == 1);
  CHECK(gateway.ended(JobRun::End::no_speech) == 2);
  CHECK(gateway.ended(JobRun::End::worker) == 0);
}

TEST_CASE("what a gateway lacks says nothing about a worker that calls every job unfit") {
  const WorkerScript refuse = [](WebSocket& gateway) {
    return tell(gateway, R"({"type":"job.failed","code":"invalid","message":"unfit"})");
  };
  Dispatching gateway({.script = refuse, .rules = {.most_attempts = 1}});
  const Job first = gateway.add("a", "", 3), silent = gateway.add("b", "gone", 2),
            second = gateway.add("c", "", 1), third = gateway.add("d");
  gateway.release();
  CHECK(gateway.state(second, JobState::failed) == JobState::failed);
  CHECK(gateway.now(silent).state == JobState::dead);
  CHECK(gateway.now(first).state == JobState::failed);
  gateway.wait(100ms);
  CHECK(gateway.claims(third) == 0);  // it rests after two
}

TEST_CASE("a job that a worker calls unfit is done by another one, if there is one") {
  std::atomic<int> asked = 0;
  const bool all_refuse = GENERATE(false, true);
  const WorkerScript script = [&](WebSocket& gateway) {
    if (asked++ > 0 && !all_refuse) return send_result(gateway);
    return tell(gateway, R"({"type":"job.failed","code":"invalid","message":"unfit"})");
  };
  SECTION("there are two") {
    Dispatching gateway(
        {.script = script, .rules = {.most_attempts = 1, .first_delay = 1ms}, .rows = 2});
    const Job job = gateway.add("a");
    gateway.release();
    const JobState end = all_refuse ? JobState::failed : JobState::done;
    CHECK(gateway.state(job, end) == end);
    CHECK(gateway.now(job).attempts == 1);
    CHECK(gateway.ended(JobRun::End::doubted) >= 1);
    CHECK(asked >= 2);
  }
  SECTION("it is the only one") {
    Dispatching gateway({.script = script, .rules = {.first_delay = 1ms}});
    const Job job = gateway.add("a");
    gateway.release();
    CHECK(gateway.state(job, JobState::failed) == JobState::failed);
    CHECK(asked == 1);
  }
}

TEST_CASE("a worker that tells of a length which no video has costs the job a try") {
  const std::string length = GENERATE("1e300", "-1", "\"long\"");
  INFO(length);
  const WorkerScript measure = [length](WebSocket& gateway) -> asio::awaitable<void> {
    co_await tell(gateway, R"({"type":"job.measured","duration_s":)" + length + "}");
    co_await send_result(gateway);
  };
  Dispatching gateway({.script = measure, .rules = {.most_attempts = 1}});
  const Job job = gateway.add("a");
  gateway.release();
  CHECK(gateway.state(job, JobState::dead) == JobState::dead);
}

TEST_CASE("a job that waits for a GPU's memory has lost no try") {
  const WorkerScript full = [](WebSocket& gateway) {
    return tell(gateway, R"({"type":"job.failed","code":"memory","message":"full"})");
  };
  Dispatching gateway({.script = full, .rules = {.most_attempts = 1}});
  const Job job = gateway.add("a");
  gateway.release();
  CHECK(gateway.eventually([&] { return gateway.ended(JobRun::End::worker) >= 1; }));
  CHECK(gateway.state(job, JobState::released) == JobState::released);
}

TEST_CASE("a job whose speech may be in a bucket that does not answer waits, and stops no other") {
  // Port 9 is nobody's.
  Dispatching gateway({.rules = {.first_delay = 200ms}, .bucket_url = "http://127.0.0.1:9"});
  const Job silent = gateway.add("a", "far", 1), other = gateway.add("b");
  gateway.release();
  CHECK(gateway.state(other, JobState::done) == JobState::done);
  CHECK(gateway.eventually([&] { return gateway.claims(silent) >= 3; }));
  CHECK(gateway.now(silent).attempts <= 1);
  CHECK(gateway.told() == 1);
  CHECK(gateway.ended(JobRun::End::bucket) >= 2);
  CHECK(gateway.ended(JobRun::End::worker) == 0);
}

TEST_CASE("a job waits for an hour for speech that its gateway has not brought to the bucket yet") {
  MemoryBucket bucket;
  Dispatching gateway({.rules = {.most_attempts = 1, .first_delay = 1ms, .longest_delay = 10ms},
                       .bucket_url = bucket.url()});
  const Job job = gateway.add("a", "elsewhere");
  gateway.release();
  CHECK(gateway.eventually([&] { return gateway.ended(JobRun::End::bucket) >= 2; }));
  CHECK_THAT(gateway.now(job).error, Catch::Contains("does not have the job's speech yet"));
  CHECK(gateway.ended(JobRun::End::no_speech) == 0);
  gateway.run_sql("UPDATE jobs SET submitted_at = submitted_at - 3600000000");
  CHECK(gateway.state(job, JobState::dead) == JobState::dead);
  CHECK(gateway.ended(JobRun::End::no_speech) == 1);
}

TEST_CASE("a gateway that begins brings speech to the bucket that this has not taken") {
  MemoryBucket bucket;
  std::string audio;
  Dispatching gateway(
      {.order = none, .bucket_url = bucket.url(), .before = [&](const JobFiles& files) {
         audio = files.keep_upload("speech");
       }});
  gateway.add("a", audio);
  CHECK(gateway.eventually([&] { return bucket.has(audio); }));
}

TEST_CASE("segments in a bucket that does not answer are not rendered again meanwhile") {
  std::atomic<bool> here = false;
  Dispatching gateway({.rules = {.first_delay = 200ms},
                       .order =
                           [&](Transaction& transaction) {
                             return here ? by_priority(transaction) : none(transaction);
                           },
                       .bucket_url = "http://127.0.0.1:9"});
  const Job job = gateway.add("a");
  gateway.release();
  const Job elsewhere = gateway.jobs.claim("other", by_priority, gateway.jobs.now()).value();
  const JobLease lease{.job = job.id, .epoch = elsewhere.epoch};
  gateway.jobs.finish_segment(lease, {.work = VideoMinutes(1s), .result = "{}"},
                              gateway.jobs.now());
  gateway.jobs.yield(lease, "it goes on here", gateway.jobs.now());
  here = true;
  CHECK(gateway.eventually([&] { return gateway.claims(job) >= 3; }));
  CHECK(gateway.told() == 0);
}

TEST_CASE("a job that no worker can be told of is refused, and no worker is asked") {
  std::atomic<bool> here = false;
  Dispatching gateway({.order = [&](Transaction& transaction) {
    return here ? by_priority(transaction) : none(transaction);
  }});
  const Job job = gateway.add("a");
  gateway.release();
  const Job elsewhere = gateway.jobs.claim("other", by_priority, gateway.jobs.now()).value();
  const JobLease lease{.job = job.id, .epoch = elsewhere.epoch};
  gateway.files().prepare(job.id);
  std::ofstream(gateway.files().segment(job.id, 0)) << "video";
  const std::string record = R"({"x":")" + std::string(k_longest_job_frame, 'x') + R"("})";
  gateway.jobs.finish_segment(lease, {.work = VideoMinutes(1s), .result = record},
                              gateway.jobs.now());
  gateway.jobs.yield(lease, "it goes on here", gateway.jobs.now());
  here = true;
  CHECK(gateway.state(job, JobState::failed) == JobState::failed);
  CHECK(gateway.now(job).error.find("more segments") != std::string::npos);
  CHECK(gateway.told() == 0);
  CHECK(gateway.ended(JobRun::End::too_large) == 1);
  CHECK(gateway.ended(JobRun::End::worker) == 0);
}

TEST_CASE("a run renews its lease also while all threads for files and the store are busy") {
  Dispatching gateway({.script = render_for_ever, .times = {.renew_every = 20ms}});
  const Job job = gateway.add("a");
  gateway.release();
  REQUIRE(gateway.eventually([&] { return gateway.told() == 1; }));
  const auto busy = gateway.block_threads();
  const TimePoint before = gateway.now(job).lease_until;
  CHECK(gateway.eventually([&] { return gateway.now(job).lease_until > before + 100ms; }));
  busy->count_down();
}

TEST_CASE("the leases of many jobs are renewed with one write") {
  constexpr int k_jobs = 20;
  Dispatching gateway(
      {.script = render_for_ever, .times = {.renew_every = 300ms}, .slots = k_jobs});
  std::vector<Job> all;
  for (int i = 0; i < k_jobs; ++i) all.push_back(gateway.add("a"));
  gateway.release();
  REQUIRE(gateway.eventually([&] { return gateway.told() == k_jobs; }));
  const auto busy = gateway.block_threads();
  const TimePoint start = gateway.jobs.now();
  const int before = gateway.writes();
  CHECK(gateway.eventually([&] {
    return std::ranges::all_of(
        all, [&](const Job& job) { return gateway.now(job).lease_until > start + 30s; });
  }));
  CHECK(gateway.writes() - before < k_jobs);
  busy->count_down();
}

TEST_CASE("a bucket that is silent keeps no slot from a user") {
  const LoopbackServer bucket = silent_bucket();
  Setup setup{.times = {.yield_within = 100ms}, .bucket_url = bucket.url()};
  std::string speech;
  int finished = 0;
  SECTION("while speech is fetched") { speech = "far"; }
  SECTION("while a segment is stored") {
    setup.script = send_segment;
    finished = 1;
  }
  Dispatching gateway(std::move(setup));
  const Job job = gateway.add("a", speech);
  gateway.release();
  REQUIRE(gateway.eventually([&] {
    return speech.empty() ? fs::exists(gateway.files().segment(job.id, 0))
                          : gateway.claims(job) == 1;
  }));
  gateway.ask_for_slot();
  CHECK(gateway.state(job, JobState::released) == JobState::released);
  CHECK(gateway.eventually([&] { return !gateway.lends(); }));
  CHECK(gateway.now(job).attempts == 0);
  CHECK(gateway.now(job).segments == finished);
  CHECK(gateway.ended(JobRun::End::users) == 1);
}

TEST_CASE(
    "old speech in a bucket that is silent holds nothing up, and stays until that has it no more") {
  const LoopbackServer bucket = silent_bucket();
  fs::path speech;
  const auto old_speech = [&](const JobFiles& files) {
    speech = files.upload("old");
    fs::create_directories(speech.parent_path());
    std::ofstream(speech) << "speech";
    fs::last_write_time(speech, fs::file_time_type::clock::now() - 2h);
  };
  Dispatching gateway(
      {.script = render_for_ever, .bucket_url = bucket.url(), .before = old_speech});
  gateway.add("a");
  gateway.release();
  CHECK(gateway.eventually([&] { return gateway.told() == 1; }));
  const JobFiles local(speech.parent_path().parent_path());
  auto kept = std::async(std::launch::async, [&] { local.keep_upload("more"); });
  CHECK(kept.wait_for(15s) == std::future_status::ready);  // it needs the folder's lock
  CHECK(gateway.drain().wait_for(15s) == std::future_status::ready);
  CHECK(fs::exists(speech));
}

TEST_CASE("a file that comes is made by no thread that others wait for") {
  std::atomic<bool> blocked = false;
  const WorkerScript when_blocked = [&](WebSocket& gateway) -> asio::awaitable<void> {
    while (!blocked) co_await rest(5ms);
    co_await send_result(gateway);
  };
  Dispatching gateway({.script = when_blocked});
  const Job job = gateway.add("a");
  gateway.release();
  REQUIRE(gateway.eventually([&] { return gateway.told() == 1; }));
  const auto busy = gateway.block_threads();
  blocked = true;
  std::this_thread::sleep_for(100ms);
  CHECK(fs::is_empty(gateway.folder(job) / "segments"));
  CHECK(gateway.ended(JobRun::End::done) == 0);  // the I/O thread answers
  busy->count_down();
  CHECK(gateway.state(job, JobState::done) == JobState::done);
}

TEST_CASE("a gateway does not take from itself what it still renders under a lease that ran out") {
  const WorkerScript late = [](WebSocket& gateway) -> asio::awaitable<void> {
    co_await rest(1500ms);
    co_await send_result(gateway);
  };
  Dispatching gateway({.script = late,
                       .rules = {.lease = 50ms},
                       .times = {.renew_every = 1h, .renewal_grace = 0s}});
  const Job job = gateway.add("a");
  gateway.release();
  CHECK(gateway.state(job, JobState::done) == JobState::done);
  CHECK(gateway.claims(job) == 1);
}

TEST_CASE("after a pause of this gateway others renew their leases before it takes their jobs") {
  Dispatching gateway({.rules = {.lease = 50ms},
                       .times = {.renewal_grace = 3s, .look_every = 10ms, .longest_round = 100ms},
                       .order = none});
  const Job job = gateway.add("a");
  gateway.release();
  gateway.wait(3100ms);  // it has been up for long enough
  const auto busy = gateway.block_threads();
  const Job elsewhere = gateway.jobs.claim("other", by_priority, gateway.jobs.now()).value();
  std::this_thread::sleep_for(150ms);
  busy->count_down();
  gateway.wait(150ms);
  CHECK(gateway.jobs.renew({.job = job.id, .epoch = elsewhere.epoch}, gateway.jobs.now()));
}

TEST_CASE("a run whose slot is lost gives its job back, without a try") {
  Dispatching gateway({.script = render_for_ever, .slot_lease = 150ms});
  const Job job = gateway.add("a");
  gateway.release();
  REQUIRE(gateway.eventually([&] { return gateway.told() == 1; }));
  gateway.lose_slot();
  CHECK(gateway.eventually([&] { return gateway.claims(job) == 2; }));
  CHECK(gateway.now(job).attempts <= 1);
  const std::vector<JobHistory> history = gateway.jobs.history(job.id);
  CHECK(std::ranges::any_of(history, [](const JobHistory& entry) {
    return entry.event == JobEvent::yield && entry.why == "the slot was lost";
  }));
  CHECK(gateway.ended(JobRun::End::slot_lost) >= 1);
  CHECK(gateway.ended(JobRun::End::worker) == 0);
}

TEST_CASE("a worker whose slot went to a session, or that goes away, costs the job no try") {
  const std::string code = GENERATE("superseded", "drained");
  int asked = 0;
  const WorkerScript refuse_first = [&](WebSocket& gateway) -> asio::awaitable<void> {
    if (++asked > 1) co_return co_await send_result(gateway);
    std::string error = R"({"type":"error","code":")" + code + R"(","message":"not now"})";
    co_await tell(gateway, std::move(error));
  };
  Dispatching gateway({.script = refuse_first});
  const Job job = gateway.add("a");
  gateway.release();
  CHECK(gateway.state(job, JobState::done) == JobState::done);
  CHECK(gateway.now(job).attempts == 1);
  CHECK(gateway.ended(code == "drained" ? JobRun::End::stopped : JobRun::End::slot_lost) == 1);
}

TEST_CASE("a job of a tenant that has more than its share gives way at the end of a segment") {
  std::atomic<bool> other_is_done = false;
  const WorkerScript in_parts = [&](WebSocket& gateway) -> asio::awaitable<void> {
    for (int i = 0; !other_is_done; ++i) {
      co_await send_part(gateway, i);
      const auto recorded = co_await gateway.receive();
      if (!recorded) co_return;
      co_await rest(1ms);
    }
    co_await send_result(gateway);
  };
  int calls = 0;
  const WorkerScript script = [&](WebSocket& gateway) {
    return ++calls == 3 ? send_result(gateway) : in_parts(gateway);
  };
  Setup setup{.script = script, .order = by_shares(), .slots = 2};
  // The gateway lacks a slot, or room for another run.
  const bool has_slot = GENERATE(false, true);
  CAPTURE(has_slot);
  if (has_slot) {
    setup.slots = 3;
    setup.most_runs = 2;
  }
  Dispatching gateway(std::move(setup));
  const std::vector<Job> flood = {gateway.add("a"), gateway.add("b"), gateway.add("c")};
  gateway.release();
  REQUIRE(gateway.eventually([&] { return gateway.told() == 2; }));
  SECTION("for a tenant that has less") {
    const Job other = gateway.add("x", "", 0, "other");
    gateway.release("other");
    CHECK(gateway.state(other, JobState::done) == JobState::done);
    other_is_done = true;
    for (const Job& job : flood) {
      CHECK(gateway.state(job, JobState::done) == JobState::done);
      CHECK(gateway.now(job).attempts == 1);
    }
    CHECK(gateway.ended(JobRun::End::tenants) == 1);
    CHECK(gateway.told() == 5);
  }
  SECTION("and not for its own tenant's") {
    CHECK(gateway.eventually([&] {
      return gateway.now(flood[0]).segments >= 20 && gateway.now(flood[1]).segments >= 20;
    }));
    CHECK(gateway.ended(JobRun::End::tenants) == 0);
    other_is_done = true;
  }
}

TEST_CASE("while a tenant floods a slot is kept free for the others, and until it no longer does") {
  std::atomic<bool> over = false;
  const WorkerScript script = [&](WebSocket& gateway) -> asio::awaitable<void> {
    for (int i = 0; !over; ++i) {
      co_await send_part(gateway, i);
      const auto recorded = co_await gateway.receive();
      if (!recorded) co_return;
      co_await rest(10ms);
    }
    co_await send_result(gateway);
  };
  Dispatching gateway({.script = script, .order = by_shares(), .slots = 8});
  std::vector<Job> all;
  for (int i = 0; i < 28; ++i) all.push_back(gateway.add("a"));
  gateway.release();
  REQUIRE(gateway.eventually([&] { return gateway.told() == 8; }));
  const auto running = [&](const std::string& tenant) {
    return gateway.jobs.totals({tenant})[JobState::running].jobs;
  };
  for (const int others : {1, 2}) {
    CAPTURE(others);
    all.push_back(gateway.add("x", "", 0, "other"));
    gateway.release("other");
    CHECK(gateway.eventually(
        [&] { return running("other") == others && running("acme") == 7 - others; }));
  }
  over = true;
  for (const Job& job : all) CHECK(gateway.state(job, JobState::done) == JobState::done);
}

TEST_CASE("a worker that has missed a heartbeat gets no other job of any gateway") {
  std::atomic<bool> goes_on = false;
  const WorkerScript pauses = [&](WebSocket& gateway) -> asio::awaitable<void> {
    co_await render_for_ever(gateway);
    while (!goes_on) co_await rest(1ms);
    co_await send_result(gateway);
  };
  Dispatching gateway({.script = pauses, .heartbeat = 20ms, .slots = 2});
  const Job silent = gateway.add("a");
  gateway.release();
  REQUIRE(gateway.eventually([&] { return gateway.progress(silent) > 0; }));
  REQUIRE(gateway.eventually([&] { return !gateway.lends_elsewhere(); }));
  const Job other = gateway.add("b");
  gateway.release();
  gateway.wait(150ms);
  CHECK(gateway.claims(other) == 0);
  goes_on = true;
  CHECK(gateway.state(silent, JobState::done) == JobState::done);
  CHECK(gateway.state(other, JobState::done) == JobState::done);
  CHECK(gateway.eventually([&] { return gateway.lends_elsewhere(); }));
}

TEST_CASE("a slot that is kept for users is not lent, and is free again after one has taken it") {
  Dispatching gateway({.script = render_for_ever,
                       .times = {.first_pause = 10ms, .yield_within = 10ms},
                       .slots = 2,
                       .keep_free = 1});
  const Job job = gateway.add("a");
  gateway.add("a");
  gateway.release();
  REQUIRE(gateway.eventually([&] { return gateway.progress(job) > 0; }));
  gateway.wait(100ms);
  CHECK(gateway.told() == 1);
  REQUIRE(gateway.take_slot());
  CHECK(gateway.eventually([&] { return gateway.ended(JobRun::End::users) == 1; }));
  gateway.wait(100ms);
  CHECK(gateway.told() == 1);
  CHECK(gateway.now(job).attempts == 0);
}

TEST_CASE("a slot is given to users also where the store takes no mark of a late worker") {
  Dispatching gateway({.script = render_for_ever,
                       .times = {.first_pause = 10ms, .yield_within = 10ms},
                       .heartbeat = 20ms});
  gateway.run_sql(
      "CREATE TRIGGER refusal BEFORE UPDATE OF late ON sessions BEGIN SELECT RAISE(ABORT, "
      "'full'); END");
  const Job job = gateway.add("a");
  gateway.release();
  REQUIRE(gateway.eventually([&] { return gateway.progress(job) > 0; }));
  gateway.wait(100ms);
  gateway.ask_for_slot();
  CHECK(gateway.eventually([&] { return gateway.ended(JobRun::End::users) == 1; }));
}

TEST_CASE(
    "a job whose speech cannot be read here is dead in the end, and others are done meanwhile") {
  // The kernel says that it has 4096 bytes, and gives fewer.
  const fs::path shorter = "/sys/devices/system/cpu/online";
  REQUIRE(fs::file_size(shorter) == 4096);
  Dispatching gateway(
      {.rules = {.most_attempts = 2, .first_delay = 1ms}, .times = {.first_pause = 30s}});
  // Old speech that no job needs is removed when the gateway begins.
  const Job early = gateway.add("early");
  gateway.release();
  REQUIRE(gateway.state(early, JobState::done) == JobState::done);
  const Job job = gateway.add("a", "speech", 1), other = gateway.add("b");
  const fs::path speech = gateway.files().upload("speech");
  fs::create_directories(speech.parent_path());
  fs::create_symlink(shorter, speech);
  gateway.release();
  CHECK(gateway.state(job, JobState::dead) == JobState::dead);
  CHECK(gateway.now(job).error == "speech cannot be read");
  CHECK(gateway.state(other, JobState::done) == JobState::done);
  CHECK(gateway.ended(JobRun::End::unreadable) == 2 * JobRun::k_unreadable);
  std::vector<JobEvent> ends;
  for (const JobHistory& entry : gateway.jobs.history(job.id)) {
    if (entry.event > JobEvent::claim) ends.push_back(entry.event);
  }
  using enum JobEvent;
  CHECK(ends == std::vector{yield, yield, retry, yield, yield, exhaust});
}

TEST_CASE(
    "a job whose speech is damaged on the gateway's disk asks no worker, and waits for the right "
    "bytes") {
  Dispatching gateway({.rules = {.first_delay = 1h, .longest_delay = 1h}});
  const std::string audio = gateway.files().keep_upload("speech");
  const Job job = gateway.add("a", audio);
  std::ofstream(gateway.files().upload(audio)) << GENERATE("", "spee", "sqeech");
  gateway.release();
  REQUIRE(gateway.eventually([&] { return gateway.ended(JobRun::End::unreadable) == 1; }));
  CHECK(gateway.now(job).state == JobState::released);
  CHECK(gateway.now(job).attempts == 0);
  CHECK(gateway.now(job).error == "the job's speech is damaged in the gateway's folder");
  CHECK(gateway.told() == 0);
  gateway.files().keep_upload("speech");
  gateway.run_sql("UPDATE jobs SET not_before = 0");
  CHECK(gateway.state(job, JobState::done) == JobState::done);
}

TEST_CASE("a gateway that stops while a job is claimed waits for no result") {
  std::promise<void> claiming, go_on;
  std::once_flag once;
  Setup setup{.script = render_for_ever};
  setup.order = [&](Transaction& transaction) {
    std::call_once(once, [&] {
      claiming.set_value();
      go_on.get_future().wait();
    });
    return by_priority(transaction);
  };
  Dispatching gateway(std::move(setup));
  const Job job = gateway.add("a");
  gateway.release();
  claiming.get_future().wait();
  std::future<void> drained = gateway.drain();
  std::this_thread::sleep_for(20ms);
  go_on.set_value();
  CHECK(drained.wait_for(15s) == std::future_status::ready);
  CHECK(gateway.now(job).state == JobState::released);
  CHECK(gateway.now(job).attempts == 0);
}

TEST_CASE("what a gateway's disk does not take waits for room, and costs neither job nor worker") {
  Dispatching gateway({.times = {.first_pause = 1ms}});
  const Job job = gateway.add("a");
  fs::path obstacle;
  SECTION("the job's folder cannot be made") {
    obstacle = gateway.folder(job);
    fs::create_directories(obstacle.parent_path());
    std::ofstream(obstacle) << "in the way";
  }
  SECTION("its video cannot be put in place") {
    obstacle = gateway.folder(job) / "video.mp4";
    fs::create_directories(obstacle / "in the way");
  }
  gateway.release();
  REQUIRE(gateway.eventually([&] { return gateway.claims(job) >= 4; }));  // more than three tries
  CHECK(gateway.ended(JobRun::End::worker) == 0);
  fs::remove_all(obstacle);
  CHECK(gateway.state(job, JobState::done) == JobState::done);
  CHECK(gateway.now(job).attempts == 1);
}

TEST_CASE("a gateway claims no job while it cannot write its folder") {
  fs::path jobs;
  Dispatching gateway({.rules = {.first_delay = 1ms, .longest_delay = 1ms},
                       .times = {.first_pause = 1ms},
                       .before = [&](const JobFiles& files) {
                         jobs = files.upload("any").parent_path().parent_path();
                         std::ofstream(jobs) << "in the way";
                       }});
  const Job job = gateway.add("a");
  gateway.release();
  REQUIRE(gateway.eventually([&] { return gateway.has_folder_problem(); }));
  const int claims = gateway.claims(job);
  gateway.wait(500ms);
  CHECK(gateway.claims(job) <= claims + 1);  // one may have been under way
  CHECK(gateway.now(job).state != JobState::dead);
  fs::remove(jobs);
  CHECK(gateway.state(job, JobState::done) == JobState::done);
}

TEST_CASE("after what its disk did not take a gateway begins nothing for a while") {
  Dispatching gateway(
      {.rules = {.first_delay = 1h, .longest_delay = 1h}, .times = {.first_pause = 30s}});
  const Job job = gateway.add("a", "", 1), other = gateway.add("b");
  fs::create_directories(gateway.folder(job).parent_path());
  std::ofstream(gateway.folder(job)) << "in the way";
  gateway.release();
  REQUIRE(gateway.eventually([&] { return gateway.ended(JobRun::End::gateway) == 1; }));
  gateway.wait(100ms);
  CHECK(gateway.claims(other) == 0);
  CHECK(gateway.now(job).not_before > gateway.jobs.now() + 50min);
}

TEST_CASE("where one job alone cannot be kept, the others go on") {
  Dispatching gateway({.rules = {.first_delay = 300ms}, .times = {.first_pause = 500ms}});
  const Job damaged = gateway.add("a", "", 1), other = gateway.add("b");
  fs::create_directories(gateway.folder(damaged).parent_path());
  std::ofstream(gateway.folder(damaged)) << "in the way";
  gateway.release();
  // With a pause behind each try it would be the first one at the end of each.
  CHECK(gateway.state(other, JobState::done) == JobState::done);
  CHECK(gateway.ended(JobRun::End::gateway) >= 2);
}

TEST_CASE("a store that takes nothing for a while costs a job no try") {
  std::atomic<bool> full = false;
  const WorkerScript when_full = [&](WebSocket& gateway) -> asio::awaitable<void> {
    while (!full) co_await rest(5ms);
    co_await send_result(gateway);
  };
  Dispatching gateway({.script = when_full,
                       .rules = {.lease = 300ms, .first_delay = 1ms},
                       .times = {.renew_every = 20ms, .renewal_grace = 0s}});
  const Job job = gateway.add("a");
  gateway.release();
  REQUIRE(gateway.eventually([&] { return gateway.told() == 1; }));
  gateway.run_sql(
      "CREATE TRIGGER no_room BEFORE UPDATE ON jobs WHEN NEW.state <> OLD.state OR NEW.result <> "
      "OLD.result BEGIN SELECT RAISE(ABORT, 'full'); END");
  full = true;
  std::this_thread::sleep_for(600ms);
  gateway.run_sql("DROP TRIGGER no_room");
  CHECK(gateway.state(job, JobState::done) == JobState::done);
  CHECK(gateway.now(job).attempts == 1);
  CHECK(gateway.ended(JobRun::End::worker) == 0);
}
