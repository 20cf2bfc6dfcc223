// Every image operation on one core and on a GPU, on the whole picture and on the face box, which is what a
// session pays for; and the whole way from a generated face to what the encoder takes.
#include <algorithm>
#include <array>
#include <exception>
#include <nlohmann/json.hpp>
#include <optional>

#include "cmd/bench/report.h"
#include "cmd/render_module/bodies.h"
#include "cmd/terminal/standard_error.h"
#include "cmd/terminal/table.h"
#include "core/base/error.h"
#include "gpu/cuda/devices.h"
#include "gpu/image/blend.h"
#include "gpu/image/color.h"
#include "gpu/image/compose.h"
#include "gpu/image/device/image_bench.h"
#include "gpu/image/gaussian_blur.h"
#include "gpu/image/resize.h"

namespace navtalk::cmd {
namespace {

struct Size {
  const char* name;
  int width, height;
  // A talking head's box takes about six tenths of the height: 432 at 720p.
  int face() const { return height * 3 / 5 / 2 * 2; }
  // The box in the middle, and around it the square of the mask, as avatars have them.
  Placement placement() const {
    const int x = (width - face()) / 2, y = (height - face()) / 2;
    const int reach = face() / 2 * 3 / 2;
    const int middle_x = x + face() / 2, middle_y = y + face() / 2;
    return {.box = {x, y, x + face(), y + face()},
            .crop_box = {middle_x - reach, middle_y - reach, middle_x + reach, middle_y + reach}};
  }
  // The lower half of the crop box, as MuseTalk's masks have it.
  Box mask_region() const {
    const Box crop = placement().crop_box;
    return {0, crop.height() / 2, crop.width(), crop.height()};
  }
};
constexpr std::array<Size, 3> k_sizes{
    {{"512", 512, 512}, {"720p", 1280, 720}, {"1080p", 1920, 1080}}};
constexpr int k_generated = 256;  // side of the face that the model makes

struct Case {
  std::string operation, area;
  int width, height;
  std::function<void()> work;
};

// One operation on the CPU or on the GPU.
struct Row {
  std::string device, size, operation, area;
  int width, height, batch;
  Timing timing;                           // of one call
  std::optional<double> roofline_percent;  // of a GPU's: what copying as many bytes takes
};

// `count` pictures of even noise: the operations take the same time for any content.
struct Pictures {
  Pictures(int pictures, int w, int h, int channels_each = 3)
      : count(pictures), width(w), height(h), channels(channels_each) {
    bytes.resize(static_cast<std::size_t>(count) * width * height * channels);
    std::uint32_t state = 1;
    for (std::uint8_t& byte : bytes) {
      state = state * 1664525U + 1013904223U;
      byte = static_cast<std::uint8_t>(state >> 24);
    }
  }
  BatchView view() { return dense_batch(bytes.data(), count, width, height, channels); }

  int count, width, height, channels;
  std::vector<std::uint8_t> bytes;
};

// The operations on pictures of one size; the buffers outlive the cases that use them.
class Bench {
 public:
  Bench(const Size& size, int batch)
      : frame_(batch, size.width, size.height),
        frame_result_(batch, size.width, size.height),
        frame_mask_(batch, size.width, size.height, 1),
        half_(batch, size.width / 2, size.height / 2),
        generated_(batch, k_generated, k_generated),
        face_(batch, size.face(), size.face()),
        face_result_(batch, size.face(), size.face()),
        face_mask_(batch, size.face(), size.face(), 1),
        placement_(size.placement()),
        mask_region_(size.mask_region()),
        mask_(batch, mask_region_.width(), mask_region_.height(), 1),
        yuv_(static_cast<std::size_t>(batch) * yuv420_bytes(size.width, size.height)) {}

  std::vector<Case> cases() {
    std::vector<Case> all;
    add_resizes(all);
    add_filters(all, "frame", frame_, frame_result_, frame_mask_);
    add_filters(all, "face", face_, face_result_, face_mask_);
    add(all, "compose", "face", face_, [this] { compose_all({}); });
    add(all, "compose, unsharp", "face", face_, [this] { compose_all({.unsharp = Unsharp{}}); });
    const auto post_process = [&](const char* operation, const FaceFinish& finish) {
      add(all, operation, "frame", frame_, [this, finish] {
        compose_all(finish);
        bgr_to_i420(frame_.view(), yuv_.data());
      });
    };
    post_process("post-process", {});
    post_process("post-process, unsharp", {.unsharp = Unsharp{}});
    post_process("post-process, matched", {.match_colour = true});
    add(all, "post-process, half size", "frame", frame_, [this] {
      compose_all({});
      resize(frame_.view(), half_.view(), Interpolation::linear);
      bgr_to_i420(half_.view(), yuv_.data());
    });
    return all;
  }

 private:
  static void add(std::vector<Case>& all, std::string operation, std::string area,
                  const Pictures& on, std::function<void()> work) {
    all.push_back({std::move(operation), std::move(area), on.width, on.height, std::move(work)});
  }

  void add_resizes(std::vector<Case>& all) {
    add(all, "resize, linear", "frame", frame_result_,
        [this] { resize(half_.view(), frame_result_.view(), Interpolation::linear); });
    add(all, "resize, linear", "face", face_result_,
        [this] { resize(generated_.view(), face_result_.view(), Interpolation::linear); });
    add(all, "resize, lanczos4", "frame", frame_result_,
        [this] { resize(half_.view(), frame_result_.view(), Interpolation::lanczos4); });
    add(all, "resize, lanczos4", "face", generated_,
        [this] { resize(face_.view(), generated_.view(), Interpolation::lanczos4); });
  }

  void add_filters(std::vector<Case>& all, const std::string& area, Pictures& picture,
                   Pictures& result, Pictures& mask) {
    add(all, "gaussian blur 5x5", area, picture,
        [&] { gaussian_blur(picture.view(), result.view(), 5, 1.0); });
    add(all, "unsharp mask", area, picture,
        [&] { unsharp_mask(picture.view(), result.view(), Unsharp{}); });
    add(all, "blend", area, picture, [&] { blend(result.view(), picture.view(), mask.view()); });
    add(all, "bgr to i420", area, picture, [&] { bgr_to_i420(picture.view(), yuv_.data()); });
    add(all, "bgr to nv12", area, picture, [&] { bgr_to_nv12(picture.view(), yuv_.data()); });
    add(all, "i420 to bgr", area, picture, [&] { i420_to_bgr(yuv_.data(), result.view()); });
    add(all, "nv12 to bgr", area, picture, [&] { nv12_to_bgr(yuv_.data(), result.view()); });
  }

  void compose_all(const FaceFinish& finish) {
    for (int n = 0; n < frame_.count; ++n)
      compose(frame_.view()[n], generated_.view()[n], placement_, mask_.view()[n], mask_region_,
              finish);
  }

  Pictures frame_, frame_result_, frame_mask_, half_, generated_, face_, face_result_, face_mask_;
  Placement placement_;
  Box mask_region_;
  Pictures mask_;
  std::vector<std::uint8_t> yuv_;
};

const Size& size_named(const std::string& name) {
  return *std::find_if(k_sizes.begin(), k_sizes.end(),
                       [&](const Size& size) { return name == size.name; });
}

// Which device to time beside the CPU, if any; Error{invalid} where it has to be there and is not.
struct Gpu {
  std::optional<cuda::DeviceProperties> device;
  std::string missing;          // why there is none
  double bytes_per_second = 0;  // measured: of a copy inside the device
};
Gpu find_gpu(const std::string& device) {
  if (device == "cpu") return {{}, "not asked for"};
  const cuda::Devices devices = cuda::devices();
  if (!devices.list.empty()) return {devices.list.front(), {}};
  if (device == "cuda") throw Error(Code::invalid, "device 'cuda': " + devices.missing);
  return {{}, devices.missing};
}

void add_cpu_rows(std::vector<Row>& rows, const Size& size, int batch,
                  const BenchImageOptions& options, const Context& context) {
  Bench bench(size, batch);
  std::vector<Case> cases = bench.cases();
  // As on a GPU, what the frame pays comes first.
  std::stable_partition(cases.begin(), cases.end(),
                        [](const Case& one) { return one.area == "frame"; });
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::string stage = std::string(size.name) + " batch " + std::to_string(batch);
    if (context.progress) context.progress(stage, i, cases.size());
    const Case& one = cases[i];
    const auto budget = std::chrono::duration<double>(options.seconds);
    rows.push_back({"cpu",
                    size.name,
                    one.operation,
                    one.area,
                    one.width,
                    one.height,
                    batch,
                    measure(one.work, budget, context.stop),
                    {}});
  }
}

void add_gpu_rows(std::vector<Row>& rows, Gpu& gpu, const Size& size, int batch,
                  const BenchImageOptions& options, const Context& context) {
  const cuda::BenchPictures pictures{batch,       size.width,       size.height,
                                     size.face(), size.placement(), size.mask_region()};
  cuda::ImageBench bench;
  std::exception_ptr ended;
  try {
    cuda::bench_images(pictures, std::chrono::duration<double>(options.seconds), context.stop,
                       bench);
  } catch (...) {
    ended = std::current_exception();
  }
  gpu.bytes_per_second = std::max(gpu.bytes_per_second, bench.bytes_per_second);
  for (cuda::ImageTimes& times : bench.times) {
    const bool face = times.area == "face";
    Row row{"cuda:0",
            size.name,
            times.operation,
            times.area,
            face ? size.face() : size.width,
            face ? size.face() : size.height,
            batch,
            timing_of(std::move(times.runs)),
            {}};
    if (times.bytes > 0)
      row.roofline_percent = 100 * static_cast<double>(times.bytes) / bench.bytes_per_second /
                             row.timing.median.count();
    rows.push_back(std::move(row));
  }
  if (ended) std::rethrow_exception(ended);
}

void run(std::vector<Row>& rows, const BenchImageOptions& options, Gpu& gpu,
         const Context& context) {
  for (const std::string& name : options.sizes)
    for (const int batch : options.batches) {
      // The quicker one first, so that a time limit finds rows to compare.
      if (gpu.device) add_gpu_rows(rows, gpu, size_named(name), batch, options, context);
      add_cpu_rows(rows, size_named(name), batch, options, context);
    }
}

double ms_per_picture(std::chrono::duration<double> time, int batch) {
  return std::chrono::duration<double, std::milli>(time).count() / batch;
}

nlohmann::ordered_json as_json(const Row& row) {
  nlohmann::ordered_json object{{"name", row.operation},
                                {"device", row.device},
                                {"size", row.size},
                                {"area", row.area},
                                {"width", row.width},
                                {"height", row.height},
                                {"batch", row.batch},
                                {"unit", "ms per picture"},
                                {"median", ms_per_picture(row.timing.median, row.batch)},
                                {"p99", ms_per_picture(row.timing.p99, row.batch)},
                                {"runs", row.timing.runs}};
  if (row.roofline_percent) object["roofline_percent"] = *row.roofline_percent;
  return object;
}

nlohmann::ordered_json as_json(const Gpu& gpu) {
  if (!gpu.device) return {{"missing", gpu.missing}};
  return {{"name", gpu.device->name},
          {"capability", gpu.device->capability},
          {"multiprocessors", gpu.device->multiprocessors},
          {"memory_gib", static_cast<double>(gpu.device->memory_bytes) / (1 << 30)},
          {"l2_mib", static_cast<double>(gpu.device->l2_bytes) / (1 << 20)},
          {"copy_gb_per_s", gpu.bytes_per_second / 1e9}};
}

std::string gpu_text(const Gpu& gpu) {
  if (!gpu.device) return "no GPU column: " + gpu.missing;
  return fmt::format(
      "GPU: {}, {} multiprocessors, {:.0f} GiB, copies {:.0f} GB/s (read and written)",
      gpu.device->name, gpu.device->multiprocessors,
      static_cast<double>(gpu.device->memory_bytes) / (1 << 30), gpu.bytes_per_second / 1e9);
}

bool same_work(const Row& a, const Row& b) {
  return a.size == b.size && a.batch == b.batch && a.operation == b.operation && a.area == b.area;
}

// A line for each operation: the CPU's cells, then the GPU's; what one of them lacks stays empty.
std::vector<std::string> as_text(const Row* cpu, const Row* gpu) {
  const Row& row = cpu != nullptr ? *cpu : *gpu;
  std::vector<std::string> cells{row.operation,
                                 row.size,
                                 fmt::format("{} {}x{}", row.area, row.width, row.height),
                                 std::to_string(row.batch),
                                 "",
                                 "",
                                 "",
                                 "",
                                 "",
                                 ""};
  if (cpu != nullptr) {
    cells[4] = fmt::format("{:.3f}", ms_per_picture(cpu->timing.median, cpu->batch));
    cells[5] = fmt::format("{:.3f}", ms_per_picture(cpu->timing.p99, cpu->batch));
  }
  if (gpu != nullptr) {
    cells[6] = fmt::format("{:.5f}", ms_per_picture(gpu->timing.median, gpu->batch));
    cells[7] = fmt::format("{:.5f}", ms_per_picture(gpu->timing.p99, gpu->batch));
    if (gpu->roofline_percent) cells[8] = fmt::format("{:.0f} %", *gpu->roofline_percent);
    if (cpu != nullptr) cells[9] = fmt::format("{:.0f}", cpu->timing.median / gpu->timing.median);
  }
  return cells;
}

std::string as_text(const std::vector<Row>& rows, const Machine& machine, const Gpu& gpu,
                    bool colour) {
  constexpr auto k_right = Column::Align::right;
  std::vector<Column> columns{
      {"operation"},           {"size"},        {"area"}, {"batch", k_right},
      {"cpu median", k_right}, {"p99", k_right}};
  if (gpu.device)
    columns.insert(columns.end(), {{"gpu median", k_right},
                                   {"p99", k_right},
                                   {"of roofline", k_right},
                                   {"cpu/gpu", k_right}});
  std::vector<std::vector<std::string>> cells;
  for (const Row& row : rows) {
    const auto other = std::find_if(rows.begin(), rows.end(), [&](const Row& one) {
      return one.device != row.device && same_work(one, row);
    });
    const Row* partner = other == rows.end() ? nullptr : &*other;
    if (row.device == "cpu")
      cells.push_back(as_text(&row, partner));
    else if (partner == nullptr)
      cells.push_back(as_text(nullptr, &row));
    else
      continue;
    cells.back().resize(columns.size());
  }
  return fmt::format("{}\n{}\nmilliseconds per picture; the CPU with one core\n\n{}",
                     machine_text(machine), gpu_text(gpu), table(columns, cells, colour));
}

void print(const std::vector<Row>& rows, const Machine& machine, const Gpu& gpu,
           const BenchImageOptions& options, Context& context) {
  if (!context.json) return context.out.write(as_text(rows, machine, gpu, context.colour));
  if (options.table_beside_json) write_standard_error(as_text(rows, machine, gpu, false));
  auto list = nlohmann::ordered_json::array();
  for (const Row& row : rows) list.push_back(as_json(row));
  context.out.json({{"machine", machine_json(machine)}, {"gpu", as_json(gpu)}, {"rows", list}});
}

}  // namespace

int bench_image(const BenchImageOptions& options, Context& context) {
  const Machine machine = this_machine();
  Gpu gpu = find_gpu(options.device);
  std::vector<Row> rows;
  try {
    run(rows, options, gpu, context);
  } catch (...) {
    if (!rows.empty()) {
      print(rows, machine, gpu, options, context);  // what was measured until a signal
      context.out.flush();
    }
    throw;
  }
  print(rows, machine, gpu, options, context);
  return 0;
}

}  // namespace navtalk::cmd
