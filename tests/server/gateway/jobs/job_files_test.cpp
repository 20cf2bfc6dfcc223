#include "server/gateway/jobs/job_files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/use_future.hpp>
#include <catch2/catch.hpp>
#include <csignal>
#include <fstream>
#include <future>
#include <iterator>
#include <set>
#include <thread>

#include "core/base/id.h"
#include "core/base/unique_fd.h"
#include "server/gateway/jobs/faults/own_fault.h"
#include "server/gateway/jobs/speech/speech_keeper.h"
#include "server/http/io_loop.h"
#include "tests/server/gateway/jobs/dispatching.h"
#include "tests/server/gateway/jobs/memory_bucket.h"
#include "tests/temporary_directory.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace navtalk::tests;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

std::set<std::string> nothing() { return {}; }

// Speech that a bucket takes, and never says so.
struct Keeping {
  explicit Keeping(Duration patience)
      : keeper({.files = files,
                .file_threads = file_threads,
                .bucket_threads = bucket_threads,
                .stop = ending.get_token(),
                .patience = patience}) {}
  ~Keeping() {
    ending.request_stop();
    io.stop();
  }
  Keeping(const Keeping&) = delete;
  Keeping& operator=(const Keeping&) = delete;

  std::future<std::string> keep() {
    return asio::co_spawn(io, keeper.keep("speech"), asio::use_future);
  }

  std::atomic<int> asked = 0;
  LoopbackServer bucket{[this](Connection& connection, const ReceivedRequest&) {
    ++asked;
    connection.hold();
  }};
  TemporaryDirectory folder;
  JobFiles files{folder.path(), bucket_at(bucket.url())};
  std::stop_source ending;
  IoLoop io;
  SpeechKeeper keeper;
  BlockingThreads file_threads{1}, bucket_threads{1};
  // Without it the loop may end before there is anything to do.
  asio::executor_work_guard<asio::any_io_executor> work{io.get_executor()};
  std::jthread thread{[this] { io.run(); }};
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

TEST_CASE(
    "speech that the bucket has not taken comes there later, also from a gateway that begins "
    "again") {
  const TemporaryDirectory folder;
  const auto nobody = [](const char* name) {
    return std::string(name) == "AWS_ENDPOINT_URL_S3" ? "http://127.0.0.1:1" : "key";
  };
  const auto away = std::make_shared<const JobBucket>("s3://videos/jobs", nobody);
  std::string audio, unneeded;
  {
    const JobFiles files(folder.path(), away);
    audio = files.keep_upload("speech");
    unneeded = files.keep_upload("of no job");
    const bool killed_before_it_was_sent = GENERATE(true, false);
    if (!killed_before_it_was_sent) CHECK_FALSE(files.share_upload(audio));
  }
  MemoryBucket bucket;
  const auto needed = [&] { return std::set<std::string>{audio}; };
  const JobFiles again(folder.path(), bucket.open());
  again.share_uploads(needed, {});
  CHECK(bucket.has(audio));
  CHECK_FALSE(bucket.has(unneeded));
  int questions = 0;
  again.share_uploads([&] { return ++questions, std::set<std::string>{unneeded}; }, {});
  CHECK(bucket.has(unneeded));
  again.share_uploads([&] { return ++questions, nothing(); }, {});
  CHECK(questions == 1);  // nothing is left to be shared
}

TEST_CASE("speech that the bucket has taken is sent to it once") {
  const TemporaryDirectory folder;
  MemoryBucket bucket;
  const JobFiles files(folder.path(), bucket.open());
  const std::string audio = files.keep_upload("speech");
  CHECK(files.share_upload(audio));
  int questions = 0;
  files.share_uploads([&] { return ++questions, std::set<std::string>{audio}; }, {});
  CHECK(questions == 0);
}

TEST_CASE("speech that was removed before the bucket had it is not looked for for ever") {
  const TemporaryDirectory folder;
  MemoryBucket bucket;
  const JobFiles files(folder.path(), bucket.open());
  const std::string audio = files.keep_upload("speech");
  fs::remove(files.upload(audio));
  int questions = 0;
  const auto look = [&] { files.share_uploads([&] { return ++questions, nothing(); }, {}); };
  look();  // it may be about to be written
  CHECK(questions == 1);
  fs::last_write_time(folder / "unshared" / audio, fs::file_time_type::clock::now() - 2h);
  look();
  look();
  CHECK(questions == 2);
}

TEST_CASE("a folder in which nothing can be written is told by its path and the reason") {
  const TemporaryDirectory folder;
  JobFiles(folder / "new/jobs").check_folder();
  CHECK(fs::is_empty(folder / "new/jobs"));
  std::ofstream(folder / "file") << "not a folder";
  for (const fs::path& path : {folder / "file", folder / "file/jobs"})
    CHECK_THROWS_WITH(JobFiles(path).check_folder(),
                      Catch::Contains(path.native()) && Catch::Contains("Not a directory"));
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
  REQUIRE(files.share_upload(audio));
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
    REQUIRE(others.share_upload(audio));
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
    REQUIRE(files.share_upload(audio));
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

TEST_CASE("speech is kept although the bucket does not answer, and is still to be shared") {
  Keeping keeping(10ms);
  auto kept = keeping.keep();
  REQUIRE(kept.wait_for(60s) == std::future_status::ready);  // less than three tries
  const std::string audio = kept.get();
  CHECK(fs::exists(keeping.files.upload(audio)));
  CHECK(fs::exists(keeping.folder / "unshared" / audio));
}

TEST_CASE("a gateway that ends before the bucket has the speech does not keep it") {
  Keeping keeping(24h);
  auto kept = keeping.keep();
  for (const auto until = Signal::Clock::now() + 60s;
       keeping.asked == 0 && Signal::Clock::now() < until;)
    std::this_thread::sleep_for(1ms);
  keeping.ending.request_stop();
  REQUIRE(kept.wait_for(60s) == std::future_status::ready);
  CHECK_THROWS_WITH(kept.get(), Catch::Contains("ends before the bucket has the speech"));
}
