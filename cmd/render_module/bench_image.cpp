// Every image operation on one core, on the whole picture and on the face box, which is what a
// session pays for; and the whole way from a generated face to what the encoder takes.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "cmd/bench/report.h"
#include "cmd/render_module/bodies.h"
#include "cmd/terminal/table.h"
#include "gpu/image/blend.h"
#include "gpu/image/color.h"
#include "gpu/image/compose.h"
#include "gpu/image/gaussian_blur.h"
#include "gpu/image/resize.h"

namespace navtalk::cmd {
namespace {

struct Size {
  const char* name;
  int width, height;
  // A talking head's box takes about six tenths of the height: 432 at 720p.
  int face() const { return height * 3 / 5 / 2 * 2; }
};
constexpr std::array<Size, 3> k_sizes{
    {{"512", 512, 512}, {"720p", 1280, 720}, {"1080p", 1920, 1080}}};
constexpr int k_generated = 256;  // side of the face that the model makes

struct Case {
  std::string operation, area;
  int width, height;
  std::function<void()> work;
};

struct Row {
  std::string size;
  Case what;
  int batch;
  Timing timing;
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
        placement_(centred(size)),
        mask_region_{0, placement_.crop_box.height() / 2, placement_.crop_box.width(),
                     placement_.crop_box.height()},
        mask_(batch, mask_region_.width(), mask_region_.height(), 1),
        yuv_(static_cast<std::size_t>(batch) * yuv420_bytes(size.width, size.height)) {}

  std::vector<Case> cases() {
    std::vector<Case> all;
    add_resizes(all);
    add_filters(all, "frame", frame_, frame_result_, frame_mask_);
    add_filters(all, "face", face_, face_result_, face_mask_);
    add(all, "compose", "face", face_, [this] { compose_all(std::nullopt); });
    add(all, "compose, unsharp", "face", face_, [this] { compose_all(Unsharp{}); });
    add(all, "post-process", "frame", frame_, [this] {
      compose_all(std::nullopt);
      bgr_to_i420(frame_.view(), yuv_.data());
    });
    add(all, "post-process, unsharp", "frame", frame_, [this] {
      compose_all(Unsharp{});
      bgr_to_i420(frame_.view(), yuv_.data());
    });
    return all;
  }

 private:
  // The box in the middle, and around it the square of the mask, as avatars have them.
  static Placement centred(const Size& size) {
    const int x = (size.width - size.face()) / 2, y = (size.height - size.face()) / 2;
    const int reach = size.face() / 2 * 3 / 2;
    const int middle_x = x + size.face() / 2, middle_y = y + size.face() / 2;
    return {.box = {x, y, x + size.face(), y + size.face()},
            .crop_box = {middle_x - reach, middle_y - reach, middle_x + reach, middle_y + reach}};
  }

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

  void compose_all(const std::optional<Unsharp>& unsharp) {
    for (int n = 0; n < frame_.count; ++n)
      compose(frame_.view()[n], generated_.view()[n], placement_, mask_.view()[n], mask_region_,
              unsharp);
  }

  Pictures frame_, frame_result_, frame_mask_, half_, generated_, face_, face_result_, face_mask_;
  Placement placement_;
  Box mask_region_;  // the lower half of the crop box, as MuseTalk's masks have it
  Pictures mask_;
  std::vector<std::uint8_t> yuv_;
};

const Size& size_named(const std::string& name) {
  return *std::find_if(k_sizes.begin(), k_sizes.end(),
                       [&](const Size& size) { return name == size.name; });
}

std::vector<Row> run(const BenchImageOptions& options, const Context& context) {
  std::vector<Row> rows;
  for (const std::string& name : options.sizes)
    for (const int batch : options.batches) {
      Bench bench(size_named(name), batch);
      const std::vector<Case> cases = bench.cases();
      for (std::size_t i = 0; i < cases.size(); ++i) {
        const std::string stage = name + " batch " + std::to_string(batch);
        if (context.progress) context.progress(stage, i, cases.size());
        const auto budget = std::chrono::duration<double>(options.seconds);
        rows.push_back({name, cases[i], batch, measure(cases[i].work, budget, context.stop)});
      }
    }
  return rows;
}

double ms_per_picture(std::chrono::duration<double> time, int batch) {
  return std::chrono::duration<double, std::milli>(time).count() / batch;
}

nlohmann::ordered_json as_json(const Row& row) {
  return {{"name", row.what.operation},
          {"device", "cpu"},
          {"size", row.size},
          {"area", row.what.area},
          {"width", row.what.width},
          {"height", row.what.height},
          {"batch", row.batch},
          {"unit", "ms per picture"},
          {"median", ms_per_picture(row.timing.median, row.batch)},
          {"p99", ms_per_picture(row.timing.p99, row.batch)},
          {"runs", row.timing.runs}};
}

std::vector<std::string> as_text(const Row& row) {
  return {row.what.operation,
          row.size,
          fmt::format("{} {}x{}", row.what.area, row.what.width, row.what.height),
          std::to_string(row.batch),
          fmt::format("{:.3f}", ms_per_picture(row.timing.median, row.batch)),
          fmt::format("{:.3f}", ms_per_picture(row.timing.p99, row.batch))};
}

void print_table(const std::vector<Row>& rows, const Machine& machine, Context& context) {
  constexpr auto k_right = Column::Align::right;
  std::vector<std::vector<std::string>> cells;
  cells.reserve(rows.size());
  for (const Row& row : rows) cells.push_back(as_text(row));
  context.out.print("{}\nmilliseconds per picture, one core\n\n", machine_text(machine));
  context.out.write(table({{"operation"},
                           {"size"},
                           {"area"},
                           {"batch", k_right},
                           {"cpu median", k_right},
                           {"p99", k_right}},
                          cells, context.colour));
}

}  // namespace

int bench_image(const BenchImageOptions& options, Context& context) {
  const Machine machine = this_machine();
  const std::vector<Row> rows = run(options, context);
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
