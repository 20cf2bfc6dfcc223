#include "server/gateway/jobs/job_files.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "core/base/id.h"
#include "tests/temporary_directory.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace navtalk::tests;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

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
