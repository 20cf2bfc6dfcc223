// usage: gpu_bench_nets [--device cuda|cpu] [--models FOLDER | --size full|small] [--precision fp16,fp32] [--batch 1,2,4,8]
//                       [--decoded N] [--time SECONDS] [--launches no]
//        gpu_bench_nets --profile yes [--models FOLDER | --size full|small] [--batch N]
//        gpu_bench_nets --write-models FOLDER [--size full|small]
// Times UNet, decoder and the launch that puts faces into 720p frames on one device, each between two events of the device: "unet",
// "decoder", "paste", "faces" (UNet and decoder) and "frame" (all three), once as recorded graphs and once kernel by kernel; and
// "pictures", Model::pictures() by the host's clock until they lie in its memory. Random weights without --models. JSON on standard
// output, a table on standard error. --decoded: faces in one pass of the decoder (default: as Model has it).
// --profile: one pass of UNet and decoder in fp16, kernel by kernel, which a profiler is told to record (ncu --profile-from-start off).
#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <cuda_profiler_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "cmd/bench/report.h"
#include "cmd/terminal/table.h"
#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "gpu/cuda/devices.h"
#include "gpu/cuda/launch_timer.h"
#include "gpu/model/device_pool.h"
#include "gpu/model/model.h"
#include "gpu/model/model_files.h"
#include "gpu/model/usable_device.h"
#include "gpu/nets/device_stream.h"
#include "gpu/nets/execution.h"
#include "gpu/timing/bench_face.h"
#include "gpu/timing/event_times.h"
#include "gpu/timing/timed_nets.h"
#include "tests/gpu/nets/random_model.h"
#include "tests/temporary_directory.h"

using namespace navtalk;

namespace {

using Durations = std::vector<std::chrono::duration<double>>;

constexpr const char* k_usage =
    "usage: gpu_bench_nets [--device cuda|cpu] [--models FOLDER | --size full|small] [--precision "
    "fp16,fp32] [--batch 1,2,4,8] [--decoded N] [--time SECONDS] [--launches no] [--profile yes], "
    "or gpu_bench_nets --write-models FOLDER [--size full|small]";

struct Options {
  Device device{.kind = Device::Kind::cuda, .index = 0};
  std::filesystem::path models{}, write{};
  bool full = true;
  std::vector<Precision> precisions{Precision::fp16};
  std::vector<std::int64_t> batches{1, 2, 4, 8};
  std::int64_t decoded = 0;  // 0: as Model has it
  double seconds = 0.5;      // of each row, at least
  bool launches = true;
  bool profile = false;
};

struct Row {
  std::string name, precision, way, clock;
  std::int64_t batch = 1;
  cmd::Timing timing{};      // of the batch
  std::uint64_t memory = 0;  // bytes that libtorch held at most; 0: not looked at
};

std::vector<std::string> words(const std::string& list) {
  std::vector<std::string> all;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    all.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return all;
}

std::int64_t count_of(const std::string& text) {
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  const std::int64_t count = digits && text.size() < 4 ? std::stol(text) : 0;
  if (count < 1) throw Error(Code::usage, k_usage);
  return count;
}

Options parsed(const std::vector<std::string>& arguments) {
  Options options;
  if (arguments.size() % 2 != 0) throw Error(Code::usage, k_usage);
  for (std::size_t i = 0; i < arguments.size(); i += 2) {
    const std::string &name = arguments[i], &value = arguments[i + 1];
    if (name == "--device") {
      options.device = parse_device(value).value_or(options.device);
    } else if (name == "--models") {
      options.models = value;
    } else if (name == "--write-models") {
      options.write = value;
    } else if (name == "--size" && (value == "full" || value == "small")) {
      options.full = value == "full";
    } else if (name == "--precision") {
      options.precisions.clear();
      for (const std::string& one : words(value))
        options.precisions.push_back(parse_precision(one).value_or(Precision::fp16));
    } else if (name == "--batch") {
      options.batches.clear();
      for (const std::string& one : words(value)) options.batches.push_back(count_of(one));
    } else if (name == "--decoded") {
      options.decoded = count_of(value);
    } else if (name == "--launches" && (value == "yes" || value == "no")) {
      options.launches = value == "yes";
    } else if (name == "--profile" && value == "yes") {
      options.profile = true;
    } else if (name == "--time") {
      options.seconds = std::stod(value);
    } else {
      throw Error(Code::usage, k_usage);
    }
  }
  return options;
}

void write_models(const std::filesystem::path& folder, bool full) {
  tests::RandomModel model;
  if (full) model = {.unet = {}, .vae = {}, .whisper = {}};
  tests::write_random_model(folder, model);
}

class Bench {
 public:
  Bench(const Options& options, const ModelFiles& files, std::stop_token stop)
      : options_(options), files_(files), stop_(std::move(stop)) {
    const cuda::Devices found = cuda::devices();
    const auto index = static_cast<std::size_t>(options.device.index);
    if (on_gpu() && index < found.list.size()) gpu_ = found.list[index];
  }

  void run() {
    for (const Precision precision : options_.precisions) {
      const std::int64_t decoded = pictures(precision);
      for (const bool graphs : {true, false}) {
        if (graphs ? !on_gpu() : on_gpu() && !options_.launches) continue;
        const c10::InferenceMode inference;
        const c10::DeviceGuard device(torch_device(options_.device));
        const TimedNets nets(files_, options_.device, precision, WeightFormat::computed,
                             options_.decoded > 0 ? options_.decoded : decoded, graphs);
        for (const std::int64_t batch : options_.batches) time_nets(nets, precision, graphs, batch);
      }
    }
  }

  void profile() {
    const c10::InferenceMode inference;
    const c10::DeviceGuard device(torch_device(options_.device));
    const std::int64_t batch = options_.batches.front();
    const std::int64_t decoded =
        options_.decoded > 0 ? options_.decoded : gpu_execution(Precision::fp16).decoded;
    const TimedNets nets(files_, options_.device, Precision::fp16, WeightFormat::computed, decoded,
                         false);
    const nets::Tensors inputs = nets.unet_inputs(batch);
    const c10::impl::VirtualGuardImpl guard(nets.device().type());
    for (const bool recorded : {false, true}) {
      if (recorded) cudaProfilerStart();
      nets.decode(nets.unet(inputs));
      guard.synchronizeDevice(nets.device().index());
      if (recorded) cudaProfilerStop();
    }
  }

  bool has_rows() const { return !rows_.empty(); }
  void print() const {
    auto list = nlohmann::ordered_json::array();
    std::vector<std::vector<std::string>> cells;
    for (const Row& row : rows_) {
      list.push_back(as_json(row));
      cells.push_back(as_cells(row));
    }
    nlohmann::ordered_json all{{"machine", cmd::machine_json(this_machine())}};
    if (gpu_) all["gpu"] = {{"name", gpu_->name}, {"memory_bytes", gpu_->memory_bytes}};
    all["models"] = options_.models.empty() ? "random" : options_.models.string();
    all["rows"] = list;
    constexpr auto k_right = cmd::Column::Align::right;
    fmt::print(stderr, "{}milliseconds per frame\n\n{}", gpu_ ? gpu_->name + ", " : "",
               cmd::table({{"stage"},
                           {"precision"},
                           {"way"},
                           {"clock"},
                           {"batch", k_right},
                           {"median", k_right},
                           {"p99", k_right},
                           {"frames/s", k_right},
                           {"MiB", k_right}},
                          cells));
    fmt::print("{}\n", all.dump());
  }

 private:
  bool on_gpu() const { return options_.device.kind == Device::Kind::cuda; }
  std::chrono::duration<double> budget() const {
    return std::chrono::duration<double>(options_.seconds);
  }

  // Returns how many faces the decoder takes in one pass.
  std::int64_t pictures(Precision precision) {
    Model model = Model::load({.models = files_.root,
                               .device = options_.device,
                               .precision = precision,
                               .as_on_gpu = !on_gpu(),
                               .whisper = false,
                               .vae_encoder = false});
    const ModelInfo& info = model.info();
    const auto avatar = std::make_shared<const int>(0);
    for (const std::int64_t batch : options_.batches) {
      if (!on_gpu()) break;  // the launch that puts faces into frames has no twin of that form
      restart_pool(options_.device);
      std::vector<PlacedFrame> frames;
      for (std::int64_t i = 0; i < batch; ++i)
        frames.push_back(bench_face::placed_frame(avatar, i));
      const NdArray<float> windows =
          bench_face::noise({batch, info.context_rows, info.context_width});
      for (int i = 0; i < 3; ++i) model.pictures(frames, windows);  // until there are graphs
      const auto timing = cmd::measure([&] { model.pictures(frames, windows); }, budget(), stop_);
      rows_.push_back({"pictures", std::string(name(precision)), "graphs", "host", batch, timing,
                       device_pool(options_.device).most});
    }
    return info.execution.decoded;
  }

  void time_nets(const TimedNets& nets, Precision precision, bool graphs, std::int64_t batch) {
    const auto row = [&](const char* name, Durations runs) {
      rows_.push_back({name, std::string(navtalk::name(precision)), graphs ? "graphs" : "launches",
                       on_gpu() ? "events" : "host", batch, cmd::timing_of(std::move(runs))});
    };
    const nets::Tensors inputs = nets.unet_inputs(batch);
    const at::Tensor talking = nets.noise({batch, 4, k_latent_size, k_latent_size});
    row("unet", times(nets, [&] { nets.unet(inputs); }));
    row("decoder", times(nets, [&] { nets.decode(talking); }));
    row("faces", times(nets, [&] { nets.decode(nets.unet(inputs)); }));
    if (!on_gpu()) return;
    const TimedPastes pastes(nets.device(), batch, gpu_ ? gpu_->l2_bytes : 0);
    row("paste", paste_times(nets, talking, pastes));
    std::int64_t index = 0;
    row("frame", times(nets, [&] {
          const nets::Tensors faces = in_nhwc(nets.decode(nets.unet(inputs)));
          TimedPastes::launch(pastes.set(index, faces), faces.front().scalar_type(),
                              nets::stream_of(nets.device()));
          index = (index + 1) % pastes.sets();
        }));
  }

  Durations times(const TimedNets& nets, const std::function<void()>& work) const {
    return event_times(nets.device(), work, budget(), stop_);
  }

  // Of one launch, in a graph of all sets.
  Durations paste_times(const TimedNets& nets, const at::Tensor& talking,
                        const TimedPastes& pastes) const {
    std::vector<nets::Tensors> faces;
    std::vector<std::vector<cuda::FacePaste>> sets;
    for (std::int64_t i = 0; i < pastes.sets(); ++i) {
      faces.push_back(in_nhwc(nets.decode(talking)));
      sets.push_back(pastes.set(i, faces.back()));
    }
    // The timer has a stream of its own.
    c10::impl::VirtualGuardImpl(nets.device().type()).synchronizeDevice(nets.device().index());
    const auto enqueue = [&](cuda::Stream stream) {
      for (const auto& set : sets)
        TimedPastes::launch(set, faces.front().front().scalar_type(), stream);
    };
    cuda::LaunchTimer timer;
    return timer.time(enqueue, static_cast<int>(sets.size()), budget(), stop_);
  }

  static double ms(const Row& row, std::chrono::duration<double> time) {
    return 1000 * time.count() / static_cast<double>(row.batch);
  }
  static bool whole(const Row& row) {
    return row.name == "faces" || row.name == "frame" || row.name == "pictures";
  }

  nlohmann::ordered_json as_json(const Row& row) const {
    const double median = ms(row, row.timing.median);
    nlohmann::ordered_json object{{"name", row.name},
                                  {"device", navtalk::name(options_.device)},
                                  {"precision", row.precision},
                                  {"way", row.way},
                                  {"clock", row.clock},
                                  {"batch", row.batch},
                                  {"unit", "ms per frame"},
                                  {"median", median},
                                  {"p99", ms(row, row.timing.p99)},
                                  {"runs", row.timing.runs}};
    if (whole(row)) object["frames_per_second"] = 1000 / median;
    if (row.memory > 0) object["memory_bytes"] = row.memory;
    return object;
  }

  static std::vector<std::string> as_cells(const Row& row) {
    const double median = ms(row, row.timing.median);
    return {row.name,
            row.precision,
            row.way,
            row.clock,
            std::to_string(row.batch),
            fmt::format("{:.3f}", median),
            fmt::format("{:.3f}", ms(row, row.timing.p99)),
            whole(row) ? fmt::format("{:.1f}", 1000 / median) : "",
            row.memory > 0 ? std::to_string(row.memory >> 20) : ""};
  }

  const Options& options_;
  const ModelFiles& files_;
  std::stop_token stop_;
  std::optional<cuda::DeviceProperties> gpu_{};
  std::vector<Row> rows_;
};

void run(const Options& options) {
  const SignalStop stop;
  if (!options.write.empty()) return write_models(options.write, options.full);
  usable_device(options.device);
  std::optional<tests::TemporaryDirectory> made;
  std::filesystem::path models = options.models;
  if (models.empty()) {
    models = made.emplace().path();
    write_models(models, options.full);
  }
  const ModelFiles files = find_model_files(models);
  Bench bench(options, files, stop.token());
  if (options.profile) return bench.profile();
  try {
    bench.run();
  } catch (...) {
    if (bench.has_rows())
      bench.print();  // what was measured until a time limit, or until memory was short
    throw;
  }
  bench.print();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(parsed({argv + 1, argv + argc}));
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "gpu_bench_nets: %s\n", error.what());
    return exit_status(error.code());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpu_bench_nets: %s\n", error.what());
    return 1;
  }
}
