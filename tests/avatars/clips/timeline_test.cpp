#include "avatars/live/clip_timeline.h"

#include <catch2/catch.hpp>
#include <set>

using namespace navtalk;
using namespace std::chrono_literals;
using std::chrono::microseconds;

namespace {

// Frames 0 to 99 speak, 100 to 149 idle, 150 to 179 listen, 180 to 203 wave, 204 nods.
AvatarInfo ada_with_clips() {
  return {.id = "ada",
          .fps = 25,
          .frames = 205,
          .loop = true,
          .clips = {{.name = "speaking", .first = 0, .frames = 100, .loop = true},
                    {.name = "idle", .first = 100, .frames = 50, .loop = true},
                    {.name = "listening", .first = 150, .frames = 30},
                    {.name = "wave", .first = 180, .frames = 24},
                    {.name = "nod", .first = 204, .frames = 1}}};
}

// Every change is alike, but for those given.
struct Match {
  std::int64_t from = 0;
  std::size_t into = 0;
  std::int64_t entry = 0;
};
Transitions transitions_of(const AvatarInfo& avatar, const std::vector<Match>& matches) {
  std::vector<Transition> rows;
  for (std::int64_t frame = 0; frame < avatar.frames; ++frame)
    for (const AvatarClip& clip : avatar.clips)
      rows.push_back({.entry = clip.first, .difference = 20});
  for (const Match& match : matches)
    rows[static_cast<std::size_t>(match.from) * avatar.clips.size() + match.into] = {
        .entry = match.entry, .difference = 2};
  return {avatar.clips.size(), std::move(rows)};
}

class Session {
 public:
  explicit Session(const std::vector<Match>& matches, const AvatarInfo& avatar = ada_with_clips())
      : transitions_(transitions_of(avatar, matches)), timeline(avatar, &transitions_) {}

 private:
  const Transitions transitions_;

 public:
  ClipTimeline timeline;
  ClipFrame next(bool speaks = false) { return timeline.at(tick_++ * 40ms, speaks); }
  void skip(std::int64_t pictures) { tick_ += pictures; }
  // Pictures until one is of a frame in [first, end), at most 1000; the state goes on.
  int until(bool speaks, std::int64_t first, std::int64_t end) {
    int pictures = 0;
    for (std::int64_t index = -1; pictures < 1000 && (index < first || index >= end); ++pictures)
      index = next(speaks).index;
    return pictures - 1;
  }

 private:
  std::int64_t tick_ = 0;
};

}  // namespace

TEST_CASE("an avatar of one clip shows what it always showed") {
  const bool loop = GENERATE(false, true);
  const AvatarInfo info{.id = "ada", .fps = 30, .frames = 7, .loop = loop};
  ClipTimeline timeline(info, nullptr);
  for (std::int64_t t = 0; t < 40; ++t) {
    const microseconds time = t * 40ms;
    const std::int64_t k = info.fps.frame_at(time) % (loop ? 7 : 14);
    CHECK(timeline.at(time, t % 9 > 4) == ClipFrame{.index = k < 7 ? k : 13 - k});
  }
  CHECK_FALSE(timeline.play("wave"));
  CHECK(timeline.play("listening"));
}

TEST_CASE("silence shows the idle clip, and speech passes over at the frame that matches") {
  Session session({{.from = 112, .into = 0, .entry = 60}});
  for (std::int64_t t = 0; t < 5; ++t) CHECK(session.next() == ClipFrame{.index = 100 + t});
  for (std::int64_t t = 5; t < 12; ++t) CHECK(session.next(true) == ClipFrame{.index = 100 + t});
  // Five pictures have both clips, which both go on.
  float weight = 0;
  for (std::int64_t t = 0; t < 5; ++t) {
    const ClipFrame frame = session.next(true);
    CHECK(frame.index == 60 + t);
    CHECK(frame.before == 112 + t);
    CHECK(frame.weight > weight);
    CHECK(frame.weight - weight == Approx(1.0 / 6).margin(0.001));
    weight = frame.weight;
  }
  CHECK(session.next(true) == ClipFrame{.index = 65});
}

TEST_CASE("without a matching frame speech has its clip within a second") {
  Session session({});
  session.next();
  CHECK(session.until(true, 0, 100) == 0);  // as good as any
  Session late({{.from = 149, .into = 0, .entry = 60}});
  CHECK(late.until(true, 0, 100) <= 25);
}

TEST_CASE("a pause between sentences stays in the clip for speech, a longer one does not") {
  Session session({});
  for (int t = 0; t < 10; ++t) session.next(true);
  for (int t = 0; t < 19; ++t) CHECK(session.next().index < 100);
  for (int t = 0; t < 10; ++t) CHECK(session.next(true).index < 100);
  CHECK(session.until(false, 100, 150) == 19);
}

TEST_CASE("listening is shown in silence while it is asked for") {
  Session session({});
  session.next();
  CHECK(session.timeline.play("listening"));
  for (int t = 0; t < 10; ++t) session.next();
  CHECK(session.next().index >= 150);
  for (int t = 0; t < 10; ++t) session.next(true);
  CHECK(session.next(true).index < 100);
  for (int t = 0; t < 40; ++t) session.next();
  CHECK(session.next().index >= 150);
  CHECK(session.timeline.play("idle"));
  for (int t = 0; t < 10; ++t) session.next();
  const std::int64_t index = session.next().index;
  CHECK(index >= 100);
  CHECK(index < 150);
  CHECK_FALSE(session.timeline.action());
}

TEST_CASE("an action is played once, to its last part, whatever is spoken meanwhile") {
  const bool speaks = GENERATE(false, true);
  Session session({{.from = 200, .into = 0, .entry = 7}, {.from = 200, .into = 1, .entry = 107}});
  session.next();
  REQUIRE(session.timeline.play("wave"));
  std::set<std::int64_t> seen;
  std::int64_t last = 0;
  ClipFrame frame = session.next();
  CHECK(session.timeline.action() == "wave");
  while (session.timeline.action() && seen.size() < 100) {
    CHECK(seen.insert(frame.index).second);
    last = frame.index;
    session.timeline.play("wave");  // it goes on
    frame = session.next(speaks && seen.size() > 6);
  }
  CHECK(*seen.begin() == 180);
  CHECK(last == 199);
  CHECK(seen.size() == 20);
  CHECK(frame.index == (speaks ? 7 : 107));
  CHECK(frame.before == 200);
  for (int t = 0; t < 100; ++t) session.next();
  CHECK_FALSE(session.timeline.action());
}

TEST_CASE("an action that was asked for during another one follows it") {
  Session session({});
  session.next();
  CHECK(session.timeline.play("wave"));
  session.next();
  CHECK(session.timeline.play("nod"));
  std::vector<std::string> played;
  int waving = 0;
  for (int t = 0; t < 60; ++t) {
    session.next();
    const auto action = session.timeline.action();
    if (action == "wave") ++waving;
    if (action && (played.empty() || played.back() != *action)) played.push_back(*action);
  }
  CHECK(played == std::vector<std::string>{"wave", "nod"});
  CHECK(waving >= 24 * 3 / 4 - 2);  // to its last quarter, but for the two pictures before
  CHECK_FALSE(session.timeline.action());
  CHECK_FALSE(session.timeline.play("jump"));
  CHECK_FALSE(session.timeline.play("speaking"));
}

TEST_CASE("pictures that are left out shift no clip, and after a long break a clip begins now") {
  Session session({{.from = 112, .into = 0, .entry = 60}});
  for (int t = 0; t < 10; ++t) session.next(true);
  session.skip(4);  // to the second picture after the change
  CHECK(session.next(true).index == 62);
  Session away({{.from = 120, .into = 3, .entry = 181}});
  away.next();
  CHECK(away.timeline.play("wave"));
  CHECK(away.next().index == 101);
  away.skip(1000);
  CHECK(away.next().index == 181);
}

TEST_CASE("clips never change in the midst of a change") {
  Session session({});
  std::vector<ClipFrame> frames;
  for (int t = 0; t < 2000; ++t) {
    if (t % 37 == 0) session.timeline.play(t % 2 == 0 ? "wave" : "nod");
    if (t % 53 == 0) session.timeline.play(t % 3 == 0 ? "idle" : "listening");
    frames.push_back(session.next(t / 30 % 2 == 0));
  }
  const auto clips = ada_with_clips().clips;
  const auto clip_of = [&](std::int64_t index) {
    std::size_t clip = 0;
    while (index >= clips[clip].first + clips[clip].frames) ++clip;
    return clip;
  };
  int changes = 0;
  for (std::size_t t = 1; t < frames.size(); ++t) {
    CAPTURE(t);
    const std::size_t clip = clip_of(frames[t].index), last = clip_of(frames[t - 1].index);
    if (clip == last) continue;
    ++changes;
    CHECK(frames[t - 1].before == -1);
    REQUIRE(frames[t].before >= 0);
    CHECK(clip_of(frames[t].before) == last);
  }
  CHECK(changes > 50);
}
