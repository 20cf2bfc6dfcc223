#include <fcntl.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "core/artifacts/cache.h"
#include "core/artifacts/push.h"
#include "tests/core/artifacts/store_fixture.h"
#include "tests/core/expect_error.h"

using namespace navtalk;
using namespace navtalk::test;
namespace fs = std::filesystem;

namespace {

// A folder source with a model of one file for each name, each of `bytes`.
std::string store_with(const ScratchFolder& folder, const std::vector<std::string>& names,
                       std::size_t bytes) {
  const fs::path store = folder / "store";
  for (const std::string& name : names) {
    fs::create_directories(folder / name);
    put(folder / name / "w.bin", name + long_text(bytes - name.size()));
    const auto source = open_source(store.native(), {});
    push_artifact(describe_artifact(ArtifactKind::model, name, folder / name, {"w.bin"}, {}, {}),
                  folder / name, *source, {}, {});
  }
  return store.native();
}

// When it was used, so that the order does not depend on the clock's steps.
void set_used(const fs::path& version, int seconds) {
  const timespec times[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
  REQUIRE(::utimensat(AT_FDCWD, version.c_str(), times, 0) == 0);
}

// The last byte differs, and the file is as writable and as large as before. `seen`: the time of its last change does, too.
void damage(const fs::path& file, bool seen = true) {
  struct stat before = {};
  REQUIRE(::stat(file.c_str(), &before) == 0);
  fs::permissions(file, fs::perms::owner_write, fs::perm_options::add);
  std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
  bytes.seekg(-1, std::ios::end);
  const char last = static_cast<char>(bytes.get() ^ 1);
  bytes.seekp(-1, std::ios::end);
  bytes.put(last);
  bytes.close();
  REQUIRE(bytes);
  fs::permissions(file, fs::perms::owner_write, fs::perm_options::remove);
  const timespec changed = {.tv_sec = before.st_mtim.tv_sec + (seen ? 1 : 0),
                            .tv_nsec = before.st_mtim.tv_nsec};
  const timespec times[2] = {before.st_atim, changed};
  REQUIRE(::utimensat(AT_FDCWD, file.c_str(), times, 0) == 0);
}

std::uint64_t blob_bytes(const ScratchFolder& folder) {
  std::uint64_t all = 0;
  for (const auto& entry : fs::directory_iterator(folder / "cache/blobs")) all += entry.file_size();
  return all;
}

}  // namespace

TEST_CASE("what was pushed to a folder is fetched from it, and pushed only once") {
  const ScratchFolder folder;
  const std::string store = store_with(folder, {"m"}, 1000);
  const FetchedArtifact fetched = fetch_model(options_for({store}, folder));
  CHECK(content(fetched.folder.path / "w.bin") == content(folder / "m/w.bin"));
  const auto source = open_source(store, {});
  const PushResult again =
      push_artifact(describe_artifact(ArtifactKind::model, "m", folder / "m", {"w.bin"}, {}, {}),
                    folder / "m", *source, {}, {});
  CHECK(again.uploaded_bytes == 0);
  // Nobody changes it by accident.
  struct stat status = {};
  REQUIRE(::stat((fetched.folder.path / "w.bin").c_str(), &status) == 0);
  CHECK((status.st_mode & 0222) == 0);
}

TEST_CASE("a folder's content that has another SHA-256 is pushed again, a bucket's on demand") {
  const ScratchFolder folder;
  const std::string store = store_with(folder, {"m"}, 1000);
  const auto source = open_source(store, {});
  const ArtifactManifest manifest =
      describe_artifact(ArtifactKind::model, "m", folder / "m", {"w.bin"}, {}, {});
  const fs::path blob = fs::path(store) / key_of(manifest, manifest.files.front());
  const auto pushed = [&](bool replace) {
    return push_artifact(manifest, folder / "m", *source, {}, {}, replace).uploaded_bytes;
  };
  CHECK(pushed(false) == 0);
  CHECK(pushed(true) == 1000);
  damage(blob);
  expect_error(Code::failed, {"SHA-256"}, [&] { fetch_model(options_for({store}, folder)); });
  CHECK(pushed(false) == 1000);
  CHECK(content(blob) == content(folder / "m/w.bin"));
  CHECK(fetch_model(options_for({store}, folder)).downloaded_bytes == 1000);
}

TEST_CASE("a file that changes while it is pushed to a folder does not appear there") {
  const ScratchFolder folder;
  fs::create_directories(folder / "m");
  put(folder / "m/w.bin", long_text(1000));
  const ArtifactManifest manifest =
      describe_artifact(ArtifactKind::model, "m", folder / "m", {"w.bin"}, {}, {});
  damage(folder / "m/w.bin");
  const auto source = open_source((folder / "store").native(), {});
  expect_error(Code::failed, {"w.bin was changed while it was copied"},
               [&] { push_artifact(manifest, folder / "m", *source, {}, {}); });
  CHECK_FALSE(fs::exists(folder / "store" / key_of(manifest, manifest.files.front())));
  CHECK_FALSE(fs::exists(folder / "store/models"));
}

TEST_CASE("a file of the cache that was changed is never used, and fetched again") {
  const ScratchFolder folder;
  const std::string store = store_with(folder, {"m"}, 1000);
  FetchOptions options = options_for({store}, folder);
  std::optional<FetchedArtifact> first = fetch_model(options);
  const fs::path file = first->folder.path / "w.bin";
  SECTION("nobody uses it") { first.reset(); }
  SECTION("a process uses it") {}
  damage(file);
  const FetchedArtifact again = fetch_model(options);
  CHECK(again.downloaded_bytes == 1000);
  CHECK(again.folder.path == file.parent_path());
  CHECK(content(file) == content(folder / "m/w.bin"));
  CHECK(fetch_model(options).downloaded_bytes == 0);
  damage(file);
  fs::rename(store, store + ".away");
  CHECK_THROWS_AS(fetch_model(options), Error);
}

TEST_CASE("a byte that changed without a trace is found by whoever verifies all") {
  const ScratchFolder folder;
  FetchOptions options = options_for({store_with(folder, {"m"}, 1000)}, folder);
  const fs::path file = fetch_model(options).folder.path / "w.bin";
  damage(file, false);
  // A file that is as it was is not read each time that a process starts.
  CHECK(fetch_model(options).downloaded_bytes == 0);
  options.verify = true;
  CHECK(fetch_model(options).downloaded_bytes == 1000);
  CHECK(content(file) == content(folder / "m/w.bin"));
  CHECK(fetch_model(options).downloaded_bytes == 0);
}

TEST_CASE("damaged content of the cache that no version has is not put together again") {
  const ScratchFolder folder;
  FetchOptions options = options_for({store_with(folder, {"m"}, 1000)}, folder);
  const FetchedArtifact first = fetch_model(options);
  const std::string sum = first.manifest.files.front().sha256;
  damage(options.cache / "blobs" / sum);
  fs::remove_all(options.cache / "models");
  const FetchedArtifact again = fetch_model(options);
  CHECK(again.downloaded_bytes == 1000);
  CHECK(content(again.folder.path / "w.bin") == content(folder / "m/w.bin"));
}

TEST_CASE("a cache without records of what was verified is read once") {
  const ScratchFolder folder;
  FetchOptions options = options_for({store_with(folder, {"a", "b"}, 1000)}, folder);
  const FetchedArtifact first = fetch_model(options, "a");
  const fs::path record = options.cache / "verified" / first.manifest.files.front().sha256;
  REQUIRE(fs::exists(record));
  fs::remove(record);
  CHECK(fetch_model(options, "a").downloaded_bytes == 0);
  CHECK(fs::exists(record));
  // It goes with its content.
  fs::remove_all(options.cache / "models");
  fs::remove_all(options.cache / "blobs");
  options.cache_bytes = 5000;
  fetch_model(options, "b");
  CHECK_FALSE(fs::exists(record));
}

TEST_CASE("a file that a store could not name is not pushed") {
  const ScratchFolder folder;
  fs::create_directories(folder / "m");
  put(folder / "m/a b", "x");
  put(folder / "m/empty", "");
  const auto described = [&](const std::string& name, const fs::path& file) {
    return describe_artifact(ArtifactKind::model, name, folder / "m", {file}, {}, {});
  };
  expect_error(Code::invalid, {"\"a b\""}, [&] { described("m", "a b"); });
  expect_error(Code::invalid, {"empty is empty"}, [&] { described("m", "empty"); });
  expect_error(Code::not_found, {"none"}, [&] { described("m", "none"); });
  put(folder / "m/a", "x");
  expect_error(Code::invalid, {"a name in a model store"}, [&] { described("m m", "a"); });
}

TEST_CASE("what was used the longest ago leaves a full cache, what is in use never") {
  const ScratchFolder folder;
  FetchOptions options = options_for({store_with(folder, {"a", "b", "c", "d"}, 1000)}, folder);
  options.cache_bytes = 3500;
  std::optional<FetchedArtifact> a = fetch_model(options, "a");
  const fs::path b = fetch_model(options, "b").folder.path;
  const fs::path c = fetch_model(options, "c").folder.path;
  set_used(a->folder.path, 1000);
  set_used(b, 3000);
  set_used(c, 2000);
  const fs::path d = fetch_model(options, "d").folder.path;
  CHECK(fs::exists(a->folder.path));  // the oldest, but in use
  CHECK(fs::exists(b));
  CHECK_FALSE(fs::exists(c));
  CHECK(fs::exists(d));
  CHECK(blob_bytes(folder) == 3000);
  const fs::path was_a = a->folder.path;
  a.reset();
  CHECK(fetch_model(options, "c").downloaded_bytes == 1000);
  CHECK_FALSE(fs::exists(was_a));
  CHECK(blob_bytes(folder) == 3000);
}

TEST_CASE("a model that is larger than the cache is fetched nevertheless") {
  const ScratchFolder folder;
  FetchOptions options = options_for({store_with(folder, {"a", "b"}, 1000)}, folder);
  options.cache_bytes = 10;
  const FetchedArtifact a = fetch_model(options, "a");
  CHECK(content(a.folder.path / "w.bin") == content(folder / "a/w.bin"));
}

TEST_CASE("a version that lost a file, or was left unfinished, is put together anew") {
  const ScratchFolder folder;
  const FetchOptions options = options_for({store_with(folder, {"m"}, 1000)}, folder);
  const fs::path version = fetch_model(options).folder.path;
  fs::remove(version / "w.bin");
  fs::create_directories(version.native() + ".unfinished/left");
  const FetchedArtifact again = fetch_model(options);
  CHECK(again.folder.path == version);
  CHECK(again.downloaded_bytes == 0);
  CHECK(content(version / "w.bin") == content(folder / "m/w.bin"));
  CHECK_FALSE(fs::exists(version.native() + ".unfinished"));
  CHECK_FALSE(fs::exists(version / "left"));
}

TEST_CASE(
    "partial content that nobody goes on with leaves a full cache, what is fetched does not") {
  const ScratchFolder folder;
  FetchOptions options = options_for({store_with(folder, {"a"}, 1000)}, folder);
  options.cache_bytes = 1500;
  const ArtifactCache cache(options.cache, options.cache_bytes);
  const std::string left = sum_of("left"), held = sum_of("held");
  put(options.cache / "partial" / left, long_text(700));
  PartialBlob growing = cache.partial({.path = "x", .bytes = 600, .sha256 = held}, {});
  growing.append(long_text(600));
  fetch_model(options, "a");
  CHECK_FALSE(fs::exists(options.cache / "partial" / left));
  CHECK(fs::exists(options.cache / "partial" / held));
}

TEST_CASE("content of a version that went, or that others asked for, leaves a full cache") {
  const ScratchFolder folder;
  FetchOptions options = options_for({store_with(folder, {"a", "b"}, 1000)}, folder);
  const ArtifactFile asked = fetch_model(options, "a").manifest.files.front();
  fs::remove_all(options.cache / "models");
  CHECK(fs::exists(options.cache / "blobs" / asked.sha256));
  options.cache_bytes = 1500;
  fetch_model(options, "b");
  CHECK_FALSE(fs::exists(options.cache / "blobs" / asked.sha256));
  CHECK(blob_bytes(folder) == 1000);
}
