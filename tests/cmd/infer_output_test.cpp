// What `navtalk infer` writes: rates, parts, quality, its bar.
#include <catch2/catch.hpp>

#include "tests/cmd/fast_avatar.h"
#include "tests/cmd/shell.h"
#include "tests/temporary_directory.h"

using navtalk::tests::contains;
using navtalk::tests::k_make_fast;
using navtalk::tests::k_say_fast;
using navtalk::tests::Ran;
using navtalk::tests::shell;
using navtalk::tests::TemporaryDirectory;

TEST_CASE(
    "a video has the avatar's rate unless another is asked for, and its head moves by the clock") {
  const TemporaryDirectory top;
  REQUIRE(shell(k_make_fast, top.path()).status == 0);
  const Ran own = shell(k_say_fast + "--frames own --json", top.path());
  CAPTURE(own.err);
  CHECK(contains(own.out, "\"frames\":60,\"fps\":60"));
  const Ran slow = shell(k_say_fast + "--frames slow --fps 30000/1001 --json", top.path());
  CHECK(contains(slow.out, "\"frames\":29,\"fps\":\"30000/1001\""));
  const auto same = [&](const std::string& one, const std::string& other) {
    return shell("cmp " + one + " " + other, top.path()).status == 0;
  };
  CHECK(same("own/00000040.png", "slow/00000020.png"));
  CHECK(same("own/00000056.png", "slow/00000028.png"));
  CHECK_FALSE(same("own/00000020.png", "slow/00000020.png"));
}

TEST_CASE("a part of the speech is rendered, with the sound of that part") {
  const TemporaryDirectory top;
  const Ran ran =
      shell(k_make_fast + k_say_fast + "--fps 10 --start 0.25 --duration 0.5 -o a.mp4 --json",
            top.path());
  CAPTURE(ran.err);
  CHECK(contains(ran.out, "\"frames\":5,"));
  CHECK(contains(shell(k_say_fast + "--start 2 -o b.mp4", top.path()).err, "a.wav lasts 1.00 s"));
}

TEST_CASE("a lower quality or bit rate makes a smaller file") {
  const TemporaryDirectory top;
  const Ran ran = shell(
      "{ " + k_make_fast + "\n} > /dev/null\nfor how in '--crf 5' '--crf 45' '--bitrate 30'; do " +
          k_say_fast + "$how -o a.mp4 --force > /dev/null; stat -c %s a.mp4; done\n" + k_say_fast +
          "--crf 5 --bitrate 30 -o b.mp4; echo $?",
      top.path());
  CAPTURE(ran.out, ran.err);
  const auto number = [&, at = std::size_t{0}]() mutable {
    const std::size_t end = ran.out.find('\n', at);
    const int value = std::stoi(ran.out.substr(at, end - at));
    at = end + 1;
    return value;
  };
  auto next = number;
  const int fine = next(), coarse = next(), slow = next();
  CHECK(coarse < fine);
  CHECK(slow < fine);
  CHECK(next() == 2);
}

TEST_CASE("the bar is gone when a video's line is written to the terminal") {
  const TemporaryDirectory top;
  const Ran ran = shell("{ " + k_make_fast +
                            "\n} > /dev/null\nscript -qec 'navtalk infer --avatar ./fast --audio "
                            "a.wav --fps 4 -o a.mp4' /dev/null",
                        top.path());
  CAPTURE(ran.out);
  CHECK(contains(ran.out, "100%  4/4\x1b[K\r\x1b[Ka.mp4: 4 frames, "));
}
