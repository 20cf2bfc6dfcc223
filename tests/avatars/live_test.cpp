// Pictures of live sessions, with the model and an avatar of the demo.
#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <future>
#include <map>

#include "avatars/bundle/bundle_files.h"
#include "avatars/live/live_nets.h"
#include "avatars/live/live_pictures.h"
#include "core/files/data_directory.h"
#include "gpu/engine/inference_engine.h"
#include "gpu/image/color.h"
#include "gpu/image/compose.h"
#include "tests/synthetic_voice.h"
#include "tests/temporary_directory.h"

using namespace navtalk;
using namespace std::chrono_literals;
using tests::synthetic_voice;

namespace {

constexpr int k_rate_hz = 16000;
constexpr std::size_t k_picture = 640;  // samples

std::filesystem::path demo() { return data_directory() / "demo"; }

Model demo_model(int threads = 0) {
  return Model::load({.models = demo() / "models",
                      .device = {},
                      .precision = {},
                      .threads = threads,
                      .vae_encoder = false});
}

std::shared_ptr<const Bundle> ada() {
  auto bundle = std::make_shared<Bundle>(Bundle::open(demo() / "avatars/ada"));
  bundle->ensure_latents(latents_of_model(demo() / "models"), LatentCache::of_user());
  return bundle;
}

Clip clip_of(const Bundle& avatar) {
  return {demo() / "avatars/ada" / k_frames_file, avatar.info().width, avatar.info().height};
}

std::shared_ptr<LivePictures> pictures_of(const std::shared_ptr<const Bundle>& avatar) {
  return std::make_shared<LivePictures>(avatar, std::make_shared<SharedClip>(clip_of(*avatar)), 256,
                                        1000);
}

// What picture `number` hears of `sound`, so many samples of which are known.
SoundWindow heard(const std::vector<std::int16_t>& sound, std::size_t number, std::size_t known) {
  known = std::min(known, sound.size());
  return {.samples = {sound.begin(), sound.begin() + static_cast<std::ptrdiff_t>(known)},
          .first = number * k_picture,
          .rate_hz = k_rate_hz};
}

PictureRequest request(const std::shared_ptr<LivePictures>& pictures, std::uint64_t session,
                       std::size_t number, SoundWindow sound) {
  return {.session = session,
          .avatar = pictures,
          .time = number * 40ms,
          .frame = {.index = static_cast<std::int64_t>(number)},
          .sound = std::move(sound)};
}

int largest_difference(const I420Picture& a, const I420Picture& b) {
  REQUIRE(a.bytes.size() == b.bytes.size());
  int largest = 0;
  for (std::size_t i = 0; i < a.bytes.size(); ++i) {
    largest = std::max(largest, std::abs(int{a.bytes[i]} - int{b.bytes[i]}));
  }
  return largest;
}

}  // namespace

TEST_CASE("a face in a batch is the same as alone, to within one level") {
  Model model = demo_model();
  LiveNets nets([&]() -> Model& { return model; });
  const auto avatar = ada();
  const auto sound = synthetic_voice(20 * k_picture);
  std::vector<PictureRequest> batch;
  for (std::uint64_t session = 0; session < 3; ++session) {
    const std::size_t number = 8 + 2 * session;
    batch.push_back(request(pictures_of(avatar), session, number,
                            heard(sound, number, (number + 3) * k_picture)));
  }
  const auto together = nets.make(batch, [] {}).pictures;
  REQUIRE(together.size() == 3);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    PictureRequest alone = batch[i];
    alone.avatar = pictures_of(avatar);  // which has heard nothing yet
    const I420Picture first = on_host(nets.make({&alone, 1}, [] {}).pictures.at(0)());
    CHECK(largest_difference(on_host(together[i]()), first) <= 1);
    alone.avatar = pictures_of(avatar);
    CHECK(on_host(nets.make({&alone, 1}, [] {}).pictures.at(0)()) == first);
    const I420Picture still = pictures_of(avatar)->still(batch[i].frame);
    CHECK(largest_difference(first, still) > 10);  // the mouth
  }
}

TEST_CASE("a job's face has the same bytes alone, in its own process and among live pictures") {
  Model model = demo_model();
  if (!model.info().execution.same_in_batches) {
    WARN("skipped: jobs have their own nets where these do not draw the same bytes in batches");
    return;
  }
  LiveNets nets([&]() -> Model& { return model; });
  const auto avatar = ada();
  const auto sound = synthetic_voice(20 * k_picture);
  constexpr std::int64_t k_faces = 5;
  NdArray<float> latents({k_faces, 8, 32, 32});
  NdArray<float> windows({k_faces, model.info().context_rows, model.info().context_width});
  for (std::int64_t i = 0; i < k_faces; ++i)
    std::ranges::copy(avatar->latent(3 * i).values, latents.row(i));
  for (std::size_t i = 0; i < windows.values.size(); ++i)
    windows.values[i] = std::sin(0.37F * static_cast<float>(i));
  const NdArray<std::uint8_t> own = demo_model(1).faces(latents, windows);  // as a job's process
  const auto part = [](const NdArray<float>& all, std::int64_t i) {
    Shape shape = all.shape;
    shape[0] = 1;
    return NdArray<float>(shape, {all.row(i), all.row(i) + all.stride0()});
  };
  for (const std::size_t live : {0, 1, 3}) {
    std::vector<PictureRequest> batch;
    for (std::size_t session = 0; session < live; ++session)
      batch.push_back(request(pictures_of(avatar), session, 8, heard(sound, 8, 11 * k_picture)));
    for (std::int64_t i = 0; i < k_faces; ++i) {
      batch.push_back({.session = 100,
                       .offline = std::make_shared<OfflineFace>(
                           OfflineFace{.latent = part(latents, i), .window = part(windows, i)})});
    }
    const auto made = nets.make(batch, [] {}).pictures;
    REQUIRE(made.size() == batch.size());
    for (std::int64_t i = 0; i < k_faces; ++i) {
      const NdArray<std::uint8_t>& face = batch[live + static_cast<std::size_t>(i)].offline->face;
      REQUIRE(face.shape == Shape{256, 256, 3});
      CHECK(std::ranges::equal(face.values, std::span(own.row(i), own.stride0())));
    }
    for (std::size_t session = 0; session < live; ++session)
      CHECK(on_host(made[session]()).width > 0);
  }
}

TEST_CASE("a session's pictures do not depend on lanes and threads") {
  const auto avatar = ada();
  const auto sound = synthetic_voice(30 * k_picture);
  const auto faces = [&](int threads, int lanes) {
    Model model = demo_model(threads);
    const auto nets = std::make_shared<LiveNets>([&]() -> Model& { return model; });
    InferenceEngine engine(nets, {.batch = 1, .per_session = 100}, lanes);
    std::map<std::pair<std::uint64_t, std::size_t>, std::future<InferenceEngine::Answer>> answers;
    std::map<std::uint64_t, std::shared_ptr<LivePictures>> sessions{{1, pictures_of(avatar)},
                                                                    {2, pictures_of(avatar)}};
    for (std::size_t number = 8; number < 16; ++number) {
      for (const auto& [session, pictures] : sessions) {
        // One hears as from a microphone, the other as from a synthesiser.
        const std::size_t known = session == 1 ? (number + 3) * k_picture : sound.size();
        auto promise = std::make_shared<std::promise<InferenceEngine::Answer>>();
        answers[{session, number}] = promise->get_future();
        PictureRequest asked = request(pictures, session, number, heard(sound, number, known));
        asked.deadline = InferenceEngine::Clock::now() + 1h;
        engine.submit(std::move(asked), [promise](InferenceEngine::Answer answer) {
          promise->set_value(std::move(answer));
        });
      }
    }
    std::vector<I420Picture> made;
    for (auto& [which, answer] : answers) made.push_back(on_host(answer.get().picture()));
    return made;
  };
  const auto alone = faces(1, 1);
  CHECK(faces(2, 1) == alone);
  for (int i = 0; i < 3; ++i) CHECK(faces(1, 3) == alone);
}

TEST_CASE("what is seen of the lips goes from the clip's own to the generated ones") {
  Model model = demo_model();
  LiveNets nets([&]() -> Model& { return model; });
  const auto avatar = ada();
  const auto pictures = pictures_of(avatar);
  std::vector<PictureRequest> batch{
      request(pictures, 1, 8, heard(synthetic_voice(12 * k_picture), 8, 12 * k_picture))};
  const I420Picture still = pictures->still(batch[0].frame);
  const I420Picture whole = on_host(nets.make(batch, [] {}).pictures.at(0)());
  batch[0].lips = 0.5F;
  const I420Picture half = on_host(nets.make(batch, [] {}).pictures.at(0)());
  const int most = largest_difference(still, whole);
  CHECK(std::abs(largest_difference(still, half) - most / 2) <= 2);
  CHECK(std::abs(largest_difference(whole, half) - most / 2) <= 2);
}

TEST_CASE(
    "a live picture has the pixels of a video's frame, sharpened and matched where the avatar says "
    "so") {
  const tests::TemporaryDirectory folder;
  std::filesystem::copy(demo() / "avatars/ada", folder / "ada");
  AvatarInfo info = read_avatar_info(folder / "ada/avatar.json");
  info.sharpen = 1.2;
  info.match_colour = true;
  write_avatar_info(folder / "ada/avatar.json", info);
  const auto avatar = std::make_shared<Bundle>(Bundle::open(folder / "ada"));
  NdArray<std::uint8_t> face({256, 256, 3});
  for (std::size_t i = 0; i < face.values.size(); ++i)
    face.values[i] = static_cast<std::uint8_t>(i * 2654435761U >> 13U);
  constexpr std::int64_t k_frame = 8;
  const auto composed = [&](const FaceFinish& finish) {
    Image frame = avatar->frame(k_frame);
    const AvatarFace& place = avatar->face(k_frame).value();
    compose(frame.view(), {face.values.data(), 256, 256, 3, 256 * 3}, place.placement,
            avatar->mask(k_frame), place.mask_region, finish);
    I420Picture picture(frame.width, frame.height);
    bgr_to_i420(frame.view(), picture.bytes.data());
    return picture;
  };
  const FaceFinish finish{.unsharp = Unsharp{.amount = 1.2F}, .match_colour = true};
  LivePictures finished(avatar, std::make_shared<SharedClip>(clip_of(*avatar)), 0, 1000);
  CHECK(finished.with_face({.index = k_frame}, face, 1) == composed(finish));
  const auto on_device = finished.placed({.index = k_frame});
  REQUIRE(on_device);
  CHECK(on_device->finish == finish);

  LivePictures plain(ada(), std::make_shared<SharedClip>(clip_of(*avatar)), 0, 1000);
  CHECK(plain.with_face({.index = k_frame}, face, 1) == composed({}));
  CHECK(plain.placed({.index = k_frame}));
  CHECK(composed({}) != composed({.unsharp = finish.unsharp}));
  CHECK(composed({.unsharp = finish.unsharp}) != composed(finish));
}

TEST_CASE("pictures of one batch, and those whose sound is known far ahead, share what was heard") {
  Model model = demo_model();
  const auto sound = synthetic_voice(60 * k_picture);
  LiveHearing hearing;
  const auto hear = [&](std::size_t number, std::size_t known) {
    const SoundWindow window = heard(sound, number, known * k_picture);
    const SoundWindow* one = &window;
    return hearing.windows(model, {&one, 1}).at(0);
  };
  SECTION("a microphone: each picture is a step") {
    for (std::size_t number = 20; number < 24; ++number) hear(number, number + 3);
    CHECK(hearing.steps() == 4);
  }
  SECTION("a synthesiser: four pictures are a step, whose windows fit") {
    std::vector<NdArray<float>> shared;
    for (std::size_t number = 20; number < 28; ++number) shared.push_back(hear(number, 60));
    CHECK(hearing.steps() == 2);
    for (std::size_t i = 1; i < 4; ++i) {  // neighbours have all but two tokens in common
      const std::size_t token = shared[0].values.size() / 10;
      CHECK(std::equal(shared[i].values.begin(),
                       shared[i].values.end() - 2 * static_cast<std::ptrdiff_t>(token),
                       shared[i - 1].values.begin() + 2 * static_cast<std::ptrdiff_t>(token)));
    }
  }
  SECTION("a session that is behind: one step for two pictures") {
    const SoundWindow first = heard(sound, 20, 24 * k_picture);
    const SoundWindow second = heard(sound, 21, 25 * k_picture);
    const std::array<const SoundWindow*, 2> both{&first, &second};
    const auto windows = hearing.windows(model, both);
    CHECK(windows.size() == 2);
    CHECK(hearing.steps() == 1);
    CHECK(windows[1] == LiveHearing().windows(model, {&both[1], 1}).at(0));
  }
  SECTION("another sound than was known is heard anew") {
    hear(20, 60);
    std::vector<std::int16_t> other = sound;
    for (std::size_t i = 22 * k_picture; i < other.size(); ++i) other[i] = 0;
    const SoundWindow window = heard(other, 21, other.size());
    const SoundWindow* one = &window;
    const auto anew = hearing.windows(model, {&one, 1}).at(0);
    CHECK(hearing.steps() == 2);
    CHECK(anew == LiveHearing().windows(model, {&one, 1}).at(0));
  }
}
