// The networks of preparation: how long MuseTalk's face detector, landmarks and face parsing take for a picture.
#include <fmt/format.h>

#include <span>

#include "cmd/defaults.h"
#include "cmd/render_module/bodies.h"
#include "cmd/render_module/stage_table.h"
#include "core/base/error.h"
#include "core/text/number.h"
#include "gpu/model/face_detector.h"
#include "gpu/model/face_landmarks.h"
#include "gpu/model/face_parser.h"
#include "gpu/model/model_files.h"
#include "gpu/model/usable_device.h"

namespace navtalk::cmd {
namespace {

constexpr int k_least_bench_side = 32, k_most_bench_side = 8192;

// Noise: no net's time depends on what the picture shows.
Image noise_picture(const std::string& size) {
  const std::size_t cross = size.find('x');
  const auto side = [&](std::string_view text) {
    const auto number = parse_number<int>(text);
    if (!number || *number < k_least_bench_side || *number > k_most_bench_side)
      throw Error(Code::usage, fmt::format("--size {}: it must be WIDTHxHEIGHT, each {} to {}",
                                           size, k_least_bench_side, k_most_bench_side));
    return *number;
  };
  const std::string_view text = size;
  const int width = side(text.substr(0, cross));
  const int height = side(cross == std::string::npos ? "" : text.substr(cross + 1));
  Image picture(width, height);
  std::uint32_t state = 1;
  for (std::uint8_t& pixel : picture.pixels) {
    state = state * 1664525U + 1013904223U;
    pixel = static_cast<std::uint8_t>(state >> 24);
  }
  return picture;
}

class FaceBench {
 public:
  FaceBench(const BenchFacesOptions& options, Context& context)
      : options_(options),
        context_(context),
        models_(models_directory(options.models, context)),
        device_(usable_device(parse_device(options.device))),
        picture_(noise_picture(options.size)) {}

  std::vector<StageRow> run() {
    const bool given = !options_.precisions.empty();
    for (const std::string& precision : given ? options_.precisions : usual_precisions(device_))
      networks(precision);
    if (rows_.empty())
      throw Error(Code::not_found,
                  fmt::format("{} has none of MuseTalk's face networks", models_.string()));
    return rows_;
  }

 private:
  void networks(const std::string& precision) {
    const FaceNetOptions where{
        .device = device_, .precision = *parse_precision(precision), .threads = options_.threads};
    if (const auto file = find_weights(models_, Net::s3fd)) {
      const FaceDetector detector(*file, where);
      time("detector " + options_.size, precision, [&](Pictures seen) { detector.scores(seen); });
    }
    if (const auto file = find_weights(models_, Net::dwpose)) {
      const FaceLandmarks landmarks(*file, where);
      time("landmarks", precision, [&](Pictures seen) { landmarks.bins(seen); });
    }
    if (const auto file = find_weights(models_, Net::bisenet)) {
      const FaceParser parser(*file, where);
      time("face parsing", precision, [&](Pictures seen) { parser.scores(seen); });
    }
  }

  using Pictures = std::span<const ConstImageView>;
  void time(const std::string& stage, const std::string& precision,
            const std::function<void(Pictures)>& work) {
    const auto budget = std::chrono::duration<double>(options_.seconds);
    for (const int batch : options_.batches) {
      if (context_.progress) context_.progress(stage + " " + precision, rows_.size(), 0);
      const std::vector<ConstImageView> pictures(static_cast<std::size_t>(batch), picture_.view());
      rows_.push_back({stage, "ms per picture", name(device_), precision, batch,
                       measure([&] { work(pictures); }, budget, context_.stop)});
    }
  }

  const BenchFacesOptions& options_;
  Context& context_;
  const std::filesystem::path models_;
  const Device device_;
  const Image picture_;
  std::vector<StageRow> rows_;
};

}  // namespace

int bench_faces(const BenchFacesOptions& options, Context& context) {
  print_stages(FaceBench(options, context).run(), options.threads, context);
  return 0;
}

}  // namespace navtalk::cmd
