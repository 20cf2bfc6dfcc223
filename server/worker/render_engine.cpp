#include "server/worker/render_engine.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>

#include "avatars/bundle/avatar_id.h"
#include "avatars/bundle/bundle.h"
#include "avatars/bundle/bundle_files.h"
#include "avatars/live/live_encoders.h"
#include "avatars/live/live_nets.h"
#include "avatars/live/live_pictures.h"
#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/guarded.h"
#include "core/log/log.h"
#include "core/text/printable.h"
#include "gpu/cuda/device_monitor.h"
#include "gpu/cuda/devices.h"
#include "gpu/model/model.h"
#include "gpu/model/model_files.h"
#include "gpu/model/usable_device.h"
#include "gpu/nets/execution.h"
#include "server/worker/job/face_model.h"
#include "server/worker/rendered_avatar.h"

namespace navtalk::server {
namespace {

namespace fs = std::filesystem;

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
  std::shared_ptr<ClipOfSessions> clip{};
};

// Models are of the work loop's thread and the inference engine's lanes, which never use them at the same time; avatars of
// any thread.
class Renderer {
 public:
  // `threads`: of a face.
  Renderer(const RenderEngineOptions& options, const Device& device, int threads)
      : options_(options),
        threads_(threads),
        device_(device),
        precision_(parse_precision(options.precision)),
        encoders_(parse_h264_encoder(options.video_encoder),
                  device.kind == Device::Kind::cpu ? std::nullopt : std::optional(device.index),
                  [](const std::string& text) { log::info(text); }) {}

  void load() {
    // The file's hash is made once: avatars' latents belong to one VAE.
    if (!latents_.with([](const auto& known) { return known.has_value(); })) {
      LatentOptions latents = latents_of_model(options_.models, options_.threads);
      latents_.with([&](auto& known) { known = std::move(latents); });
    }
    model_.emplace(Model::load({.models = options_.models,
                                .device = device_,
                                .decoder_device = parse_device(options_.decoder_device),
                                .precision = precision_,
                                .threads = threads_,
                                .graphs = options_.graphs,
                                .vae_encoder = false}));
    offer(shared_face_model(options_.models, model_->info()));
  }

  void unload() {
    offer(std::nullopt);
    model_.reset();
    // The program keeps freed memory for the nets' next pass; now there is none.
    ::malloc_trim(0);
  }

  Model& model() {
    NAVTALK_CHECK(model_);
    return *model_;
  }

  std::optional<FaceModel> face_model() const {
    return face_model_.with([](const auto& known) { return known; });
  }

  AvatarSize prepare(const std::string& id, const Progress& progress) {
    if (const auto known = loaded(id)) return size_of(*known);
    return size_of(keep(id, open(id, progress)));
  }

  std::optional<AvatarSize> prepare_at_hand(const std::string& id) {
    if (const auto known = loaded(id)) return size_of(*known);
    auto opened = open_at_hand(id);
    return opened ? std::optional(size_of(keep(id, std::move(*opened)))) : std::nullopt;
  }

  void drop(const std::string& id) {
    avatars_.with([&](auto& all) { all.erase(id); });
    ::malloc_trim(0);
  }

  std::shared_ptr<LiveAvatar> open_live(const std::string& id, const LiveRequest& request) {
    const LoadedBundle bundle = loaded(id).value();
    const std::shared_ptr<const Bundle>& avatar = bundle.bundle;
    return rendered_avatar(std::make_shared<LivePictures>(
        avatar, bundle.clip->open(), request.width, request.kbit_per_s, encoders_));
  }

 private:
  static AvatarSize size_of(const LoadedBundle& avatar) {
    const AvatarInfo& info = avatar.bundle->info();
    return {.width = info.width, .height = info.height, .fps = info.fps, .memory = avatar.memory};
  }

  // The one that is loaded already, where another thread was faster.
  LoadedBundle keep(const std::string& id, LoadedBundle opened) {
    return avatars_.with(
        [&](auto& all) { return all.emplace(id, std::move(opened)).first->second; });
  }

  // nullopt: in none of the folders.
  std::optional<fs::path> own_directory_of(const std::string& id) const {
    if (!valid_avatar_id(id)) {
      throw Error(Code::usage, "'" + printable_start(id, 64) +
                                   "' is not a valid avatar id: " + std::string(k_avatar_id_rule));
    }
    for (const fs::path& library : options_.avatars) {
      if (fs::is_directory(library / id)) return library / id;
    }
    return std::nullopt;
  }

  fs::path directory_of(const std::string& id, const Progress& progress) const {
    if (const auto own = own_directory_of(id)) return *own;
    if (options_.fetch_avatar) return options_.fetch_avatar(id, progress);
    throw Error(Code::not_found, "this worker has no avatar " + id);
  }

  std::optional<LoadedBundle> loaded(const std::string& id) const {
    return avatars_.with([&](const auto& all) {
      const auto found = all.find(id);
      return found == all.end() ? std::nullopt : std::optional(found->second);
    });
  }

  LatentOptions latents() const {
    return latents_.with([](const auto& known) { return known; }).value();
  }

  Bundle open_bundle(const fs::path& directory) const {
    return as_fault(Code::invalid, [&] { return Bundle::open(directory, options_.limits); });
  }

  static LoadedBundle with_memory(Bundle avatar, const fs::path& directory) {
    const AvatarInfo& info = avatar.info();
    auto clip =
        std::make_shared<ClipOfSessions>(directory / k_frames_file, info.width, info.height);
    const std::uint64_t memory = memory_of(info, directory);
    return {std::make_shared<const Bundle>(std::move(avatar)), memory, std::move(clip)};
  }

  LoadedBundle open(const std::string& id, const Progress& progress) const {
    const fs::path directory = directory_of(id, progress);
    Bundle avatar = open_bundle(directory);
    as_fault(Code::failed,
             [&] { avatar.ensure_latents(latents(), LatentCache::of_user(), progress); });
    return with_memory(std::move(avatar), directory);
  }

  // nullopt: it has to be fetched, or its latents to be made.
  std::optional<LoadedBundle> open_at_hand(const std::string& id) const {
    const auto directory = own_directory_of(id);
    if (!directory) return std::nullopt;
    Bundle avatar = open_bundle(*directory);
    const bool whole = as_fault(
        Code::failed, [&] { return avatar.find_latents(latents(), LatentCache::of_user()); });
    return whole ? std::optional(with_memory(std::move(avatar), *directory)) : std::nullopt;
  }

  void offer(std::optional<FaceModel> model) {
    face_model_.with([&](auto& known) { known = std::move(model); });
  }

  const RenderEngineOptions options_;
  const int threads_;
  const Device device_;
  const std::optional<Precision> precision_;
  const LiveEncoders encoders_;
  Guarded<std::optional<LatentOptions>> latents_;
  std::optional<Model> model_;
  Guarded<std::optional<FaceModel>> face_model_;
  Guarded<std::map<std::string, LoadedBundle>> avatars_;
};

// Whether a face is best drawn by one core while others draw other faces. False also when the models cannot be read, of
// which load() tells.
bool draws_faces_apart(const RenderEngineOptions& options) {
  try {
    const ModelFiles files = find_model_files(options.models);
    return choose_execution(parse_precision(options.precision), files.unet_config, files.vae_config)
        .parallel_frames;
  } catch (const Error&) {
    return false;
  }
}

struct Lanes {
  int count = 1;
  int threads = 0;  // of each; 0: every core
  QueueLimits limits{};
};

// A batch holds as many faces as run at the same time: more would make the first ones wait for the last.
Lanes lanes_of(const RenderEngineOptions& options, const Device& device) {
  if (device.kind != Device::Kind::cpu) return {};
  const int cores =
      options.threads > 0 ? std::min(options.threads, usable_cores()) : usable_cores();
  if (draws_faces_apart(options)) return {.count = cores, .threads = 1, .limits = {.batch = 1}};
  const auto faces = static_cast<std::size_t>(cores);
  return {.threads = cores,
          .limits = {.batch = std::clamp<std::size_t>(faces, 1, QueueLimits().batch)}};
}

// Memory is what CUDA says: of a part of a GPU (MIG) it is that part's, and a device that CUDA has lost has none. Load and
// temperature are NVML's.
std::function<DeviceUse()> device_use_of(const Device& device) {
  if (device.kind == Device::Kind::cpu) {
    return [name = this_machine().cpu] {
      return DeviceUse{
          .name = name, .memory_total = memory_bytes(), .memory_used = resident_bytes()};
    };
  }
  const cuda::DeviceProperties gpu =
      cuda::devices().list.at(static_cast<std::size_t>(device.index));
  const auto tell = [](const std::string& problem) {
    log::warn("load and temperature of the GPU are not known", {{"error", problem}});
  };
  const auto monitor = std::make_shared<cuda::DeviceMonitor>(
      cuda::MonitorOptions{.pci_bus_id = gpu.pci_bus_id, .tell = tell});
  return [name = gpu.name, index = device.index, monitor] {
    const cuda::MemoryUse memory = cuda::memory_use(index);
    const cuda::DeviceReading reading = monitor->latest();
    return DeviceUse{.name = name,
                     .memory_total = memory.total,
                     .memory_used = memory.used,
                     .utilisation = reading.load,
                     .temperature = reading.temperature};
  };
}

}  // namespace

Engine render_engine(const RenderEngineOptions& options) {
  const Device device = usable_device(parse_device(options.device));
  if (const auto decoder = parse_device(options.decoder_device)) usable_device(decoder);
  const Lanes lanes = lanes_of(options, device);
  const auto renderer = std::make_shared<Renderer>(options, device, lanes.threads);
  return {
      .device = navtalk::name(device),
      .load = [renderer](const Heartbeat&) { renderer->load(); },
      .unload = [renderer] { renderer->unload(); },
      .prepare = [renderer](
                     const std::string& avatar,
                     const Progress& progress) { return renderer->prepare(avatar, progress); },
      .prepare_at_hand =
          [renderer](const std::string& avatar) { return renderer->prepare_at_hand(avatar); },
      .drop = [renderer](const std::string& avatar) { renderer->drop(avatar); },
      .use = device_use_of(device),
      .open_live = [renderer](
                       const std::string& avatar,
                       const LiveRequest& request) { return renderer->open_live(avatar, request); },
      .backend = std::make_shared<LiveNets>([renderer]() -> Model& { return renderer->model(); }),
      .face_model = [renderer] { return renderer->face_model(); },
      .limits = lanes.limits,
      .lanes = lanes.count};
}

}  // namespace navtalk::server
