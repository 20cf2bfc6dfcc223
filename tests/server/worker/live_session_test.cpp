// Live media of a worker over real connections.
#include "tests/server/worker/live_worker.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace navtalk::tests;
using namespace std::chrono_literals;

TEST_CASE("a session tells its video and sound, and shows the avatar before anybody speaks") {
  LiveWorker worker;
  User user(worker, R"({"type":"session.start","audio":{"rate":48000}})");
  CHECK(user.ready.at("type") == "session.ready");
  CHECK(user.ready.at("video").at("codec") == "avc1.42C01F");
  CHECK(user.ready.at("video").at("width") == 320);
  CHECK(user.ready.at("video").at("fps") == 25);
  CHECK(user.ready.at("audio") == nlohmann::json({{"codec", "pcm"}, {"rate", 48000}}));
  REQUIRE(user.until_picture([](const Media&) { return true; }));
  // The first slot's, unless the machine left no room for it in time.
  CHECK(user.media->header.time < std::chrono::seconds(2));
  CHECK(user.media->content == std::to_string(user.media->header.time.count()));
  CHECK((user.media->header.flags & media_flag::key) != 0);
  REQUIRE(user.until_picture([](const Media& media) { return media.header.sequence == 10; }));
  CHECK((user.media->header.flags & media_flag::key) == 0);
  CHECK(user.sound.empty());
}

TEST_CASE("an action that the avatar has is played and told, and any other is refused") {
  LiveWorker worker;
  User user(worker);
  CHECK(user.ready.at("actions") == nlohmann::json({"wave"}));
  REQUIRE(user.until_picture([](const Media& media) { return media.header.sequence == 3; }));
  // Four slots, which a machine makes longer that stands still meanwhile.
  std::int64_t took = 1'000'000;
  for (int tries = 0; tries < 20 && took >= 8 * 40'000; ++tries) {
    user.send(R"({"type":"action","name":"wave"})");
    REQUIRE(user.until_event("action.started"));
    CHECK(user.event.at("name") == "wave");
    const std::int64_t began = user.event.at("pts_us");
    REQUIRE(user.until_event("action.ended"));
    CHECK(user.event.at("name") == "wave");
    took = user.event.at("pts_us").get<std::int64_t>() - began;
    CHECK(took >= 4 * 40'000);
  }
  CHECK(took < 8 * 40'000);
  for (const char* frame : {R"({"type":"action","name":"jump"})", R"({"type":"action"})",
                            R"({"type":"action","name":7})"}) {
    user.send(frame);
    REQUIRE(user.until_event("error"));
    const bool named = std::string(frame).find("jump") != std::string::npos;
    CHECK(user.event.at("code") == (named ? "not_found" : "usage"));
    CHECK_THAT(user.event.at("message").get<std::string>(),
               Catch::Contains(named ? "no action jump" : "action needs a \"name\""));
  }
}

TEST_CASE("speech comes back as it was, with moving lips, between its events") {
  LiveWorker worker;
  User user(worker);
  const std::vector<std::int16_t> speech = voice(8000 + 100);
  std::string said;
  // A busy machine leaves out pictures that are late, perhaps all of an utterance.
  int tries = 0;
  for (bool moved = false; !moved;) {
    REQUIRE(++tries < 20);
    user.speak(speech);
    user.send(R"({"type":"input.end"})");
    said += bytes_of(speech);
    REQUIRE(user.until_event("speech.started"));
    REQUIRE(user.until([&] {
      if (user.media && user.media->content.ends_with("lips")) {
        moved = true;
        CHECK((user.media->header.flags & media_flag::speaks) != 0);
      }
      return user.event.is_object() && user.event.at("type") == "speech.ended";
    }));
  }
  CHECK(user.event.at("pts_us") >= 480'000);
  CHECK(user.sound == said);
  REQUIRE(user.until_picture([](const Media& media) { return !media.content.ends_with("lips"); }));
}

TEST_CASE("no sound is lost when the worker stands still for two seconds") {
  const bool opus = GENERATE(false, true);
  LiveWorker worker;
  User user(worker, opus ? R"({"type":"session.start","audio":{"rate":16000,"output":"opus"}})"
                         : R"({"type":"session.start"})");
  const std::vector<std::int16_t> speech = voice(4 * 16000);
  user.speak(speech);
  user.send(R"({"type":"input.end"})");
  REQUIRE(user.until_event("speech.started"));
  worker.nets.stands_still = 2s;
  REQUIRE(user.until_event("speech.ended"));
  const std::string all = bytes_of(speech) + (opus ? "end" : "");
  REQUIRE(user.until([&] { return user.sound.size() >= all.size(); }));
  CHECK(user.sound == all);
}

TEST_CASE("an interruption is answered, and nothing of what waited is played any more") {
  LiveWorker worker;
  User user(worker);
  const std::vector<std::int16_t> speech = voice(30 * 16000);
  user.speak(speech);
  REQUIRE(user.until_event("speech.started"));
  user.send(R"({"type":"interrupt"})");
  REQUIRE(user.until_event("interrupted"));
  const std::string before = user.sound;
  CHECK(before.size() < bytes_of(speech).size() / 2);
  REQUIRE(user.until_picture([](const Media& media) { return !media.content.ends_with("lips"); }));
  CHECK(user.sound == before);
  user.speak(voice(640));
  user.send(R"({"type":"input.end"})");
  REQUIRE(user.until([&] { return user.sound.size() > before.size(); }));
  CHECK((user.media->header.flags & media_flag::discontinuity) != 0);
  CHECK(user.sound == before + bytes_of(voice(640)));
}

TEST_CASE("a text is spoken after what was sent before it, and before what is sent after it") {
  LiveWorker worker;
  User user(worker);
  const std::vector<std::int16_t> before = voice(1000), after = voice(2000);
  user.speak(before);
  user.send(R"({"type":"input.text","text":"hello"})");
  user.speak(after);
  user.send(R"({"type":"input.end"})");
  const std::string spoken = bytes_of(std::vector<std::int16_t>(500, std::int16_t{1234}));
  const std::string all = bytes_of(before) + spoken + bytes_of(after);
  REQUIRE(user.until([&] { return user.sound.size() >= all.size(); }));
  CHECK(user.sound == all);
}

TEST_CASE("an interruption ends the speaking of a text, also of one that takes for ever") {
  LiveWorker worker;
  User user(worker), other(worker, R"({"type":"session.start"})", "b");
  const std::string endless = R"({"type":"input.text","text":"hm","voice":"endless"})";
  for (User* const one : {&user, &other}) {
    one->send(endless);
    one->send(R"({"type":"interrupt"})");
    one->send(R"({"type":"input.text","text":"hello"})");
    REQUIRE(one->until([&] { return one->sound.size() == 1000; }));
  }
  user.send(endless);  // its session ends all the same
}

TEST_CASE("a text that cannot be spoken is told without paths, and the session goes on") {
  LiveWorker worker;
  User user(worker);
  const auto [frame, code] = GENERATE(table<std::string, std::string>(
      {{R"({"type":"input.text","text":"hi","voice":"nobody"})", "not_found"},
       {R"({"type":"input.text","text":"hi","voice":"broken"})", "not_spoken"},
       {R"({"type":"input.text","text":"hi","voice":"../x"})", "usage"},
       {R"({"type":"input.text","text":"hi","voice":7})", "usage"},
       {R"({"type":"input.text"})", "usage"}}));
  user.send(frame);
  REQUIRE(user.until_event("error"));
  CHECK(user.event.at("code") == code);
  CHECK(user.event.at("message").get<std::string>().find("/usr") == std::string::npos);
  user.speak(voice(640));
  user.send(R"({"type":"input.end"})");
  REQUIRE(user.until([&] { return user.sound == bytes_of(voice(640)); }));
}

TEST_CASE("sound comes back as Opus where the client asks for it, sound by sound") {
  LiveWorker worker;
  User user(worker, R"({"type":"session.start","audio":{"rate":16000,"output":"opus"}})");
  CHECK(user.ready.at("audio") == nlohmann::json({{"codec", "opus"}, {"rate", 48000}}));
  const std::vector<std::int16_t> first = voice(3000), second = voice(2000);
  for (const std::vector<std::int16_t>& sound : {first, second}) {
    user.sound.clear();
    user.speak(sound);
    user.send(R"({"type":"input.end"})");
    REQUIRE(user.until([&] { return user.media && user.media->header.kind == MediaKind::opus; }));
    CHECK((user.media->header.flags & media_flag::discontinuity) != 0);
    REQUIRE(user.until([&] { return user.sound.ends_with("end"); }));
    CHECK(user.sound == bytes_of(sound) + "end");
  }
}

TEST_CASE("a key frame is sent when the client asks for one") {
  LiveWorker worker;
  User user(worker);
  REQUIRE(user.until_picture([](const Media& media) { return media.header.sequence == 3; }));
  user.send(R"({"type":"keyframe"})");
  REQUIRE(user.until_picture(
      [](const Media& media) { return (media.header.flags & media_flag::key) != 0; }));
}

TEST_CASE("sound that cannot be taken is told, and the session goes on") {
  LiveWorker worker;
  User user(worker);
  user.send_binary("odd");
  REQUIRE(user.until_event("error"));
  CHECK(user.event.at("code") == "usage");
  const std::vector<std::int16_t> quarter_minute(15 * 16000);
  for (int quarters = 0; quarters < 9; ++quarters) user.speak(quarter_minute);
  REQUIRE(user.until_event("error"));
  CHECK(user.event.at("code") == "overflow");
  REQUIRE(user.until_picture([](const Media&) { return true; }));
}

TEST_CASE("a client that sends much that cannot be taken is told of some of it") {
  LiveWorker worker;
  User user(worker);
  constexpr int k_odd = 200;
  for (int i = 0; i < k_odd; ++i) user.send_binary("odd");
  user.send(R"({"type":"nonsense"})");  // is answered behind them
  int told = 0;
  REQUIRE(user.until([&] {
    if (user.event.is_object() && user.event.at("type") == "error") ++told;
    return user.event.is_object() && user.event.dump().find("nonsense") != std::string::npos;
  }));
  CHECK(told > 10);
  CHECK(told < k_odd / 2);
}

TEST_CASE("a start that cannot be served is refused in the client's words") {
  LiveWorker worker;
  const auto [start, code] = GENERATE(table<std::string, std::string>(
      {{R"({"type":"session.start","audio":{"rate":1}})", "usage"},
       {R"({"type":"session.start","video":{"width":1002}})", "invalid"}}));
  User user(worker, start);
  CHECK(user.ready.at("type") == "error");
  CHECK(user.ready.at("code") == code);
  CHECK_FALSE(user.until_event("never"));
  CHECK(user.close_code() == 1008);
}

namespace {

// Its client is told that another worker may do better.
void check_given_away(User& user) {
  REQUIRE(user.until_event("error"));
  CHECK(user.event.at("code") == "failed");
  CHECK_FALSE(user.until_event("never"));
  CHECK(user.close_code() == 1011);
}

}  // namespace

TEST_CASE("a device that fails ends the session with an error, and frees its slot") {
  LiveWorker worker;
  User user(worker);
  worker.nets.breaks = true;
  user.speak(voice(16000));
  check_given_away(user);
  CHECK(eventually([&] { return ask("GET", worker.url() + "/healthz").body.at("sessions") == 0; }));
}

TEST_CASE(
    "a device without memory for one picture gives all sessions away and loads its nets again") {
  LiveWorker worker;
  {
    User user(worker), other(worker, R"({"type":"session.start"})", "b");
    worker.nets.without_memory = true;
    user.speak(voice(160000));
    for (User* const one : {&user, &other}) check_given_away(*one);
  }
  CHECK(eventually([&] { return worker.nets.loads == 2; }));
  CHECK(
      eventually([&] { return ask("GET", worker.url() + "/healthz").body.at("state") == "idle"; }));
  const std::string metrics = ask("GET", worker.url() + "/metrics").text;
  CHECK_THAT(metrics, !Catch::Contains("navtalk_worker_out_of_memory_total 0"));
  User next(worker);
  next.speak(voice(16000));
  CHECK(next.until_event("speech.ended"));
}

TEST_CASE("a worker whose device is lost gives all sessions away, and ends") {
  LiveWorker worker;
  User user(worker), other(worker, R"({"type":"session.start"})", "b");
  worker.nets.device_lost = true;
  user.speak(voice(160000));
  for (User* const one : {&user, &other}) check_given_away(*one);
  CHECK_THROWS_AS(worker.ends(), DeviceLost);
}

TEST_CASE("a worker whose device is lost when a session's encoder opens gives all away, and ends") {
  LiveWorker worker;
  User other(worker, R"({"type":"session.start"})", "b");
  worker.nets.lost_when_opened = true;
  User user(worker);
  CHECK(user.ready.at("code") == "failed");
  check_given_away(other);
  CHECK_THROWS_AS(worker.ends(), DeviceLost);
}

TEST_CASE("a worker whose device is lost when its nets are to be loaded again ends") {
  LiveWorker worker;
  User user(worker);
  worker.nets.without_memory = worker.nets.lost_when_unloaded = true;
  user.speak(voice(160000));
  check_given_away(user);
  CHECK_THROWS_AS(worker.ends(), DeviceLost);
}

TEST_CASE("a client that vanishes while it is spoken to leaves nothing behind") {
  LiveWorker worker;
  {
    SocketClient client(worker.url(), "/v1/session?lease=a&epoch=1");
    client.send(R"({"type":"session.start"})");
    client.receive();
    client.send_binary(bytes_of(voice(16000)));
    client.receive();
    client.vanish();
  }
  CHECK(eventually([&] { return ask("GET", worker.url() + "/healthz").body.at("sessions") == 0; }));
}

TEST_CASE("an avatar that is still loading holds up the pictures of nobody") {
  LiveWorker worker;
  SocketClient other(worker.url(), "/v1/session?lease=b&epoch=1");
  other.send(R"({"type":"session.start","avatar":"theo"})");
  User user(worker);
  user.speak(voice(10 * 16000));
  const auto lips = [](const Media& media) { return media.content.ends_with("lips"); };
  for (int pictures = 0; pictures < 5; ++pictures) REQUIRE(user.until_picture(lips));
  worker.loaded.release();
  CHECK(other.receive_json().at("type") == "session.ready");
}

TEST_CASE(
    "a picture that takes long to code holds up no other session, even where all cores have one") {
  const int others = static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, 64U));
  LiveWorker worker(1, others + 1);
  worker.nets.held_width = 64;
  User user(worker);
  std::vector<std::unique_ptr<User>> held;
  for (int i = 0; i < others; ++i) {
    held.push_back(std::make_unique<User>(
        worker, R"({"type":"session.start","video":{"width":64}})", "held" + std::to_string(i)));
  }
  REQUIRE(eventually([&] { return worker.nets.held == others; }));
  user.send(R"({"type":"action","name":"wave"})");
  REQUIRE(user.until_event("action.ended"));
  for (int pictures = 0; pictures < 20; ++pictures)
    REQUIRE(user.until_picture([](const Media&) { return true; }));
  worker.let_go();
}

TEST_CASE("a picture that takes long to code holds up no sound of its session") {
  LiveWorker worker(1, 1);
  worker.nets.held_width = 64;
  User user(worker, R"({"type":"session.start","video":{"width":64},"audio":{"output":"opus"}})");
  REQUIRE(eventually([&] { return worker.nets.held == 1; }));
  user.speak(voice(3000));
  user.send(R"({"type":"input.end"})");
  CHECK(user.until([&] { return user.sound.ends_with("end"); }));
  worker.let_go();
}

TEST_CASE("nets that are too slow lower the rate of the pictures, and the sound stays whole") {
  LiveWorker worker;
  User user(worker);
  worker.nets.takes = 150ms;
  const std::vector<std::int16_t> speech = voice(6 * 16000);
  user.speak(speech);
  user.send(R"({"type":"input.end"})");
  REQUIRE(user.until_event("quality"));
  CHECK(user.event.at("fps") == 20);
  CHECK(user.event.at("reason") == "overload");
  REQUIRE(user.until_event("quality"));
  CHECK(user.event.at("fps") == 15);
  REQUIRE(user.until([&] { return user.sound.size() == bytes_of(speech).size(); }));
  CHECK(user.sound == bytes_of(speech));
}

TEST_CASE("sessions share the nets, and each gets its own pictures") {
  LiveWorker worker;
  User first(worker), second(worker, R"({"type":"session.start"})", "b");
  const auto lips = [](const Media& media) { return media.content.ends_with("lips"); };
  // A minute: a machine that is late leaves out pictures of what it cannot draw in time.
  for (User* user : {&first, &second}) {
    for (int i = 0; i < 6; ++i) user->speak(voice(10 * 16000));
  }
  for (User* user : {&first, &second}) {
    REQUIRE(user->until_picture(lips));
    CHECK(user->media->content == std::to_string(user->media->header.time.count()) + " lips");
  }
  const std::string metrics = ask("GET", worker.url() + "/metrics").text;
  int live = 0;  // at whatever rate this machine keeps up with
  for (const char* const fps : {"25", "20", "15"}) {
    const std::string name = std::string("\nnavtalk_worker_live_sessions{fps=\"") + fps + "\"} ";
    const std::size_t at = metrics.find(name);
    REQUIRE(at != metrics.npos);
    live += std::stoi(metrics.substr(at + name.size()));
  }
  CHECK(live == 2);
  CHECK_THAT(metrics, Catch::Contains("navtalk_worker_stage_seconds_total{stage=\"inference\"}"));
}

TEST_CASE("a session that began elsewhere goes on with its numbers and its clock") {
  LiveWorker worker;
  User user(worker,
            R"({"type":"session.start","position":{"clock_us":60000001,"sounds":7,"pictures":9}})");
  CHECK(user.ready.at("type") == "session.ready");
  user.expect_next(7, 9);
  REQUIRE(user.until_picture([](const Media&) { return true; }));
  CHECK(user.media->header.sequence == 9);
  CHECK((user.media->header.flags & media_flag::key) != 0);
  CHECK((user.media->header.flags & media_flag::discontinuity) != 0);
  CHECK(user.media->header.time > 60s);
  user.speak(voice(640));
  user.send(R"({"type":"input.end"})");
  REQUIRE(user.until([&] { return user.media && user.media->header.kind == MediaKind::pcm; }));
  CHECK(user.media->header.sequence == 7);
  CHECK((user.media->header.flags & media_flag::discontinuity) != 0);
  CHECK(user.media->header.time > 60s);
}

TEST_CASE(
    "a session whose client is away makes no pictures, and plays what waits when it is back") {
  LiveWorker worker;
  User user(worker);
  const std::vector<std::int16_t> speech = voice(16000);
  REQUIRE(user.until_picture([](const Media&) { return true; }));
  user.send(R"({"type":"output.pause"})");
  user.speak(speech);
  user.send(R"({"type":"input.end"})");
  user.send(R"({"type":"nonsense"})");  // its answer says that all this has come
  REQUIRE(user.until_event("error"));
  CHECK(user.sound.empty());
  user.send(R"({"type":"output.resume"})");
  REQUIRE(user.until([&] { return user.media && user.media->header.kind == MediaKind::pcm; }));
  CHECK((user.media->header.flags & media_flag::discontinuity) != 0);
  REQUIRE(user.until_picture(
      [](const Media& media) { return (media.header.flags & media_flag::key) != 0; }));
  REQUIRE(user.until([&] { return user.sound == bytes_of(speech); }));
}

TEST_CASE("pictures that lanes finish in another order are sent in theirs") {
  LiveWorker worker(2);
  worker.nets.overtaken = true;
  User user(worker);
  user.speak(voice(16'000));
  int lips = 0;
  CHECK(user.until_picture([&](const Media& picture) {  // the user checks the order
    return picture.content.ends_with(" lips") && ++lips == 10;
  }));
}
