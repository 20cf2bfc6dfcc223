#include "server/gateway/jobs/job_files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <fstream>
#include <future>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "core/base/id.h"
#include "core/base/unique_fd.h"
#include "server/gateway/jobs/faults/own_fault.h"
#include "tests/fakes/loopback_server.h"
#include "tests/temporary_directory.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace navtalk::tests;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

std::set<std::string> nothing() { return {}; }

// Objects in memory, for the requests of a bucket.
class MemoryBucket {
 public:
  bool has(const std::string& name) {
    const std::lock_guard lock(mutex_);
    return std::ranges::any_of(objects_,
                               [&](const auto& one) { return one.first.ends_with(name); });
  }
  std::size_t size() {
    const std::lock_guard lock(mutex_);
    return objects_.size();
  }
  std::shared_ptr<const JobBucket> open() {
    const auto variable = [url = server_.url()](const char* name) {
      return std::string(name) == "AWS_ENDPOINT_URL_S3" ? url : "key";
    };
    return std::make_shared<const JobBucket>("s3://videos/jobs", variable);
  }

 private:
  void answer(Connection& connection, const ReceivedRequest& request) {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(request.path);
    if (request.method == "PUT") objects_[request.path] = request.body;
    if (request.method == "DELETE") objects_.erase(request.path);
    if (request.method == "PUT" || request.method == "DELETE") {
      connection.answer(200);
    } else if (found == objects_.end()) {
      connection.send("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    } else if (request.method == "HEAD") {
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(found->second.size()) +
                      "\r\n\r\n");
    } else {
      connection.answer(200, found->second);
    }
  }

  std::mutex mutex_;
  std::map<std::string, std::string> objects_;
  LoopbackServer server_{[this](Connection& connection, const ReceivedRequest& request) {
    answer(connection, request);
  }};
};

}  // namespace

TEST_CASE("only folders that are a job's by their name, and old enough, are jobs'") {
  const TemporaryDirectory folder;
  const JobFiles files(folder.path());
  CHECK(JobFiles(folder / "none").with_folders(1h).empty());
  const JobId old{random_id()}, fresh{random_id()}, file{random_id()};
  files.prepare(old);
  files.prepare(fresh);
  fs::create_directory(folder / "uploads");
  fs::create_directory(folder / "Holiday pictures of last summer ");
  std::ofstream(folder / file.text) << "not a folder";
  for (const auto& entry : fs::directory_iterator(folder.path()))
    if (entry.path().filename() != fresh.text)
      fs::last_write_time(entry.path(), fs::file_time_type::clock::now() - 61min);
  CHECK(files.with_folders(1h) == std::vector<JobId>{old});
  CHECK(files.with_folders(2h).empty());
}

TEST_CASE("speech that the bucket does not take is kept here, unless the gateway ends") {
  const TemporaryDirectory folder;
  const auto nobody = [](const char* name) {
    return std::string(name) == "AWS_ENDPOINT_URL_S3" ? "http://127.0.0.1:1" : "key";
  };
  const JobFiles files(folder.path(),
                       std::make_shared<const JobBucket>("s3://videos/jobs", nobody));
  std::stop_source ending;
  ending.request_stop();
  for (int again = 0; again < 2; ++again)
    CHECK_THROWS_WITH(files.keep_upload("speech", ending.get_token()),
                      Catch::Contains("ends before the bucket has the speech"));
  const std::string audio = files.keep_upload("speech");
  CHECK(fs::exists(files.upload(audio)));
}

TEST_CASE("damaged speech is replaced by who sends it again, and by what the bucket has") {
  const TemporaryDirectory folder;
  MemoryBucket bucket;
  const JobFiles local(folder.path()), shared(folder.path(), bucket.open());
  const JobId job{random_id()};
  const std::string audio = shared.keep_upload("speech");
  shared.ensure_shared(audio, {});
  const fs::path file = local.upload(audio);
  const auto content = [&] {
    std::ifstream from(file);
    return std::string(std::istreambuf_iterator(from), {});
  };
  for (const char* damaged : {"", "spee", "sqeech", "speech and more"}) {
    INFO(damaged);
    CHECK_FALSE(local.is_damaged(audio));
    std::ofstream(file) << damaged;
    CHECK(local.is_damaged(audio));
    CHECK(local.keep_upload("speech") == audio);
    CHECK(content() == "speech");
    std::ofstream(file) << damaged;
    CHECK(shared.obtain(job, audio, 0, {}));
    CHECK(content() == "speech");
  }
  fs::remove(file);
  CHECK_FALSE(local.is_damaged(audio));
}

TEST_CASE("speech that the disk does not take is the gateway's fault, with the system's reason") {
  const TemporaryDirectory folder;
  const JobFiles files(folder.path());
  rlimit whole{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &whole) == 0);
  const auto as_it_was = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = 1 << 20, .rlim_max = whole.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  std::string why;
  try {
    files.keep_upload(std::string(2 << 20, 'x'));
  } catch (const OwnFault& error) {
    why = error.message();
  }
  ::setrlimit(RLIMIT_FSIZE, &whole);
  std::signal(SIGXFSZ, as_it_was);
  CHECK_THAT(why, Catch::EndsWith("cannot be written: File too large"));
  CHECK(fs::is_empty(folder / "uploads"));
}

TEST_CASE("old speech leaves the bucket, unless another gateway takes it at that moment") {
  const TemporaryDirectory here, elsewhere;
  MemoryBucket bucket;
  const JobFiles files(here.path(), bucket.open()), others(elsewhere.path(), bucket.open());
  const std::string audio = files.keep_upload("speech");
  fs::last_write_time(files.upload(audio), fs::file_time_type::clock::now() - 2h);
  REQUIRE(bucket.has(audio));
  int reads = 0;
  SECTION("no job needs it") {
    files.sweep_uploads(nothing);
    CHECK_FALSE(bucket.has(audio));
    CHECK_FALSE(fs::exists(files.upload(audio)));
  }
  SECTION("a job is recorded before it has left") {
    files.sweep_uploads(
        [&] { return ++reads == 1 ? std::set<std::string>() : std::set<std::string>{audio}; });
    CHECK(reads == 2);
    CHECK(bucket.has(audio));
    CHECK(fs::exists(files.upload(audio)));
  }
  SECTION("a job is recorded before it has left, and this gateway ends") {
    std::stop_source ending;
    const auto needed = [&] {
      if (++reads == 1) return std::set<std::string>();
      ending.request_stop();
      return std::set<std::string>{audio};
    };
    files.sweep_uploads(needed, ending.get_token());
    CHECK(reads == 2);
    CHECK(bucket.has(audio));
    CHECK(fs::exists(files.upload(audio)));
  }
  SECTION("a job is recorded after it has left") {
    REQUIRE(others.keep_upload("speech") == audio);
    files.sweep_uploads(nothing);
    REQUIRE_FALSE(bucket.has(audio));
    others.ensure_shared(audio, {});
    CHECK(bucket.has(audio));
  }
}

TEST_CASE("of much old speech few leave the bucket before it is asked again what is needed") {
  const TemporaryDirectory folder;
  MemoryBucket bucket;
  const JobFiles files(folder.path(), bucket.open());
  for (int i = 0; i < 45; ++i) {
    const std::string audio = files.keep_upload("speech " + std::to_string(i));
    fs::last_write_time(files.upload(audio), fs::file_time_type::clock::now() - 2h);
  }
  std::vector<std::size_t> left;  // at each question
  files.sweep_uploads([&] {
    left.push_back(bucket.size());
    return nothing();
  });
  CHECK(left == std::vector<std::size_t>{45, 25, 5, 0});
  CHECK(fs::is_empty(folder / "uploads"));
}

TEST_CASE("speech that is sent again while old speech is removed stays") {
  const TemporaryDirectory folder;
  const JobFiles files(folder.path());
  const fs::path speech = files.upload(files.keep_upload("speech"));
  const auto age = [&] { fs::last_write_time(speech, fs::file_time_type::clock::now() - 2h); };
  const auto lock = [&] {
    UniqueFd held(::open(speech.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    REQUIRE(::flock(held.value(), LOCK_EX) == 0);
    return held;
  };
  age();
  SECTION("it is looked at under the folder's lock") {
    UniqueFd held = lock();
    const auto sweep = std::async(std::launch::async, [&] { files.sweep_uploads(nothing); });
    std::this_thread::sleep_for(30ms);
    fs::last_write_time(speech, fs::file_time_type::clock::now());
    held.reset();
    sweep.wait();
    CHECK(fs::exists(speech));
  }
  SECTION("it is made young under the folder's lock") {
    UniqueFd held = lock();
    const auto kept = std::async(std::launch::async, [&] { files.keep_upload("speech"); });
    std::this_thread::sleep_for(30ms);
    fs::remove(speech);  // as a sweep does that has the lock
    held.reset();
    kept.wait();
    CHECK(fs::exists(speech));
  }
}
