#include "core/artifacts/ranges/ahead_files.h"

#include <catch2/catch.hpp>

#include "tests/core/artifacts/store_fixture.h"
#include "tests/core/expect_error.h"

using namespace navtalk;
using namespace navtalk::test;
namespace fs = std::filesystem;

namespace {

const std::string k_text = long_text(100);

fs::path beside(const ScratchFolder& folder, const std::string& first) {
  return folder / ("blob." + first);
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> found(PartialBlob& blob) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
  for (const auto& [first, bytes] : AheadFiles(blob).kept()) all.emplace_back(first, bytes);
  return all;
}

}  // namespace

TEST_CASE("ranges that came ahead go into the blob, also from files of another process") {
  const ScratchFolder folder;
  PartialBlob blob(folder / "blob", 100, {});
  {
    AheadFiles first(blob);
    first.append(40, k_text.substr(40, 10));
    first.append(40, k_text.substr(50, 20));
    first.append(80, k_text.substr(80, 5));
  }
  blob.append(k_text.substr(0, 40));
  AheadFiles second(blob);
  REQUIRE(second.kept().size() == 2);
  second.move_to_blob(40);
  CHECK(blob.size() == 70);
  CHECK(content(folder / "blob") == k_text.substr(0, 70));
  CHECK_FALSE(fs::exists(beside(folder, "40")));
  CHECK(content(beside(folder, "80")) == k_text.substr(80, 5));
  remove_ahead_files(blob);
  CHECK_FALSE(fs::exists(beside(folder, "80")));
  CHECK(fs::exists(folder / "blob"));
}

TEST_CASE("files beside a blob that are not ranges ahead of it are removed, other content is not") {
  const ScratchFolder folder;
  PartialBlob blob(folder / "blob", 100, {});
  blob.append(k_text.substr(0, 20));
  put(beside(folder, "10"), k_text.substr(10, 20));  // begins in what is there
  put(beside(folder, "30"), k_text.substr(30, 20));
  put(beside(folder, "40"), k_text.substr(40, 20));  // overlaps with the one before
  put(beside(folder, "60"), "");
  put(beside(folder, "90"), std::string(20, 'x'));  // ends behind the end
  put(beside(folder, "100"), "x");
  put(beside(folder, "x"), "x");  // not ours
  put(folder / "other.50", "x");
  CHECK(found(blob) == decltype(found(blob)){{30, 20}});
  for (const char* gone : {"10", "40", "60", "90", "100"}) {
    INFO(gone);
    CHECK_FALSE(fs::exists(beside(folder, gone)));
  }
  CHECK(fs::exists(beside(folder, "30")));
  CHECK(fs::exists(beside(folder, "x")));
  CHECK(fs::exists(folder / "other.50"));
}

TEST_CASE("a range whose file is removed or made shorter meanwhile brings no wrong bytes") {
  const ScratchFolder folder;
  PartialBlob blob(folder / "blob", 100, {});
  AheadFiles ahead(blob);
  ahead.append(10, k_text.substr(10, 20));
  ahead.append(30, k_text.substr(30, 20));
  fs::remove(beside(folder, "10"));
  blob.append(k_text.substr(0, 10));
  ahead.move_to_blob(10);
  CHECK(content(folder / "blob") == k_text.substr(0, 30));
  fs::resize_file(beside(folder, "30"), 5);
  expect_error(Code::failed, {"blob.30"}, [&] { ahead.move_to_blob(30); });
}
