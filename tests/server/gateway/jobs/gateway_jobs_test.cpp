// A gateway that renders jobs, at its end, and what others find when it is killed.
#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_future.hpp>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "scheduler/jobs/job_store.h"
#include "server/gateway/jobs/job_webhooks.h"
#include "server/http/io_loop.h"
#include "tests/fakes/loopback_server.h"
#include "tests/server/gateway/gateway_pool.h"
#include "tests/temporary_directory.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace navtalk::tests;
using namespace std::chrono_literals;

namespace {

const std::string k_submission =
    "--x\r\nContent-Disposition: form-data; name=\"job\"\r\n\r\n{\"avatar\":\"ada\"}\r\n"
    "--x\r\nContent-Disposition: form-data; name=\"audio\"\r\n\r\nspeech\r\n--x--\r\n";

const NewKey k_job_owner{.tenant = {"acme"}};

Headers owner_headers(const std::string& key, Headers more = {}) {
  more.emplace_back("Authorization", "Bearer " + key);
  return more;
}

GatewayOptions with_jobs_in(const TemporaryDirectory& folder) {
  GatewayOptions options;
  options.jobs = JobOptions{.folder = folder / "jobs"};
  return options;
}

// A job that waits, of the tenant of the pool's first key; its id.
std::string submitted(const GatewayPool& pool) {
  const Got got = ask("POST", pool.url() + "/v1/jobs", R"({"avatar":"ada","text":"Good morning"})",
                      owner_headers(pool.first_key(), k_json));
  REQUIRE(got.status == 202);
  return got.body.at("id");
}

// As if it had been rendered: "video".
void end(GatewayPool& pool, const std::filesystem::path& files, const std::string& job) {
  std::filesystem::create_directories(files / job);
  std::ofstream(files / job / "video.mp4") << "video";
  const auto store = pool.locked();
  store->script(R"(UPDATE jobs SET state = 3, result = '{"bytes":5,"frames":1,"duration_s":0.04}')"
                " WHERE id = '" +
                job + "'; COMMIT");
}

}  // namespace

TEST_CASE("whoever has the link of a result needs no key of the pool to fetch the video") {
  const TemporaryDirectory folder;
  GatewayPool pool({}, with_jobs_in(folder), k_job_owner);
  const std::string job = submitted(pool);
  end(pool, folder / "jobs", job);
  const std::string place = pool.url() + "/v1/jobs/" + job;
  const Got shown = ask("GET", place, "", owner_headers(pool.first_key()));
  REQUIRE(shown.status == 200);
  const std::string link = shown.body.at("result").at("link");
  const Got fetched = ask("GET", pool.url() + link);
  CHECK(fetched.status == 200);
  CHECK(fetched.text == "video");
  CHECK(ask("HEAD", pool.url() + link).status == 200);
  CHECK(ask("GET", pool.url() + link, "", owner_headers("wrong")).status == 200);
  std::string altered = link;
  altered.back() = altered.back() == '0' ? '1' : '0';
  CHECK(ask("GET", pool.url() + altered).status == 403);
  CHECK(ask("GET", place + "/result?signature=").status == 403);
  const std::string query = link.substr(link.find('?'));
  struct Row {
    const char* method;
    std::string url;
  };
  const Row without_link[] = {{"GET", place + "/result"},
                              {"GET", place + query},
                              {"GET", place + "/events" + query},
                              {"GET", pool.url() + "/v1/jobs" + query},
                              {"GET", pool.url() + "/v1/jobs/result" + query},
                              {"DELETE", place + "/result" + query},
                              {"DELETE", place + query}};
  for (const Row& row : without_link) {
    INFO(row.method << " " << row.url);
    CHECK(ask(row.method, row.url).status == 401);
    CHECK(ask(row.method, row.url, "", owner_headers("wrong")).status == 401);
  }
}

TEST_CASE("the events of a job end for a key that was revoked") {
  const TemporaryDirectory folder;
  GatewayPool pool({}, with_jobs_in(folder), k_job_owner);
  const std::string job = submitted(pool);
  RawClient listener(pool.url());
  listener.send("GET /v1/jobs/" + job + "/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " +
                pool.first_key() + "\r\n\r\n");
  CHECK_THAT(listener.receive_until("event: submit"), Catch::Contains("200 OK"));
  REQUIRE(pool.keys().revoke(key_id(pool.first_key()).value()));
  auto ended = std::async(std::launch::async, [&] { return listener.receive_all(); });
  CHECK(ended.wait_for(60s) == std::future_status::ready);
  pool.stop();  // which ends it in any case
}

TEST_CASE("the events of a job go on behind an outage of the store") {
  const TemporaryDirectory folder;
  GatewayPool pool({}, with_jobs_in(folder), k_job_owner);
  const std::string job = submitted(pool);
  RawClient listener(pool.url());
  listener.send("GET /v1/jobs/" + job + "/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " +
                pool.first_key() + "\r\n\r\n");
  CHECK_THAT(listener.receive_until("event: submit"), Catch::Contains("200 OK"));
  pool.locked()->script("ALTER TABLE job_events RENAME TO away; COMMIT");
  const std::string events = pool.url() + "/v1/jobs/" + job + "/events";
  Headers as_json = owner_headers(pool.first_key(), {{"Accept", "application/json"}});
  // The stream looks each second.
  for (const auto until = std::chrono::steady_clock::now() + 3s;
       std::chrono::steady_clock::now() < until; std::this_thread::sleep_for(100ms))
    REQUIRE(ask("GET", events, "", as_json).status == 503);
  pool.locked()->script("ALTER TABLE away RENAME TO job_events; COMMIT");
  CHECK(ask("DELETE", pool.url() + "/v1/jobs/" + job, "", owner_headers(pool.first_key())).status ==
        200);
  CHECK_THAT(listener.receive_until("event: cancel"), Catch::Contains("event: cancel"));
}

TEST_CASE("a key of the tenant that is reserved has no jobs of those who have none") {
  const TemporaryDirectory folder;
  GatewayPool pool({}, with_jobs_in(folder), k_job_owner);
  const Got made =
      pool.operate("POST", "/v1/jobs", R"({"avatar":"ada","text":"Good morning"})", k_json);
  REQUIRE(made.status == 202);
  const std::string job = "/v1/jobs/" + made.body.at("id").get<std::string>();
  // As an earlier version made them.
  const MadeKey user = pool.keys().create({.tenant = {"acme"}}),
                admin = pool.keys().create({.tenant = {"acme"}, .role = Role::admin});
  pool.locked()->script("UPDATE api_keys SET tenant = 'local' WHERE id IN ('" + user.key.id +
                        "', '" + admin.key.id + "'); COMMIT");
  const auto asked = [&](const char* method, const std::string& path, const MadeKey& key) {
    return ask(method, pool.url() + path, "", owner_headers(key.text));
  };
  REQUIRE(eventually([&] { return asked("GET", job, user).status == 403; }));
  CHECK_THAT(asked("GET", job, user).text, Catch::Contains("reserved"));
  CHECK(asked("DELETE", job, user).status == 403);
  CHECK(asked("GET", job + "/events", user).status == 403);
  CHECK(asked("GET", "/v1/jobs", user).status == 403);
  CHECK(asked("GET", "/v1/webhook-secret", user).status == 403);
  CHECK(ask("POST", pool.url() + "/v1/jobs", R"({"avatar":"ada","text":"Good morning"})",
            owner_headers(user.text, k_json))
            .status == 403);
  CHECK(eventually([&] { return asked("GET", job, admin).status == 200; }));
}

TEST_CASE("a video that was cut on the disk is not served, unless the bucket has it whole") {
  const std::string whole = "video";
  const LoopbackServer bucket([&](Connection& connection, const ReceivedRequest& request) {
    if (request.method == "HEAD") {
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
    } else {
      connection.answer(200, request.method == "GET" ? whole : "");
    }
  });
  const auto variable = [&](const char* name) {
    return std::string(name) == "AWS_ENDPOINT_URL_S3" ? bucket.url() : "key";
  };
  const TemporaryDirectory folder;
  GatewayOptions options = with_jobs_in(folder);
  const bool shared = GENERATE(false, true);
  if (shared)
    options.jobs->bucket = std::make_shared<const JobBucket>("s3://videos/jobs", variable);
  GatewayPool pool({}, options, k_job_owner);
  const std::string job = submitted(pool);
  end(pool, folder / "jobs", job);
  if (shared)
    pool.locked()->script(
        R"(UPDATE jobs SET result = '{"bytes":5,"frames":1,"duration_s":0.04,"key":"k"}'; COMMIT)");
  std::ofstream(folder / "jobs" / job / "video.mp4") << GENERATE("", "vide");
  const Got got =
      ask("GET", pool.url() + "/v1/jobs/" + job + "/result", "", owner_headers(pool.first_key()));
  CHECK(got.status == (shared ? 200 : 404));
  CHECK(shared == (got.text == whole));
  if (!shared) CHECK_THAT(got.text, Catch::Contains("the video of this job is gone"));
}

TEST_CASE("a job that the store does not take is to be sent again later") {
  const TemporaryDirectory folder;
  GatewayPool pool({}, with_jobs_in(folder));
  const auto held = pool.locked();
  const Got got =
      pool.operate("POST", "/v1/jobs", R"({"avatar":"ada","text":"Good morning"})", k_json);
  CHECK(got.status == 503);
  CHECK(got.body.at("error").at("code") == "store_unavailable");
  CHECK(got.headers.find("retry-after")->second == "5");
  CHECK(got.body.at("error").at("message") ==
        "the pool's store cannot be reached; try again later");
}

TEST_CASE("another job under a key that was used has a code of its own") {
  const TemporaryDirectory folder;
  GatewayPool pool({}, with_jobs_in(folder));
  Headers keyed = k_json;
  keyed.emplace_back("Idempotency-Key", "first");
  const auto submit = [&](const std::string& text) {
    return pool.operate("POST", "/v1/jobs", R"({"avatar":"ada","text":")" + text + "\"}", keyed);
  };
  const Got first = submit("Good morning");
  REQUIRE(first.status == 202);
  CHECK(submit("Good morning").body.at("id") == first.body.at("id"));
  const Got other = submit("Good night");
  CHECK(other.status == 422);
  CHECK(other.body.at("error").at("code") == "idempotency_conflict");
  const std::string message = other.body.at("error").at("message");
  CHECK_THAT(message, Catch::Contains(first.body.at("id").get<std::string>()));
}

TEST_CASE("a gateway ends while speech is being judged, and answers who waits for that") {
  const TemporaryDirectory folder;
  const std::string begun = folder / "begun";
  const std::string script = R"(echo '{"confined":true}'; : > )" + begun + "; exec sleep 60";
  GatewayOptions options;
  options.jobs =
      JobOptions{.folder = folder / "jobs", .probe = {.command = {"/bin/sh", "-c", script}}};
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

TEST_CASE("a job that is recorded is answered, however long the bucket takes to say what it has") {
  const LoopbackServer bucket([](Connection& connection, const ReceivedRequest& request) {
    if (request.method == "HEAD") return connection.hold();
    connection.answer(200);
  });
  const auto variable = [&](const char* name) {
    return std::string(name) == "AWS_ENDPOINT_URL_S3" ? bucket.url() : "key";
  };
  const TemporaryDirectory folder;
  GatewayOptions options;
  options.jobs =
      JobOptions{.folder = folder / "jobs",
                 .bucket = std::make_shared<const JobBucket>("s3://videos/jobs", variable)};
  GatewayPool pool({}, options);
  auto answer = std::async(std::launch::async, [&] {
    return pool.operate("POST", "/v1/jobs", k_submission,
                        {{"Content-Type", "multipart/form-data; boundary=x"}});
  });
  CHECK(answer.wait_for(10s) == std::future_status::ready);
  pool.stop();
  CHECK(pool.ends());
  CHECK(answer.get().status == 202);
}

TEST_CASE("a job is accepted before a bucket that does not answer has been tried three times") {
  std::atomic<int> tries = 0;
  const LoopbackServer bucket([&](Connection& connection, const ReceivedRequest& request) {
    tries += request.method == "PUT" ? 1 : 0;
    connection.hold();
  });
  const auto variable = [&](const char* name) {
    return std::string(name) == "AWS_ENDPOINT_URL_S3" ? bucket.url() : "key";
  };
  const TemporaryDirectory folder;
  GatewayOptions options = with_jobs_in(folder);
  options.jobs->bucket = std::make_shared<const JobBucket>("s3://videos/jobs", variable);
  GatewayPool pool({}, options);
  const Got got = pool.operate("POST", "/v1/jobs", k_submission,
                               {{"Content-Type", "multipart/form-data; boundary=x"}});
  CHECK(got.status == 202);
  CHECK(tries < 3);
  pool.stop();
  CHECK(pool.ends());
}

TEST_CASE("speech that the gateway cannot keep is to be sent again later") {
  const TemporaryDirectory folder;
  std::filesystem::create_directory(folder / "jobs");
  std::ofstream(folder / "jobs/uploads") << "not a folder";
  GatewayOptions options;
  options.jobs = JobOptions{.folder = folder / "jobs"};
  GatewayPool pool({}, options);
  const Got got = pool.operate("POST", "/v1/jobs", k_submission,
                               {{"Content-Type", "multipart/form-data; boundary=x"}});
  CHECK(got.status == 503);
  CHECK(got.body.at("error").at("code") == "unavailable");
  CHECK(got.headers.contains("retry-after"));
  CHECK(got.text.find(folder.path().native()) == std::string::npos);
}

TEST_CASE("a gateway that cannot write its folder accepts no job, and says so, until it can") {
  const TemporaryDirectory folder;
  std::ofstream(folder / "jobs") << "not a folder";
  GatewayPool pool({}, with_jobs_in(folder));
  const auto submit = [&] {
    return pool.operate("POST", "/v1/jobs", R"({"avatar":"ada","text":"Good morning"})", k_json);
  };
  REQUIRE(eventually([&] { return submit().status == 503; }));
  const Got refusal = submit();
  CHECK(refusal.body.at("error").at("code") == "unavailable");
  CHECK(refusal.headers.contains("retry-after"));
  CHECK(refusal.text.find(folder.path().native()) == std::string::npos);
  const Got ready = ask("GET", pool.url() + "/readyz");
  CHECK(ready.status == 200);  // users are served
  const std::string degraded = ready.body.at("degraded").dump();
  CHECK_THAT(degraded, Catch::Contains("jobs.folder") && Catch::Contains(folder / "jobs"));
  std::filesystem::remove(folder / "jobs");
  CHECK(eventually([&] { return submit().status == 202; }));
  CHECK(ask("GET", pool.url() + "/readyz").body.at("degraded").empty());
}

TEST_CASE("a text that the moderation has rewritten is judged and counted as any other") {
  const std::string long_text(1400, 'a');  // spoken in about 100 s
  const LoopbackServer moderation([&](Connection& connection, const ReceivedRequest& request) {
    const bool is_rude = request.body.find("Be rude") != std::string::npos;
    const std::string text = is_rude ? "It is foul" : long_text;
    connection.answer(200, R"({"allowed":true,"text":")" + text + R"("})");
  });
  const TemporaryDirectory folder;
  std::ofstream(folder / "blocked") << "foul\n";
  GatewayOptions options;
  options.jobs = JobOptions{
      .folder = folder / "jobs",
      .input = {.moderation_url = moderation.url(), .blocked_words_file = folder / "blocked"}};
  GatewayPool pool({}, options);
  const Got longer =
      pool.operate("POST", "/v1/jobs",
                   R"({"avatar":"ada","text":"Good morning","output":{"format":"gif"}})", k_json);
  REQUIRE(longer.status == 202);  // a guess refuses nothing, also beyond the minute of a GIF
  CHECK(longer.body.at("video_minutes").get<double>() == Approx(100.0 / 60));
  CHECK(longer.body.at("estimated") == true);
  const Got foul = pool.operate("POST", "/v1/jobs", R"({"avatar":"ada","text":"Be rude"})", k_json);
  CHECK(foul.status == 422);
  CHECK_THAT(foul.text, Catch::Contains("blocked_words"));
}

TEST_CASE("a job that waits has a place, and a running one no error of an earlier try") {
  const TemporaryDirectory folder;
  GatewayPool pool({}, with_jobs_in(folder));  // without a worker, and so without a learnt rate
  const Got made =
      pool.operate("POST", "/v1/jobs", R"({"avatar":"ada","text":"Good morning"})", k_json);
  REQUIRE(made.status == 202);
  CHECK(made.body.at("eta_s") > 0);
  CHECK(made.body.at("promised_at").is_string());
  CHECK(made.body.at("position") == 1);
  JobStore jobs(StoreBackend::open(pool.store_url()), {.first_delay = 1h});
  const JobId id{made.body.at("id").get<std::string>()};
  const auto shown = [&] { return pool.operate("GET", "/v1/jobs/" + id.text).body; };
  const auto claim = [&](TimePoint now) {
    const auto job = jobs.claim("elsewhere", by_priority, now);
    REQUIRE(job);
    return JobLease{.job = job->id, .epoch = job->epoch};
  };
  jobs.release(jobs.find(id)->spec.tenant, VideoMinutes(1h), 1, {"test", "now"}, jobs.now());
  jobs.fail(claim(jobs.now()), "the worker is gone", jobs.now());
  CHECK(shown().at("error") == "the worker is gone");
  CHECK(shown().at("position") == 1);  // released, it waits
  claim(jobs.now() + 2h);
  CHECK(shown().at("state") == "running");
  CHECK(shown().at("position").is_null());
  CHECK(shown().at("error").is_null());
}

TEST_CASE("a gateway holds what it has yet to deliver for as long as one exchange may take") {
  constexpr Duration k_long = 1h;
  const TemporaryDirectory folder;
  const auto backend = StoreBackend::open("sqlite:" + (folder / "pool.db").native());
  JobStore jobs(backend);
  JobNotices notices(backend);
  const auto due_at_once = [&](TimePoint at) {
    std::size_t due = 0;
    backend->read([&](Transaction& t) {
      const auto rows = t.db.query("SELECT COUNT(*) FROM job_notices WHERE due_at < $1",
                                   {std::int64_t{at.time_since_epoch().count()}});
      if (rows->next()) due = static_cast<std::size_t>(rows->integer(0));
    });
    return due;
  };
  std::mutex mutex;
  std::vector<std::size_t>
      lapsing;  // at each exchange, of those that others would have before its hold is over
  std::vector<TimePoint> before;  // each exchange
  const LoopbackServer receiver([&](Connection& connection, const ReceivedRequest&) {
    {
      const std::lock_guard lock(mutex);
      if (!before.empty()) lapsing.push_back(due_at_once(before.back() + k_long));
      before.push_back(notices.now());
    }
    connection.answer(204);
  });
  constexpr std::size_t k_jobs = 4;
  for (std::size_t i = 0; i < k_jobs; ++i) {
    const NewJob job{
        .spec = {.tenant = {"acme"}, .text = "Hello", .webhook = receiver.url("/hook")}};
    jobs.cancel(jobs.submit(job, {"user", "wants it"}, jobs.now()).job.id, {"user", "does not"},
                jobs.now());
  }
  IoLoop io;
  CoroutineScope coroutines(io);
  BlockingThreads store_threads{1}, senders{1};
  JobWebhooks webhooks(io.get_executor(), notices, {.secret = "secret", .allow_private = true},
                       store_threads, senders, k_long);
  boost::asio::co_spawn(io, webhooks.run(), boost::asio::detached);
  const std::jthread loop([&] { io.run(); });
  const auto count = [&] {
    const std::lock_guard lock(mutex);
    return before.size();
  };
  for (const auto until = std::chrono::steady_clock::now() + 20s;
       count() < k_jobs && std::chrono::steady_clock::now() < until;)
    std::this_thread::sleep_for(5ms);
  boost::asio::co_spawn(io, webhooks.drain(), boost::asio::use_future).wait();
  io.stop();
  // All that is left was held anew behind the exchange before.
  CHECK(lapsing == std::vector<std::size_t>(k_jobs - 1, 0));
  CHECK(count() == k_jobs);
}

TEST_CASE("a webhook tells the error that the job shows") {
  const auto told = [](JobState state) {
    const JobNotice notice{.job = {.state = state, .error = "the worker is gone"},
                           .event = JobEvent::promise,
                           .to = state};
    return nlohmann::json::parse(message_of(notice).body).at("job").at("error");
  };
  CHECK(told(JobState::released) == "the worker is gone");
  CHECK(told(JobState::dead) == "the worker is gone");
  for (const JobState state : {JobState::running, JobState::cancelled, JobState::done})
    CHECK(told(state).is_null());
}

TEST_CASE("a tenant's webhooks have a secret of its own, which tells no other's") {
  const std::string acme = webhook_secret_of(TenantId{"acme"}, "of the pool");
  CHECK(acme == webhook_secret_of(TenantId{"acme"}, "of the pool"));
  CHECK(acme != webhook_secret_of(TenantId{"bobs"}, "of the pool"));
  CHECK(acme != webhook_secret_of(TenantId{"acme"}, "of another pool"));
  CHECK(acme.size() == 64);
}
