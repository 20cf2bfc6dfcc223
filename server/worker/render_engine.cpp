#include "server/worker/render_engine.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>

#include "avatars/bundle/avatar_id.h"
#include "avatars/bundle/bundle.h"
#include "avatars/bundle/bundle_files.h"
#include "avatars/live/live_encoders.h"
#include "avatars/live/live_nets.h"
#include "avatars/live/live_pictures.h"
#include "core/base/check.h"
#include "core/base/device_lost.h"
#include "core/base/error.h"
#include "core/base/guarded.h"
#include "core/log/log.h"
#include "core/text/printable.h"
#include "gpu/model/device_pool.h"
#include "gpu/model/model.h"
#include "gpu/model/model_files.h"
#include "gpu/model/usable_device.h"
#include "gpu/nets/execution.h"
#include "server/worker/device/measured_device.h"
#include "server/worker/device/nets_memory.h"
#include "server/worker/job/face_model.h"
#include "server/worker/job/memory_plan.h"
#include "server/worker/rendered_avatar.h"

namespace navtalk::server {
namespace {

namespace fs = std::filesystem;

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

// The frame as NV12 with its mask and latent, as the device keeps it.
std::uint64_t bytes_of_frame(const AvatarInfo& info, const Box& mask) {
  const auto pixels =
      static_cast<std::uint64_t>(info.width) * static_cast<std::uint64_t>(info.height);
  return pixels * 3 / 2 +
         static_cast<std::uint64_t>(mask.width()) * static_cast<std::uint64_t>(mask.height()) +
         k_latent_values * sizeof(float);
}

// What a session's pictures take while they are made: its frames, also those that are not kept, and what comes out of them.
constexpr std::uint64_t k_pictures_on_their_way = QueueLimits().per_session;
// Finished ones that NVENC has not coded yet, and its frames.
constexpr std::uint64_t k_pictures_to_code = 8;

// Models are of the work loop's thread and the inference engine's lanes, which never use them at the same time; avatars of
// any thread.
class Renderer {
 public:
  // `threads`: of a face.
  Renderer(const RenderEngineOptions& options, const Device& device, int threads)
      : options_(options),
        threads_(threads),
        preferred_(device),
        device_(device),
        precision_(parse_precision(options.precision)),
        weight_format_(parse_weight_format(options.weight_format)),
        encoders_(parse_h264_encoder(options.video_encoder),
                  device.kind == Device::Kind::cpu ? std::nullopt : std::optional(device.index),
                  [](const std::string& text) { log::info(text); }) {
    if (device.kind == Device::Kind::cpu) return;
    budget_ = std::make_shared<MemoryBudget>();
    memory_ = std::make_unique<NetsMemory>(meter_of(device), budget_);
  }

  void load() { load_on(preferred_); }

  void load_on(const Device& device) {
    device_ = device;
    // The file's hash is made once: avatars' latents belong to one VAE.
    if (!latents_.with([](const auto& known) { return known.has_value(); })) {
      LatentOptions latents = latents_of_model(options_.models, options_.threads);
      latents_.with([&](auto& known) { known = std::move(latents); });
    }
    if (on_gpu()) memory_->begin();
    applied_frames_ = kept_frames_;
    model_.emplace(
        Model::load({.models = options_.models,
                     .device = device_,
                     // The CPU stands in for all of them.
                     .decoder_device = device_ == preferred_ ? parse_device(options_.decoder_device)
                                                             : std::nullopt,
                     .precision = precision_,
                     .weights = on_gpu() ? weight_format_ : WeightFormat::computed,
                     .threads = threads_,
                     .graphs = options_.graphs,
                     .frame_bytes = applied_frames_,
                     .vae_encoder = false}));
    if (on_gpu()) memory_->loaded();
    const ModelInfo& info = model_->info();
    finishes_pictures_ = info.pictures_on_device;
    if (const auto gpu = encoders_.codes_from();
        gpu && info.pictures_on_device && *gpu != info.finishing_gpu)
      log::warn(
          fmt::format("live pictures come to NVENC through the host: GPU {} finishes them, and "
                      "GPU {} codes them",
                      info.finishing_gpu, *gpu));
    offer(shared_face_model(options_.models, info));
  }

  bool pause() {
    if (!on_gpu()) return false;
    const std::uint64_t bytes = model().info().weight_bytes;
    // What the kernel cannot page out must not be what the machine has not got.
    if (const auto room = memory_room(); room && !MemoryPlan::fits(*room, bytes))
      throw Error(Code::failed,
                  fmt::format("the machine has no {} MiB for the weights", bytes >> 20));
    offer(std::nullopt);
    paused_ = true;
    model_->pause();
    memory_->unloaded();
    ::malloc_trim(0);
    return true;
  }

  void wake() {
    NAVTALK_CHECK(paused_);
    memory_->begin();
    try {
      model_->wake();
      paused_ = false;
      memory_->loaded();
    } catch (const DeviceLost&) {
      throw;  // what it has there cannot be given back: the worker ends
    } catch (...) {
      unload();
      throw;
    }
    offer(shared_face_model(options_.models, model_->info()));
  }

  void unload() {
    offer(std::nullopt);
    model_.reset();
    paused_ = false;
    if (on_gpu()) memory_->unloaded();
    // The program keeps freed memory for the nets' next pass; now there is none.
    ::malloc_trim(0);
  }

  Model& model() {
    NAVTALK_CHECK(model_ && !paused_);
    return *model_;
  }

  // The nets on the CPU, until they are loaded again: pictures a second of one session.
  double fall_back() {
    unload();
    budget_->note({});  // nothing of the device is to be reserved
    load_on({});
    LiveNets nets([this]() -> Model& { return model(); });
    nets.warm_up(1);
    const auto begin = std::chrono::steady_clock::now();
    nets.warm_up(1);
    return 1 / std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  void draw_measured(std::size_t faces, const std::function<void()>& draw) {
    on_gpu() ? memory_->draw(faces, draw) : draw();
  }

  // On the work loop's thread, now and then: what the device has, and how many frames stay there.
  void look_at_memory() {
    if (!on_gpu()) return;
    budget_->note(memory_of_device(device_));
    const std::uint64_t frames = kept_frames_;
    if (!model_ || paused_ || frames == applied_frames_) return;
    model_->limit_frames(frames);
    const bool less = frames < std::exchange(applied_frames_, frames);
    try {
      if (less) restart_pool(device_);  // others need it
    } catch (const DeviceLost&) {
      throw;
    } catch (const Error& error) {
      log::warn("the device takes no memory back", {{"error", error.message()}});
    }
  }

  // Empty on the CPU.
  const std::shared_ptr<MemoryBudget>& budget() const { return budget_; }
  const NetsMemory& memory() const { return *memory_; }
  void keep_frames(std::uint64_t bytes) { kept_frames_ = bytes; }

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
    return rendered_avatar(std::make_shared<LivePictures>(avatar, bundle.clip->open(),
                                                          request.width, request.kbit_per_s,
                                                          encoders_, finishes_pictures_));
  }

 private:
  bool on_gpu() const { return device_.kind != Device::Kind::cpu; }

  AvatarSize size_of(const LoadedBundle& avatar) const {
    const AvatarInfo& info = avatar.bundle->info();
    AvatarSize size{
        .width = info.width, .height = info.height, .fps = info.fps, .memory = avatar.memory};
    if (!memory_) return size;
    std::uint64_t largest = 0;
    for (std::int64_t i = 0; i < info.frames; ++i) {
      const std::optional<AvatarFace>& face = avatar.bundle->face(i);
      if (!face) continue;
      const std::uint64_t bytes = bytes_of_frame(info, face->mask_region);
      size.device_frames += bytes;
      largest = std::max(largest, bytes);
    }
    // In, and before it is scaled.
    size.device_pictures = 2 * k_pictures_on_their_way * largest;
    size.device_shown = k_pictures_on_their_way * largest;
    if (encoders_.codes_from()) size.device_shown += k_pictures_to_code * largest;
    return size;
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
  const Device preferred_;
  Device device_;  // where the nets are
  const std::optional<Precision> precision_;
  const WeightFormat weight_format_;
  const LiveEncoders encoders_;
  Guarded<std::optional<LatentOptions>> latents_;
  std::optional<Model> model_;
  std::atomic<bool> finishes_pictures_ = false;  // the device of the nets that were loaded last
  bool paused_ = false;                          // the model's weights are in host memory
  Guarded<std::optional<FaceModel>> face_model_;
  Guarded<std::map<std::string, LoadedBundle>> avatars_;
  // Of a GPU.
  std::shared_ptr<MemoryBudget> budget_{};
  std::unique_ptr<NetsMemory> memory_{};
  std::atomic<std::uint64_t> kept_frames_ =
      0;                              // bytes of avatars' frames that sessions have reserved
  std::uint64_t applied_frames_ = 0;  // of these, what the model knows
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

std::optional<DeviceBudget> budget_of(const std::shared_ptr<Renderer>& renderer) {
  if (!renderer->budget()) return std::nullopt;
  return DeviceBudget{
      .memory = renderer->budget(),
      .frames_limit = [renderer] { return renderer->memory().frames_limit(); },
      .keep_frames = [renderer](std::uint64_t bytes) { renderer->keep_frames(bytes); },
      .of_process = [renderer] { return renderer->memory().of_process(); }};
}

}  // namespace

Engine render_engine(const RenderEngineOptions& options) {
  const std::optional<Device> asked = parse_device(options.device);
  const Device device = usable_device(asked);
  if (const auto decoder = parse_device(options.decoder_device)) usable_device(decoder);
  if (device.kind == Device::Kind::cpu && options.weight_format != name(WeightFormat::computed))
    throw Error(Code::invalid, "int8 weights are for GPUs only: this worker's nets run on the CPU");
  const Lanes lanes = lanes_of(options, device);
  const auto renderer = std::make_shared<Renderer>(options, device, lanes.threads);
  const auto measured = [renderer](std::size_t faces, const std::function<void()>& draw) {
    renderer->draw_measured(faces, draw);
  };
  // Who asks for a GPU by name gets no other device.
  std::function<double()> fall_back;
  if (!asked && device.kind != Device::Kind::cpu)
    fall_back = [renderer] { return renderer->fall_back(); };
  return {.device = navtalk::name(device),
          .load = [renderer](const Heartbeat&) { renderer->load(); },
          .unload = [renderer] { renderer->unload(); },
          .pause = [renderer] { return renderer->pause(); },
          .wake = [renderer] { renderer->wake(); },
          .fall_back = fall_back,
          .budget = budget_of(renderer),
          .prepare = [renderer](
                         const std::string& avatar,
                         const Progress& progress) { return renderer->prepare(avatar, progress); },
          .prepare_at_hand =
              [renderer](const std::string& avatar) { return renderer->prepare_at_hand(avatar); },
          .drop = [renderer](const std::string& avatar) { renderer->drop(avatar); },
          .use =
              [renderer, use = device_use_of(device)] {
                renderer->look_at_memory();
                return use();
              },
          .open_live =
              [renderer](const std::string& avatar, const LiveRequest& request) {
                return renderer->open_live(avatar, request);
              },
          .backend = std::make_shared<LiveNets>(
              [renderer]() -> Model& { return renderer->model(); }, measured),
          .face_model = [renderer] { return renderer->face_model(); },
          .limits = lanes.limits,
          .lanes = lanes.count};
}

}  // namespace navtalk::server
