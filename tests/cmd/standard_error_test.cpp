// A standard error that cannot be written: its reader is gone, or its disk is full.
#include <catch2/catch.hpp>
#include <filesystem>

#include "tests/cmd/shell.h"
#include "tests/temporary_directory.h"

using navtalk::tests::contains;
using navtalk::tests::Ran;
using navtalk::tests::shell;
using navtalk::tests::TemporaryDirectory;

namespace {

// Descriptor 3 is a pipe that nobody reads any more.
const std::string k_broken_pipe = "exec 3> >(:); wait $!; ";
// An avatar whose latents are made when it is first used, with progress.
const std::string k_bare =
    "export CACHE_DIRECTORY=$PWD/cache NAVTALK_AVATARS_PATH=$PWD/avatars; mkdir avatars; "
    "ffmpeg -loglevel error -f lavfi -i testsrc2=s=96x96 -frames:v 1 p.png && navtalk avatar "
    "prepare --image p.png --face-box 20,20,50,50 --no-latents --output avatars/bare >/dev/null "
    "&& ";
const std::string k_order =
    R"(printf '{"audio":"","avatar":"bare","options":{"fps":"5","size":"64"},"output":"%s",)"
    R"("segment_folder":"","segment_records":[],"text":"Hello.","voice":"","waits":false}\n' )"
    // LeakSanitizer needs system calls that a renderer may not make.
    R"("$PWD/a.mp4" | ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0" navtalk --progress json job render --device cpu )";

}  // namespace

TEST_CASE("a failure has its exit status, and its object, where standard error cannot be written") {
  for (const std::string other : {"2>/dev/full", "2>&3"}) {
    const Ran ran = shell(k_broken_pipe + "navtalk --json avatar show ./none " + other);
    CHECK(ran.status == 4);
    CHECK(contains(ran.out, R"("code":"not_found")"));
  }
}

TEST_CASE("progress and log lines that cannot be written do not end the work") {
  const TemporaryDirectory top;
  const std::string infer = "navtalk --progress json infer --avatar bare --text Hello. --fps 5 ";
  const Ran ran =
      shell(k_broken_pipe + k_bare + infer + "-o a.mp4 2>&3 && " + infer + "-o b.mp4 2>/dev/full",
            top.path());
  CHECK(ran.status == 0);
  CHECK(std::filesystem::exists(top / "a.mp4"));
  CHECK(std::filesystem::exists(top / "b.mp4"));
}

TEST_CASE("a renderer does its job although nobody reads its standard error any more") {
  const TemporaryDirectory top;
  const Ran ran = shell(k_broken_pipe + k_bare + k_order + "2>&3", top.path());
  CHECK(ran.status == 0);
  CHECK(contains(ran.out, R"({"event":"done")"));
}

TEST_CASE("a renderer shows no progress on standard error, which its worker hears of in events") {
  const TemporaryDirectory top;
  const Ran ran = shell(k_bare + k_order, top.path());
  CHECK(contains(ran.out, R"({"event":"done")"));
  CHECK_FALSE(contains(ran.err, R"("stage":)"));
}
