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
