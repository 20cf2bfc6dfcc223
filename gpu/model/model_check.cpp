#include "gpu/model/model_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "gpu/model/model_files.h"
#include "gpu/nets/expected_tensors.h"
#include "gpu/nets/faces/expected_bisenet.h"
#include "gpu/nets/faces/expected_dwpose.h"
#include "gpu/nets/faces/expected_s3fd.h"

namespace navtalk {
namespace {

namespace fs = std::filesystem;

// The first of the names that is a file below the folder, else the last, under which the original
// is published.
FileReport look_for(const fs::path& root, std::string what, const fs::path& folder,
                    const std::vector<std::string>& names, bool needed) {
  FileReport report{.what = std::move(what), .path = folder / names.back(), .needed = needed};
  for (const std::string& name : names) {
    std::error_code ignored;
    if (!fs::is_regular_file(root / folder / name, ignored)) continue;
    report.path = folder / name;
    report.state = FileState::readable;
    const std::uintmax_t bytes = fs::file_size(root / report.path, ignored);
    report.bytes = ignored ? 0 : bytes;
    return report;
  }
  report.problems.push_back(
      fmt::format("{}: not there{}", (folder / names.back()).native(),
                  needed ? "" : "; only preparing avatars with MuseTalk's face networks needs it"));
  return report;
}

void spoil(FileReport& report, std::string problem) {
  report.state = FileState::unfit;
  report.problems.push_back(std::move(problem));
}

// The configuration, when the file is there and says what navtalk can do.
template <class Read>
auto check_config(const fs::path& root, FileReport& report, Read read)
    -> std::optional<decltype(read(root))> {
  if (report.state == FileState::missing) return std::nullopt;
  try {
    auto config = read(root / report.path);
    report.container = "json";
    report.state = FileState::fits;
    return config;
  } catch (const Error& error) {
    spoil(report, error.message());
    return std::nullopt;
  }
}

void describe(FileReport& report, const char* fault, const std::vector<std::string>& tensors) {
  constexpr std::size_t k_shown = 8;
  if (tensors.empty()) return;
  const std::vector<std::string> shown(
      tensors.begin(),
      tensors.begin() + static_cast<std::ptrdiff_t>(std::min(k_shown, tensors.size())));
  std::string text = fmt::format("{}: {} {}: {}", report.path.native(), tensors.size(), fault,
                                 fmt::join(shown, ", "));
  if (tensors.size() > k_shown) text += fmt::format(" and {} more", tensors.size() - k_shown);
  spoil(report, std::move(text));
}

std::optional<Checkpoint> open(const fs::path& root, FileReport& report) {
  if (report.state == FileState::missing) return std::nullopt;
  try {
    Checkpoint checkpoint = Checkpoint::open(root / report.path);
    report.container = name(checkpoint.container());
    report.tensors = checkpoint.tensors();
    return checkpoint;
  } catch (const Error& error) {
    spoil(report, error.message());
    return std::nullopt;
  }
}

void check_fit(FileReport& report, Net net, const Checkpoint& checkpoint,
               const std::vector<TensorInfo>& expected) {
  report.state = FileState::fits;
  report.fit = compare(net, checkpoint, expected);
  describe(report, "missing", report.fit.missing);
  describe(report, "surplus", report.fit.surplus);
  describe(report, "of the wrong shape", report.fit.mis_shaped);
  describe(report, "of the wrong dtype", report.fit.wrong_dtype);
}

void check_weights(const fs::path& root, FileReport& report, Net net,
                   const std::optional<std::vector<TensorInfo>>& expected) {
  const std::optional<Checkpoint> checkpoint = open(root, report);
  if (checkpoint && expected) check_fit(report, net, *checkpoint, *expected);
}

FileReport weights_of(const fs::path& root, const char* what, Net net) {
  const NetFiles files = net_files(net);
  return look_for(root, what, files.folder, files.names, true);
}

FileReport config_of(const fs::path& root, const char* what, Net net) {
  const NetFiles files = net_files(net);
  return look_for(root, what, files.folder, {files.config}, true);
}

// The three nets, each behind its configuration.
std::vector<FileReport> check_nets(const fs::path& root) {
  FileReport unet_json = config_of(root, "UNet configuration", Net::unet);
  FileReport vae_json = config_of(root, "VAE configuration", Net::vae);
  FileReport whisper_json = config_of(root, "whisper configuration", Net::whisper);
  const auto unet = check_config(root, unet_json, read_unet_config);
  const auto vae = check_config(root, vae_json, read_vae_config);
  const auto whisper = check_config(root, whisper_json, read_whisper_config);
  if (unet && vae && whisper) {
    try {
      check_together(*unet, *vae, *whisper);
    } catch (const Error& error) {
      spoil(unet_json, error.message());
    }
  }
  FileReport unet_weights = weights_of(root, "UNet", Net::unet);
  FileReport vae_weights = weights_of(root, "VAE", Net::vae);
  FileReport whisper_weights = weights_of(root, "whisper encoder", Net::whisper);
  using Expected = std::optional<std::vector<TensorInfo>>;
  check_weights(root, unet_weights, Net::unet, unet ? Expected(expected_unet(*unet)) : Expected());
  check_weights(root, vae_weights, Net::vae, vae ? Expected(expected_vae(*vae)) : Expected());
  check_weights(root, whisper_weights, Net::whisper,
                whisper ? Expected(expected_whisper(*whisper)) : Expected());
  return {std::move(unet_json),   std::move(unet_weights), std::move(vae_json),
          std::move(vae_weights), std::move(whisper_json), std::move(whisper_weights)};
}

FileReport check_preprocessor(const fs::path& root) {
  FileReport report =
      look_for(root, "whisper features", "whisper", {"preprocessor_config.json"}, false);
  if (report.state == FileState::missing)
    report.problems = {fmt::format("{}: not there; its defaults apply", report.path.native())};
  check_config(root, report, [](const fs::path& path) {
    check_preprocessor_config(path);
    return true;
  });
  return report;
}

// Without a configuration: the file's own shapes say what belongs together. `expected`: from a checkpoint.
template <class Expected>
FileReport check_face_network(const fs::path& root, const char* what, Net net, Expected expected) {
  const NetFiles files = net_files(net);
  FileReport report = look_for(root, what, files.folder, files.names, false);
  const std::optional<Checkpoint> checkpoint = open(root, report);
  if (!checkpoint) return report;
  try {
    check_fit(report, net, *checkpoint, expected(*checkpoint));
  } catch (const Error& error) {
    spoil(report, error.message());
  }
  return report;
}

std::vector<FileReport> check_face_networks(const fs::path& root) {
  return {check_face_network(
              root, "face landmarks (DWPose)", Net::dwpose,
              [](const Checkpoint& file) { return expected_dwpose(dwpose_config(file)); }),
          check_face_network(
              root, "face parsing (BiSeNet)", Net::bisenet,
              [](const Checkpoint& file) { return expected_bisenet(bisenet_config(file)); }),
          check_face_network(root, "face detector (S3FD)", Net::s3fd, [](const Checkpoint& file) {
            return expected_s3fd(s3fd_config(file));
          })};
}

void hash(ModelReport& report, const ModelCheckOptions& options) {
  std::uint64_t total = 0, before = 0;
  for (const FileReport& file : report.files) total += file.bytes;
  for (FileReport& file : report.files) {
    if (file.state == FileState::missing) continue;
    const Progress progress = [&](std::string_view stage, std::size_t done, std::size_t) {
      throw_if_stopped(options.stop);
      if (options.progress) options.progress(stage, before + done, total);
    };
    try {
      file.sha256 = sha256_file(report.root / file.path, progress);
    } catch (const Error& error) {
      if (error.code() == Code::interrupted || error.code() == Code::terminated) throw;
      spoil(file, error.message());
    }
    before += file.bytes;
  }
}

bool all_finite(const Checkpoint& checkpoint, const TensorInfo& tensor) {
  using enum DType;
  if (tensor.dtype != f64 && tensor.dtype != f32 && tensor.dtype != f16 && tensor.dtype != bf16)
    return true;
  const NdArray<float> values = checkpoint.read_f32(tensor.name);
  return std::all_of(values.values.begin(), values.values.end(),
                     [](float value) { return std::isfinite(value); });
}

// A training that went astray leaves weights that fit and render nothing.
void check_values(const fs::path& root, FileReport& report, const std::stop_token& stop) {
  if (report.state != FileState::fits || report.tensors.empty()) return;
  const std::optional<Checkpoint> checkpoint = open(root, report);
  if (!checkpoint) return;
  std::vector<std::string> broken;
  for (const TensorInfo& tensor : report.tensors) {
    throw_if_stopped(stop);
    try {
      if (!all_finite(*checkpoint, tensor)) broken.push_back(tensor.name);
    } catch (const Error& error) {
      spoil(report, error.message());
    }
  }
  describe(report, "with values that are infinite or no numbers", broken);
}

}  // namespace

std::string_view name(FileState state) {
  switch (state) {
    case FileState::fits:
      return "fits";
    case FileState::readable:
      return "readable";
    case FileState::missing:
      return "missing";
    case FileState::unfit:
      return "does not fit";
  }
  return "?";
}

bool ModelReport::fits() const {
  return std::none_of(files.begin(), files.end(), [](const FileReport& file) {
    return file.state == FileState::unfit || (file.needed && file.state != FileState::fits);
  });
}

ModelReport check_models(const fs::path& root, const ModelCheckOptions& options) {
  std::error_code ignored;
  if (!fs::is_directory(root, ignored))
    throw Error(Code::not_found, fmt::format("{}: no such folder of models", root.native()));
  ModelReport report{.root = root, .files = check_nets(root)};
  report.files.push_back(check_preprocessor(root));
  for (FileReport& file : check_face_networks(root)) report.files.push_back(std::move(file));
  if (!options.read_all) return report;
  hash(report, options);
  for (FileReport& file : report.files) check_values(root, file, options.stop);
  return report;
}

}  // namespace navtalk
