#include "cmd/render_module/pipeline/model_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "avatars/live/live_hearing.h"
#include "cmd/defaults.h"
#include "cmd/render_module/pipeline/sample.h"
#include "cmd/render_module/stage_table.h"
#include "core/base/error.h"
#include "gpu/cuda/devices.h"
#include "gpu/features/mel.h"
#include "gpu/image/compose.h"
#include "gpu/model/model.h"
#include "gpu/model/model_files.h"
#include "gpu/model/usable_device.h"
#include "gpu/timing/bench_face.h"
#include "gpu/timing/net_times.h"

namespace navtalk::cmd {
namespace {

using bench_face::noise;
using Seconds = std::chrono::duration<double>;

constexpr const char* k_per_frame = "ms per frame";
constexpr const char* k_per_segment = "ms per 30 s";

// What both devices share.
struct Shared {
  const BenchPipelineOptions& options;
  const Context& context;
  std::filesystem::path models;
  std::optional<NdArray<float>> latents{};  // of the sample
  bool log_mel_timed = false;               // no net takes part: once is enough

  Timing timed(const std::function<void()>& work) const {
    return measure(work, Seconds(options.seconds), context.stop);
  }
};

// Faces into a BGR frame on the CPU.
class PostProcess {
 public:
  void operator()(const NdArray<std::uint8_t>& faces) {
    for (std::int64_t i = 0; i < faces.dim(0); ++i) {
      const ConstImageView face{faces.row(i), k_face_size, k_face_size, 3, k_face_size * 3};
      compose(frame_.view(), face, bench_face::k_placement, mask_.view(),
              bench_face::k_mask_region);
    }
  }

 private:
  Image frame_{bench_face::k_width, bench_face::k_height};
  Image mask_{bench_face::k_mask_region.width(), bench_face::k_mask_region.height(), 1};
};

double bytes_of(Precision precision) { return precision == Precision::fp32 ? 4 : 2; }

// Products and copies of a device in each number format that it was timed in.
class Rates {
 public:
  Rates(Device device, const Shared& shared) : device_(device), shared_(shared) {}

  const DeviceRates& of(Precision precision) {
    const auto found = known_.find(precision);
    if (found != known_.end()) return found->second;
    const int asked = shared_.options.threads;
    const DeviceRates rates = device_rates(
        device_, precision, asked > 0 ? std::min(asked, usable_cores()) : usable_cores(),
        Seconds(shared_.options.seconds), shared_.context.stop);
    return known_.emplace(precision, rates).first->second;
  }
  std::vector<MeasuredRates> all() const {
    std::vector<MeasuredRates> list;
    for (const auto& [precision, rates] : known_)
      list.push_back({std::string(name(precision)), rates.flop_per_s, rates.bytes_per_s});
    return list;
  }

 private:
  const Device device_;
  const Shared& shared_;
  std::map<Precision, DeviceRates> known_;
};

// One device: what is asked of its nets.
struct Place {
  Device device;
  std::optional<Device> decoder_device;
  WeightFormat weights = WeightFormat::computed;
  bool graphs = true;
  std::shared_ptr<Rates> rates;

  bool on_gpu() const { return device.kind == Device::Kind::cuda; }
  bool decodes_apart() const { return decoder_device && *decoder_device != device; }
};

// The nets in one number format.
class ModelTimes {
 public:
  ModelTimes(std::shared_ptr<Shared> shared, Place place, const std::string& precision)
      : shared_(std::move(shared)),
        place_(std::move(place)),
        files_(find_model_files(shared_->models)),
        model_(loaded(precision)) {
    label_ = precision == "auto" ? auto_label(model_->info()) : precision;
    if (place_.weights == WeightFormat::int8) label_ += ", int8 weights";
  }

  const std::string& label() const { return label_; }

  // A GPU's nets are loaded anew for its own clock, when the model has left it.
  std::vector<StageTimes> times() {
    const Execution execution = model_->info().execution;
    if (!place_.on_gpu() && !std::exchange(shared_->log_mel_timed, true)) log_mel_times();
    sound();
    for (const int batch : shared_->options.batches) frames(batch);
    if (model_->info().weight_bytes > 0) pause_and_wake();
    // Before the second set of nets needs the room.
    if (place_.on_gpu() && !place_.decodes_apart()) {
      made_ = faces();
      model_.reset();
      on_device(execution);
    }
    bound(execution);
    return std::move(all_);
  }

  NdArray<std::uint8_t> faces() {
    if (made_) return *made_;
    if (!shared_->latents) shared_->latents = latents();
    return model_->faces(*shared_->latents, sample_windows(*model_));
  }

 private:
  std::optional<Model> loaded(const std::string& precision) const {
    return Model::load({.models = shared_->models,
                        .device = place_.device,
                        .decoder_device = place_.decoder_device,
                        .precision = parse_precision(precision),
                        .weights = place_.weights,
                        .threads = shared_->options.threads,
                        .graphs = place_.graphs,
                        .vae_encoder = false});
  }

  NdArray<float> latents() const {
    Model encoder = Model::load({.models = shared_->models,
                                 .device = {},
                                 .precision = Precision::fp32,
                                 .threads = shared_->options.threads,
                                 .whisper = false,
                                 .unet = false,
                                 .vae_decoder = false});
    return sample_latents(encoder);
  }

  static std::string auto_label(const ModelInfo& info) {
    return fmt::format("auto ({}/{}/{})", name(info.execution.whisper), name(info.execution.unet),
                       name(info.execution.decoder));
  }

  std::string devices_of(const std::string& stage) const {
    if (stage == "log-mel" || stage == "post-process 720p") return name(Device{});
    const Device decoder = place_.decoder_device.value_or(place_.device);
    if (stage == "decoder") return name(decoder);
    return stage == "frame" && place_.decodes_apart() ? name(place_.device) + ", " + name(decoder)
                                                      : name(place_.device);
  }

  StageTimes& add(const std::string& stage, const std::string& unit, int batch, Timing host) {
    if (shared_->context.progress) shared_->context.progress(stage + " " + label_, all_.size(), 0);
    all_.push_back(
        {.stage = stage, .unit = unit, .device = devices_of(stage), .batch = batch, .host = host});
    return all_.back();
  }

  void log_mel_times() {
    const NdArray<float> audio = noise({k_segment_samples});
    add("log-mel", k_per_segment, 1, shared_->timed([&] { log_mel(audio.values); })).of_nets =
        false;
  }

  void sound() {
    const NdArray<float> mel = noise({1, 80, 3000});
    add("whisper", k_per_segment, 1, shared_->timed([&] { model_->whisper_states(mel); }));
    const SoundWindow heard = live_sound();
    const SoundWindow* const one = &heard;
    add("audio, live step", "ms per step", 1, shared_->timed([&] {
      LiveHearing().windows(*model_, {&one, 1});
    }));
  }

  void frames(int batch) {
    const NdArray<float> latents = noise({batch, 8, k_latent_size, k_latent_size});
    const NdArray<float> talking = noise({batch, 4, k_latent_size, k_latent_size});
    const NdArray<float> windows =
        noise({batch, model_->info().context_rows, model_->info().context_width});
    NdArray<std::uint8_t> faces;
    PostProcess post_process;
    add("unet", k_per_frame, batch, shared_->timed([&] { model_->unet(latents, windows); }));
    add("decoder", k_per_frame, batch,
        shared_->timed([&] { faces = model_->decode_faces(talking); }));
    if (!place_.on_gpu())
      add("post-process 720p", k_per_frame, batch, shared_->timed([&] { post_process(faces); }));
    if (!model_->info().pictures_on_device) {
      add("frame", k_per_frame, batch,
          shared_->timed([&] { post_process(model_->faces(latents, windows)); }));
      return;
    }
    const auto avatar = std::make_shared<const int>(0);
    std::vector<PlacedFrame> places;
    for (int i = 0; i < batch; ++i) places.push_back(bench_face::placed_frame(avatar, i));
    add("frame", k_per_frame, batch, shared_->timed([&] { model_->pictures(places, windows); }));
  }

  // The weights into host memory and back, without what comes after a wake: graphs that are recorded again.
  void pause_and_wake() {
    using Clock = std::chrono::steady_clock;
    std::vector<Seconds> pauses, wakes;
    const auto both = [&] {
      const auto begin = Clock::now();
      model_->pause();
      const auto paused = Clock::now();
      model_->wake();
      pauses.emplace_back(paused - begin);
      wakes.emplace_back(Clock::now() - paused);
    };
    shared_->timed(both);
    const std::string unit = fmt::format("ms for {} MiB", model_->info().weight_bytes >> 20);
    add("pause", unit, 1, timing_of(std::move(pauses)));
    add("wake", unit, 1, timing_of(std::move(wakes)));
  }

  void on_device(const Execution& execution) {
    const NetTimesOptions how{.models = shared_->models,
                              .device = place_.device,
                              .precision = execution.unet,
                              .weights = place_.weights,
                              .decoded = execution.decoded,
                              .graphs = place_.graphs,
                              .budget = Seconds(shared_->options.seconds)};
    for (PassTimes& pass : net_times(how, shared_->options.batches, shared_->context.stop)) {
      const auto known = std::ranges::find_if(all_, [&](const StageTimes& one) {
        return one.stage == pass.pass && one.batch == pass.batch;
      });
      const Timing timing = timing_of(std::move(pass.runs));
      if (known != all_.end()) {
        known->events = timing;
      } else {
        all_.push_back({.stage = pass.pass,
                        .unit = k_per_frame,
                        .device = name(place_.device),
                        .batch = pass.batch,
                        .events = timing});
      }
    }
  }

  // Weights in 8 bits move fewer bytes than is counted, and two devices have two rates.
  void bound(const Execution& execution) {
    if (place_.weights == WeightFormat::int8) return;
    const auto least = [&](const std::vector<LayerWork>& work, int batch, Precision precision) {
      return least_seconds(work, batch, bytes_of(precision), place_.rates->of(precision));
    };
    const std::vector<LayerWork> unet =
        unet_work(files_.unet_config, 10 * (files_.whisper_config.encoder_layers + 1));
    const std::vector<LayerWork> decoder = decoder_work(files_.vae_config);
    for (StageTimes& one : all_) {
      if (one.stage == "whisper")
        one.least_s = least(whisper_work(files_.whisper_config), 1, execution.whisper);
      if (one.stage == "unet") one.least_s = least(unet, one.batch, execution.unet);
      if (place_.decodes_apart()) continue;
      if (one.stage == "decoder") one.least_s = least(decoder, one.batch, execution.decoder);
      if (one.stage == "frame")
        one.least_s =
            least(unet, one.batch, execution.unet) + least(decoder, one.batch, execution.decoder);
    }
  }

  const std::shared_ptr<Shared> shared_;
  const Place place_;
  const ModelFiles files_;
  std::optional<Model> model_;
  std::string label_;
  std::vector<StageTimes> all_;
  std::optional<NdArray<std::uint8_t>> made_;
};

BenchedDevice benched(const std::shared_ptr<Shared>& shared, Place place,
                      std::vector<std::string> precisions) {
  place.rates = std::make_shared<Rates>(place.device, *shared);
  return {.name = name(place.device),
          .precisions = std::move(precisions),
          .load =
              [shared, place](const std::string& precision) {
                const auto nets = std::make_shared<ModelTimes>(shared, place, precision);
                return BenchedNets{.precision = nets->label(),
                                   .times = [nets] { return nets->times(); },
                                   .faces = [nets] { return nets->faces(); }};
              },
          .rates = [shared, rates = place.rates] { return rates->all(); }};
}

// Those that are asked for without the one that this kind of device lacks; all that it has where none is asked for.
std::vector<std::string> formats_of(const Device& device, const std::vector<std::string>& asked) {
  std::vector<std::string> formats = asked;
  if (asked.empty()) {
    formats = usual_precisions(device);
    if (std::ranges::count(formats, "bf16") > 0) formats.emplace_back("auto");
    return formats;
  }
  std::erase(formats, device.kind == Device::Kind::cpu ? "fp16" : "bf16");
  return formats;
}

struct FoundGpu {
  std::optional<Device> device{};
  std::string missing{};
};

FoundGpu find_gpu(const std::string& asked) {
  const std::optional<Device> device = parse_device(asked);
  if (device && device->kind == Device::Kind::cpu) return {{}, "not asked for"};
  if (device) return {usable_device(device), {}};
  const cuda::Devices devices = cuda::devices();
  if (devices.list.empty()) return {{}, devices.missing};
  try {
    return {usable_device(Device{.kind = Device::Kind::cuda, .index = 0}), {}};
  } catch (const Error& error) {
    return {{}, error.message()};
  }
}

std::string text_of(const Device& gpu) {
  const cuda::DeviceProperties device =
      cuda::devices().list.at(static_cast<std::size_t>(gpu.index));
  return fmt::format("{}, {}, {} multiprocessors, {:.0f} GiB", name(gpu), device.name,
                     device.multiprocessors, static_cast<double>(device.memory_bytes) / (1 << 30));
}

}  // namespace

FoundDevices model_devices(const BenchPipelineOptions& options, const Context& context) {
  const auto shared = std::make_shared<Shared>(Shared{
      .options = options, .context = context, .models = models_directory(options.models, context)});
  FoundGpu gpu = find_gpu(options.device);
  const Place as_asked{.device = gpu.device.value_or(Device{}),
                       .decoder_device = parse_device(options.placement.decoder_device),
                       .weights = parse_weight_format(options.placement.weight_format),
                       .graphs = !options.placement.no_graphs,
                       .rates = {}};
  FoundDevices found;
  found.missing_gpu = std::move(gpu.missing);
  if (!gpu.device) {
    // All that is asked for: the nets themselves refuse what a CPU lacks.
    const std::vector<std::string> formats =
        options.precisions.empty() ? formats_of({}, {}) : options.precisions;
    found.cpu = benched(shared, as_asked, formats);
    return found;
  }
  const std::vector<std::string> on_cpu = formats_of({}, options.precisions);
  if (on_cpu.empty())
    found.missing_cpu = "a CPU computes in none of the formats that are asked for";
  found.cpu = benched(shared, Place{.device = {}, .decoder_device = {}, .rates = {}}, on_cpu);
  std::vector<std::string> on_gpu = formats_of(*gpu.device, options.precisions);
  if (on_gpu.empty()) on_gpu = options.precisions;
  found.gpu = benched(shared, as_asked, on_gpu);
  found.gpu_text = text_of(*gpu.device);
  return found;
}

}  // namespace navtalk::cmd
