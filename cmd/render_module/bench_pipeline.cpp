// Every stage between audio and a finished picture, with the nets in each precision and batch that
// is asked for: what one second of avatar costs here, and where the time goes.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cmd/bench/report.h"
#include "cmd/defaults.h"
#include "cmd/render_module/bodies.h"
#include "cmd/terminal/table.h"
#include "core/base/error.h"
#include "gpu/features/mel.h"
#include "gpu/image/compose.h"
#include "gpu/model/model.h"
#include "gpu/model/usable_device.h"

namespace navtalk::cmd {
namespace {

// Two seconds that a live step looks back on, and the tokens that its five frames hear of them.
constexpr std::int64_t k_live_samples = 2 * k_sample_rate_hz, k_live_tokens = 100;
constexpr std::int64_t k_new_tokens = 18;

struct Row {
  std::string stage, unit;
  std::string device;     // of the nets
  std::string precision;  // empty where no net takes part
  int batch = 1;
  Timing timing;
};

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
        device_(usable_device(parse_device(options.device))) {}

  std::vector<Row> run() {
    time("log-mel", "ms per 30 s", "", 1,
         [audio = noise({k_segment_samples})] { log_mel(audio.values); });
    for (const std::string& precision : precisions()) nets(precision);
    return rows_;
  }

 private:
  // All that this machine has, unless told.
  std::vector<std::string> precisions() const {
    if (!options_.precisions.empty()) return options_.precisions;
    if (device_.kind == Device::Kind::cuda) return {"fp32", "fp16"};
    const std::string isa = widest_isa();
    if (isa.starts_with("avx512") || isa.starts_with("amx")) return {"fp32", "bf16", "auto"};
    return {"fp32"};
  }

  void nets(const std::string& precision) {
    Model model = Model::load({.models = models_directory(options_.models, context_),
                               .device = device_,
                               .precision = parse_precision(precision),
                               .threads = options_.threads,
                               .vae_encoder = false});
    const std::string label = precision == "auto" ? auto_label(model.info()) : precision;
    time("whisper", "ms per 30 s", label, 1,
         [&, mel = noise({1, 80, 3000})] { model.whisper_states(mel); });
    live_step(model, label);
    for (const int batch : options_.batches) frames(model, label, batch);
  }

  // What a live session would pay for sound at every step of five frames: whisper knows no window
  // shorter than 30 s, so the last seconds and the silence behind them are encoded anew.
  void live_step(Model& model, const std::string& label) {
    time("audio, live step", "ms per step", label, 1, [&, audio = noise({k_live_samples})] {
      model.whisper_states(log_mel(audio.values), k_live_tokens - k_new_tokens, k_new_tokens);
    });
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

  void time(const std::string& stage, const std::string& unit, const std::string& precision,
            int batch, const std::function<void()>& work) {
    if (context_.progress) context_.progress(stage + " " + precision, rows_.size(), 0);
    const bool nets = stage != "log-mel" && stage != "post-process 720p";
    const std::string device = name(nets ? device_ : Device{});
    const auto budget = std::chrono::duration<double>(options_.seconds);
    rows_.push_back({stage, unit, device, precision, batch, measure(work, budget, context_.stop)});
  }

  const BenchPipelineOptions& options_;
  Context& context_;
  const Device device_;
  std::vector<Row> rows_;
};

double ms(const Row& row, std::chrono::duration<double> time) {
  return std::chrono::duration<double, std::milli>(time).count() / row.batch;
}

// Of whole frames only.
std::string frames_per_second(const Row& row) {
  return row.stage == "frame" ? fmt::format("{:.1f}", 1000.0 / ms(row, row.timing.median)) : "";
}

nlohmann::ordered_json as_json(const Row& row) {
  nlohmann::ordered_json object{{"name", row.stage},
                                {"device", row.device},
                                {"precision", row.precision},
                                {"batch", row.batch},
                                {"unit", row.unit},
                                {"median", ms(row, row.timing.median)},
                                {"p99", ms(row, row.timing.p99)},
                                {"runs", row.timing.runs}};
  if (row.precision.empty()) object.erase("precision");
  if (row.stage == "frame") object["frames_per_second"] = 1000.0 / ms(row, row.timing.median);
  return object;
}

std::vector<std::string> as_text(const Row& row) {
  return {row.stage,
          row.device,
          row.precision,
          std::to_string(row.batch),
          row.unit,
          fmt::format("{:.2f}", ms(row, row.timing.median)),
          fmt::format("{:.2f}", ms(row, row.timing.p99)),
          frames_per_second(row)};
}

void print_table(const std::vector<Row>& rows, const Machine& machine, Context& context) {
  constexpr auto k_right = Column::Align::right;
  std::vector<std::vector<std::string>> cells;
  cells.reserve(rows.size());
  for (const Row& row : rows) cells.push_back(as_text(row));
  context.out.print("{}\n\n", machine_text(machine));
  context.out.write(table({{"stage"},
                           {"device"},
                           {"precision"},
                           {"batch", k_right},
                           {"unit"},
                           {"median", k_right},
                           {"p99", k_right},
                           {"frames/s", k_right}},
                          cells, context.colour));
}

}  // namespace

int bench_pipeline(const BenchPipelineOptions& options, Context& context) {
  const std::vector<Row> rows = Bench(options, context).run();
  Machine machine = this_machine();
  machine.threads =  // the nets take no more than there are cores
      options.threads > 0 ? std::min(options.threads, usable_cores()) : usable_cores();
  if (!context.json) {
    print_table(rows, machine, context);
    return 0;
  }
  auto list = nlohmann::ordered_json::array();
  for (const Row& row : rows) list.push_back(as_json(row));
  context.out.json({{"machine", machine_json(machine)}, {"rows", list}});
  return 0;
}

}  // namespace navtalk::cmd
