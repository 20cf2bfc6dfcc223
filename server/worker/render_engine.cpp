#include "server/worker/render_engine.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <memory>

#include "avatars/bundle/avatar_id.h"
#include "avatars/bundle/bundle.h"
#include "avatars/bundle/bundle_files.h"
#include "avatars/live/live_face.h"
#include "avatars/live/live_pictures.h"
#include "core/base/error.h"
#include "core/files/temporary_folder.h"
#include "core/media/decode/audio.h"
#include "core/media/speech.h"
#include "core/text/printable.h"
#include "gpu/model/model.h"

namespace navtalk::server {
namespace {

namespace fs = std::filesystem;

constexpr const char* k_voice = "en-us+f3";  // of avatars that have none of their own

std::uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::uint64_t memory_bytes() {
  return static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

// Whatever fails in `work` is an error of that code: a file that is missing in the models is not a
// missing avatar.
template <class Work>
auto as_fault(Code code, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    throw Error(code, error.message());
  }
}

std::vector<std::int16_t> pcm_of(const Audio& audio) {
  std::vector<std::int16_t> samples(audio.samples.size());
  std::ranges::transform(audio.samples, samples.begin(), [](float sample) {
    return static_cast<std::int16_t>(
        std::lround(std::clamp(sample * 32768.0F, -32768.0F, 32767.0F)));
  });
  return samples;
}

// One session's pictures. `model` is the renderer's, which may be unloaded between sessions only.
class RenderedAvatar : public LiveAvatar {
 public:
  RenderedAvatar(Model& model, std::shared_ptr<const Bundle> avatar, LivePictures pictures)
      : model_(model), avatar_(std::move(avatar)), pictures_(std::move(pictures)) {}

  LiveVideo video() const override {
    return {.codec = pictures_.codec(), .width = pictures_.width(), .height = pictures_.height()};
  }
  std::optional<NdArray<std::uint8_t>> face(const LivePicture& picture) override {
    return live_face(model_, *avatar_, picture.number, picture.sound, picture.first,
                     picture.rate_hz);
  }
  EncodedPicture encode(const LivePicture& picture,
                        const std::optional<NdArray<std::uint8_t>>& face) override {
    const AccessUnit unit = pictures_.encode(picture.number, face, picture.lips, picture.key);
    return {.bytes = std::string(unit.bytes.begin(), unit.bytes.end()), .key = unit.key};
  }
  std::vector<std::int16_t> speak(const std::string& text, const std::string& voice,
                                  int rate_hz) override {
    const std::string& own = avatar_->info().voice;
    const TemporaryFolder folder;
    navtalk::speak(text,
                   !voice.empty() ? voice
                   : own.empty()  ? k_voice
                                  : own,
                   folder.path() / "speech.wav");
    return pcm_of(decode_audio(folder.path() / "speech.wav", {}, {}, rate_hz));
  }

 private:
  Model& model_;
  const std::shared_ptr<const Bundle> avatar_;
  LivePictures pictures_;
};

// The bytes of an avatar's latents and masks; everything else is small.
std::uint64_t memory_of(const AvatarInfo& avatar, const fs::path& directory) {
  std::error_code gone;
  const std::uintmax_t masks = fs::file_size(directory / k_masks_file, gone);
  return static_cast<std::uint64_t>(avatar.frames) * k_latent_values * sizeof(float) +
         (gone ? 0 : masks);
}

struct LoadedBundle {
  std::shared_ptr<const Bundle> bundle;
  std::uint64_t memory = 0;  // bytes
};

// Of the work loop's thread, except for what is constant.
class Renderer {
 public:
  explicit Renderer(const RenderEngineOptions& options)
      : options_(options),
        device_(parse_device(options.device)),
        precision_(parse_precision(options.precision)) {}

  void load() {
    // The file's hash is made once: avatars' latents belong to one VAE.
    if (!latents_) latents_ = latents_of_model(options_.models, options_.threads);
    model_.emplace(Model::load({.models = options_.models,
                                .device = device_,
                                .precision = precision_,
                                .threads = options_.threads,
                                .vae_encoder = false}));
  }

  void unload() {
    model_.reset();
    // The program keeps freed memory for the nets' next pass; now there is none.
    ::malloc_trim(0);
  }

  AvatarSize prepare(const std::string& id, const Heartbeat& heartbeat) {
    auto found = avatars_.find(id);
    if (found == avatars_.end()) found = avatars_.emplace(id, opened(id, heartbeat)).first;
    const AvatarInfo& info = found->second.bundle->info();
    return {.width = info.width,
            .height = info.height,
            .fps = info.fps,
            .memory = found->second.memory};
  }

  void drop(const std::string& id) {
    avatars_.erase(id);
    ::malloc_trim(0);
  }

  std::shared_ptr<LiveAvatar> open_live(const std::string& id, const LiveRequest& request) {
    const std::shared_ptr<const Bundle>& avatar = avatars_.at(id).bundle;
    const AvatarInfo& info = avatar->info();
    Clip clip(directory_of(id) / k_frames_file, info.width, info.height);
    return std::make_shared<RenderedAvatar>(
        *model_, avatar, LivePictures(avatar, std::move(clip), request.width, request.kbit_per_s));
  }

 private:
  fs::path directory_of(const std::string& id) const {
    if (!valid_avatar_id(id)) {
      throw Error(Code::usage, "'" + printable_start(id, 64) +
                                   "' is not a valid avatar id: " + std::string(k_avatar_id_rule));
    }
    for (const fs::path& library : options_.avatars) {
      if (fs::is_directory(library / id)) return library / id;
    }
    throw Error(Code::not_found, "this worker has no avatar " + id);
  }

  LoadedBundle opened(const std::string& id, const Heartbeat& heartbeat) const {
    const fs::path directory = directory_of(id);
    Bundle avatar = as_fault(Code::invalid, [&] { return Bundle::open(directory); });
    return as_fault(Code::failed, [&] {
      avatar.ensure_latents(*latents_, LatentCache::of_user(),
                            [&](std::string_view, std::size_t, std::size_t) { heartbeat(); });
      const std::uint64_t memory = memory_of(avatar.info(), directory);
      return LoadedBundle{std::make_shared<const Bundle>(std::move(avatar)), memory};
    });
  }

  const RenderEngineOptions options_;
  const Device device_;
  const std::optional<Precision> precision_;
  std::optional<LatentOptions> latents_;
  std::optional<Model> model_;
  std::map<std::string, LoadedBundle> avatars_;
};

}  // namespace

Engine render_engine(const RenderEngineOptions& options) {
  const auto renderer = std::make_shared<Renderer>(options);
  const std::string name = this_machine().cpu;
  return {.device = options.device,
          .load = [renderer](const Heartbeat&) { renderer->load(); },
          .unload = [renderer] { renderer->unload(); },
          .prepare =
              [renderer](const std::string& avatar, const Heartbeat& heartbeat) {
                return renderer->prepare(avatar, heartbeat);
              },
          .drop = [renderer](const std::string& avatar) { renderer->drop(avatar); },
          .use =
              [name] {
                return DeviceUse{
                    .name = name, .memory_total = memory_bytes(), .memory_used = resident_bytes()};
              },
          .open_live =
              [renderer](const std::string& avatar, const LiveRequest& request) {
                return renderer->open_live(avatar, request);
              }};
}

}  // namespace navtalk::server
