// Latents are kept from one use of a bundle to the next, and nothing that befalls the cache breaks
// a use.
#include "avatars/bundle/latents/latent_cache.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "avatars/bundle/bundle.h"
#include "avatars/faces/given_faces.h"
#include "avatars/prepare/prepare.h"
#include "tests/avatars/drawn_face.h"
#include "tests/avatars/fake_model.h"
#include "tests/temporary_directory.h"

using namespace navtalk;
using tests::FakeModel;
using tests::TemporaryDirectory;
namespace fs = std::filesystem;

namespace {

constexpr int k_frames = 10;
constexpr std::uintmax_t k_file_bytes = k_frames * k_latent_values * sizeof(float);
using tests::k_box;
using tests::k_checksum;

// A bundle without latents: ten frames, the face in `box`.
fs::path bare_bundle(const TemporaryDirectory& base, const std::string& id,
                     const Box& box = k_box) {
  if (!fs::exists(base / "in.mp4"))
    tests::write_clip(base / "in.mp4", tests::moving_face(k_frames));
  prepare({.source = base / "in.mp4",
           .output = base / id,
           .id = id,
           .faces = std::make_shared<GivenFaces>(box),
           .latents = std::nullopt},
          {}, {});
  return base / id;
}

// How many faces a use of the bundle encodes.
int use(const fs::path& bundle, const LatentCache& cache,
        const std::string& checksum = k_checksum) {
  FakeModel model;
  Bundle opened = Bundle::open(bundle);
  opened.ensure_latents(model.named(checksum), cache);
  CHECK(opened.latent(k_frames - 1).values.size() == k_latent_values);
  CHECK(model.opened == (model.faces > 0 ? 1 : 0));
  return model.faces;
}

bool finds(const fs::path& bundle, const LatentCache& cache) {
  FakeModel model;
  const bool found = Bundle::open(bundle).find_latents(model.named(k_checksum), cache);
  CHECK(model.opened == 0);
  return found;
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  return files;
}

// The last byte of a file becomes another one.
void damage(const fs::path& file) {
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekg(-1, std::ios::end);
  const char last = static_cast<char>(stream.get());
  stream.seekp(-1, std::ios::end);
  stream.put(static_cast<char>(last ^ 1));
}

}  // namespace

TEST_CASE("latents are made at the first use, and taken from the cache at the next") {
  const TemporaryDirectory base;
  const fs::path ada = bare_bundle(base, "ada");
  const LatentCache cache(base / "home/cache/latents");
  CHECK_FALSE(finds(ada, cache));
  CHECK(use(ada, cache) == k_frames);
  CHECK(finds(ada, cache));
  CHECK(use(ada, cache) == 0);
  REQUIRE(files_in(base / "home/cache/latents").size() == 1);
  struct stat status = {};
  REQUIRE(::stat((base / "home/cache/latents").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0700);
}

TEST_CASE("kept latents are those that were made") {
  const TemporaryDirectory base;
  const fs::path ada = bare_bundle(base, "ada");
  const LatentCache cache(base / "cache");
  FakeModel model;
  Bundle first = Bundle::open(ada);
  first.ensure_latents(model.named(k_checksum), cache);
  Bundle second = Bundle::open(ada);
  second.ensure_latents(model.named(k_checksum), cache);
  for (std::int64_t i = 0; i < k_frames; ++i) CHECK(second.latent(i) == first.latent(i));
}

TEST_CASE("another model, another face box and other pictures have latents of their own") {
  const TemporaryDirectory base;
  const LatentCache cache(base / "cache");
  const fs::path ada = bare_bundle(base, "ada");
  CHECK(use(ada, cache) == k_frames);
  CHECK(use(ada, cache, std::string(64, 'd')) == k_frames);
  CHECK(use(bare_bundle(base, "box", k_box.moved(1, 0)), cache) == k_frames);
  CHECK(use(bare_bundle(base, "same"), cache) == 0);  // the name does not matter
  tests::write_clip(base / "in.mp4", std::vector(k_frames, tests::moving_face(k_frames).back()));
  CHECK(use(bare_bundle(base, "other"), cache) == k_frames);
  CHECK(files_in(base / "cache").size() == 4);
}

TEST_CASE("a kept file that is damaged, cut off or foreign is made again") {
  const TemporaryDirectory base;
  const LatentCache cache(base / "cache");
  const fs::path ada = bare_bundle(base, "ada");
  use(ada, cache);
  const fs::path file = files_in(base / "cache").front();
  const auto again = [&] {
    CHECK(use(ada, cache) == k_frames);
    CHECK(use(ada, cache) == 0);
  };
  damage(file);
  again();
  fs::resize_file(file, fs::file_size(file) / 2);
  again();
  std::ofstream(file) << "something else";
  again();
  const fs::path box = bare_bundle(base, "box", k_box.moved(1, 0));
  use(box, cache);
  for (const fs::path& other : files_in(base / "cache"))
    if (other != file) fs::copy_file(other, file, fs::copy_options::overwrite_existing);
  again();
}

TEST_CASE("a cache that cannot be written to costs nothing but time") {
  const TemporaryDirectory base;
  const fs::path ada = bare_bundle(base, "ada");
  std::ofstream(base / "file") << "no folder";
  CHECK(use(ada, LatentCache(base / "file/latents")) == k_frames);
  CHECK(use(ada, LatentCache("/proc/latents")) == k_frames);
  CHECK(use(ada, LatentCache()) == k_frames);
  // A folder stands where the file should be.
  const LatentCache cache(base / "cache");
  use(ada, cache);
  const fs::path file = files_in(base / "cache").front();
  fs::remove(file);
  fs::create_directory(file);
  CHECK(use(ada, cache) == k_frames);
}

TEST_CASE("what was used longest ago goes when the cache is full") {
  const TemporaryDirectory base;
  const LatentCache cache(base / "cache", 3 * k_file_bytes);  // and the headers: room for two
  const fs::path first = bare_bundle(base, "first");
  const fs::path second = bare_bundle(base, "second", k_box.moved(1, 0));
  use(first, cache);
  const fs::path of_first = files_in(base / "cache").front();
  use(second, cache);
  for (const fs::path& file : files_in(base / "cache"))
    fs::last_write_time(
        file, fs::file_time_type::clock::now() - std::chrono::hours(file == of_first ? 3 : 2));
  CHECK(use(first, cache) == 0);  // now the second is the oldest
  CHECK(use(bare_bundle(base, "third", k_box.moved(2, 0)), cache) == k_frames);
  CHECK(files_in(base / "cache").size() == 2);
  CHECK(use(first, cache) == 0);
  CHECK(use(second, cache) == k_frames);
}

TEST_CASE("what alone is larger than the cache may be is not kept") {
  const TemporaryDirectory base;
  const fs::path ada = bare_bundle(base, "ada");
  const LatentCache cache(base / "cache", k_file_bytes - 1);
  CHECK(use(ada, cache) == k_frames);
  CHECK(use(ada, cache) == k_frames);
  CHECK_FALSE(fs::exists(base / "cache"));
}
