#include "server/worker/render_engine.h"

#include <malloc.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <memory>

#include "avatars/bundle/avatar_id.h"
#include "avatars/bundle/bundle.h"
#include "avatars/bundle/bundle_files.h"
#include "core/base/error.h"
#include "core/text/printable.h"
#include "gpu/model/model.h"

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
  Bundle bundle;
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
    const AvatarInfo& info = found->second.bundle.info();
    return {.width = info.width,
            .height = info.height,
            .fps = info.fps,
            .memory = found->second.memory};
  }

  void drop(const std::string& id) {
    avatars_.erase(id);
    ::malloc_trim(0);
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
      return LoadedBundle{std::move(avatar), memory};
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
              }};
}

}  // namespace navtalk::server
