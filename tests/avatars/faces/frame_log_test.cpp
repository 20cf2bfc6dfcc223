#include "avatars/faces/search/frame_log.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <limits>
#include <vector>

#include "tests/temporary_directory.h"

using namespace navtalk;
using Numbers = std::vector<std::int32_t>;
namespace fs = std::filesystem;

namespace {

std::vector<Numbers> read_log(const fs::path& folder, std::size_t frames, std::size_t batch) {
  std::vector<Numbers> all;
  FrameLog log(folder, "log");
  all.resize(log.resume(frames, batch, [&](std::span<const std::int32_t> numbers) {
    if (!numbers.empty() && numbers[0] < 0) return false;
    all.emplace_back(numbers.begin(), numbers.end());
    return true;
  }));
  return all;
}

void write_log(const fs::path& folder, const std::vector<Numbers>& frames) {
  FrameLog log(folder, "log");
  log.resume(100, 1, [](auto) { return true; });
  for (const Numbers& numbers : frames) log.append(numbers);
}

const std::vector<Numbers> k_logged{{1, 2, 3}, {}, {4}, {5, 6}};

}  // namespace

TEST_CASE("what was found in a clip's first frames is there again, frame by frame") {
  const tests::TemporaryDirectory base;
  CHECK(read_log(base / "new", 10, 1).empty());
  write_log(base / "notes", k_logged);
  CHECK(read_log(base / "notes", 10, 1) == k_logged);
  write_log(base / "notes", {{7}});
  CHECK(read_log(base / "notes", 5, 2).size() == 5);  // all
}

TEST_CASE("only whole batches are taken up, and nothing that is damaged or half written") {
  const tests::TemporaryDirectory base;
  write_log(base / "notes", k_logged);
  SECTION("batches") { CHECK(read_log(base / "notes", 10, 3).size() == 3); }
  SECTION("half written") {
    fs::resize_file(base / "notes/log", fs::file_size(base / "notes/log") - 1);
    CHECK(read_log(base / "notes", 10, 1).size() == 3);
  }
  SECTION("refused by its reader") {
    write_log(base / "notes", {{-1}, {8}});
    CHECK(read_log(base / "notes", 10, 1).size() == 4);
  }
  SECTION("a count that no frame has") {
    const std::int32_t most = std::numeric_limits<std::int32_t>::max();
    std::ofstream(base / "notes/log", std::ios::app | std::ios::binary)
        .write(reinterpret_cast<const char*>(&most), sizeof most);
    CHECK(read_log(base / "notes", 10, 1).size() == 4);
  }
  write_log(base / "notes", {{9}});  // behind what was taken up
  CHECK(read_log(base / "notes", 10, 1).back() == Numbers{9});
}

TEST_CASE("a frame in which a detector saw thousands of faces is there again") {
  const tests::TemporaryDirectory base;
  write_log(base / "notes", {Numbers(200'000, 3), {4}});
  CHECK(read_log(base / "notes", 10, 1) == std::vector<Numbers>{Numbers(200'000, 3), {4}});
}

TEST_CASE("without a folder nothing is kept") {
  write_log({}, k_logged);
  CHECK(read_log({}, 10, 1).empty());
}
