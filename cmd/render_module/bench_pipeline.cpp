// Every stage between audio and a finished picture, with the nets in each precision and batch that
// is asked for: what one second of avatar costs here, and where the time goes.
#include <algorithm>
#include <cmath>

#include "avatars/live/live_hearing.h"
#include "cmd/defaults.h"
#include "cmd/render_module/bodies.h"
#include "cmd/render_module/stage_table.h"
#include "core/base/error.h"
#include "gpu/features/mel.h"
#include "gpu/image/compose.h"
#include "gpu/model/model.h"
#include "gpu/model/usable_device.h"

namespace navtalk::cmd {
namespace {

// What a live session hears for a picture: four seconds of past and a fifth of a second of future.
constexpr std::int64_t k_live_past = 4 * k_sample_rate_hz;
constexpr std::int64_t k_live_samples = k_live_past + k_sample_rate_hz / 5;

// Even noise in [-1,1): no stage's time depends on what the numbers say, as long as they are not
// all zero.
NdArray<float> noise(const Shape& shape) {
  NdArray<float> array(shape);
  std::uint32_t state = 1;
  for (float& value : array.values) {
    state = state * 1664525U + 1013904223U;
    value = static_cast<float>(state >> 8) / 8388608.0F - 1.0F;
  }
  return array;
}

// A face of 432 pixels in the middle of a 720p frame, as `bench image` has it.
class PostProcess {
 public:
  void operator()(const NdArray<std::uint8_t>& faces) {
    for (std::int64_t i = 0; i < faces.dim(0); ++i) {
      const ConstImageView face{faces.row(i), k_face_size, k_face_size, 3, k_face_size * 3};
      compose(frame_.view(), face, k_placement, mask_.view(), k_mask_region);
    }
  }

 private:
  static constexpr int k_side = 432, k_square = 648;
  static constexpr Placement k_placement{.box = {424, 144, 424 + k_side, 144 + k_side},
                                         .crop_box = {316, 36, 316 + k_square, 36 + k_square}};
  static constexpr Box k_mask_region{0, k_square / 2, k_square, k_square};
  Image frame_{1280, 720};
  Image mask_{k_square, k_square / 2, 1};
};

class Bench {
 public:
  Bench(const BenchPipelineOptions& options, Context& context)
      : options_(options),
        context_(context),
        device_(usable_device(parse_device(options.device))),
        decoder_device_(parse_device(options.placement.decoder_device)) {}

  std::vector<StageRow> run() {
    time("log-mel", "ms per 30 s", "", 1,
         [audio = noise({k_segment_samples})] { log_mel(audio.values); });
    for (const std::string& precision : precisions()) nets(precision);
    return rows_;
  }

 private:
  // All that this machine has, unless told.
  std::vector<std::string> precisions() const {
    if (!options_.precisions.empty()) return options_.precisions;
    std::vector<std::string> usual = usual_precisions(device_);
    if (std::ranges::count(usual, "bf16") > 0) usual.emplace_back("auto");
    return usual;
  }

  void nets(const std::string& precision) {
    Model model = Model::load({.models = models_directory(options_.models, context_),
                               .device = device_,
                               .decoder_device = decoder_device_,
                               .precision = parse_precision(precision),
                               .weights = parse_weight_format(options_.placement.weight_format),
                               .threads = options_.threads,
                               .graphs = !options_.placement.no_graphs,
                               .vae_encoder = false});
    std::string label = precision == "auto" ? auto_label(model.info()) : precision;
    if (parse_weight_format(options_.placement.weight_format) == WeightFormat::int8)
      label += ", int8 weights";
    time("whisper", "ms per 30 s", label, 1,
         [&, mel = noise({1, 80, 3000})] { model.whisper_states(mel); });
    live_step(model, label);
    for (const int batch : options_.batches) frames(model, label, batch);
    if (model.info().weight_bytes > 0) pause_and_wake(model, label);
  }

  // The weights into host memory and back, without what comes after a wake: graphs that are recorded again.
  void pause_and_wake(Model& model, const std::string& label) {
    using Clock = std::chrono::steady_clock;
    std::vector<std::chrono::duration<double>> pauses, wakes;
    const auto both = [&] {
      const auto begin = Clock::now();
      model.pause();
      const auto paused = Clock::now();
      model.wake();
      pauses.emplace_back(paused - begin);
      wakes.emplace_back(Clock::now() - paused);
    };
    measure(both, std::chrono::duration<double>(options_.seconds), context_.stop);
    const std::string unit = fmt::format("ms for {} MiB", model.info().weight_bytes >> 20);
    const std::string device = devices_of("frame");
    rows_.push_back({"pause", unit, device, label, 1, timing_of(std::move(pauses))});
    rows_.push_back({"wake", unit, device, label, 1, timing_of(std::move(wakes))});
  }

  // What a live session pays for the sound of one picture: the last seconds, and the silence behind them.
  void live_step(Model& model, const std::string& label) {
    SoundWindow sound{.samples = std::vector<std::int16_t>(k_live_samples), .first = k_live_past};
    std::ranges::transform(noise({k_live_samples}).values, sound.samples.begin(),
                           [](float sample) { return static_cast<std::int16_t>(1000 * sample); });
    const SoundWindow* const sounds[] = {&sound};
    time("audio, live step", "ms per step", label, 1,
         [&] { LiveHearing().windows(model, sounds); });
  }

  static std::string auto_label(const ModelInfo& info) {
    return fmt::format("auto ({}/{}/{})", name(info.execution.whisper), name(info.execution.unet),
                       name(info.execution.decoder));
  }

  void frames(Model& model, const std::string& precision, int batch) {
    const NdArray<float> latents = noise({batch, 8, k_latent_size, k_latent_size});
    const NdArray<float> talking = noise({batch, 4, k_latent_size, k_latent_size});
    const NdArray<float> windows =
        noise({batch, model.info().context_rows, model.info().context_width});
    const std::string unit = "ms per frame";
    NdArray<std::uint8_t> faces;
    PostProcess post_process;
    time("unet", unit, precision, batch, [&] { model.unet(latents, windows); });
    time("decoder", unit, precision, batch, [&] { faces = model.decode_faces(talking); });
    time("post-process 720p", unit, precision, batch, [&] { post_process(faces); });
    time("frame", unit, precision, batch, [&] { post_process(model.faces(latents, windows)); });
  }

  std::string devices_of(const std::string& stage) const {
    if (stage == "log-mel" || stage == "post-process 720p") return name(Device{});
    const Device decoder = decoder_device_.value_or(device_);
    if (stage == "decoder") return name(decoder);
    const bool both = stage == "frame" && decoder != device_;
    return both ? name(device_) + ", " + name(decoder) : name(device_);
  }

  void time(const std::string& stage, const std::string& unit, const std::string& precision,
            int batch, const std::function<void()>& work) {
    if (context_.progress) context_.progress(stage + " " + precision, rows_.size(), 0);
    const std::string device = devices_of(stage);
    const auto budget = std::chrono::duration<double>(options_.seconds);
    rows_.push_back({stage, unit, device, precision, batch, measure(work, budget, context_.stop)});
  }

  const BenchPipelineOptions& options_;
  Context& context_;
  const Device device_;
  const std::optional<Device> decoder_device_;  // nullopt: device_
  std::vector<StageRow> rows_;
};

}  // namespace

int bench_pipeline(const BenchPipelineOptions& options, Context& context) {
  const std::vector<StageRow> rows = Bench(options, context).run();
  print_stages(rows, options.threads, context);
  return 0;
}

}  // namespace navtalk::cmd
