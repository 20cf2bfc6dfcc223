#include "gpu/model/model_check.h"

#include <catch2/catch.hpp>

#include "tests/core/checkpoint/checkpoint_fixtures.h"
#include "tests/gpu/model/bisenet_file.h"
#include "tests/gpu/model/face_files.h"
#include "tests/temporary_directory.h"

using namespace navtalk;

namespace {

// A copy of the demo's checkpoint folder that may be spoilt.
class ModelFolder {
 public:
  ModelFolder() {
    std::filesystem::copy(NAVTALK_DEMO_MODELS, root(), std::filesystem::copy_options::recursive);
  }
  std::filesystem::path root() const { return directory_ / "models"; }
  void remove(const char* file) const { std::filesystem::remove(root() / file); }
  void write(const char* file, const std::string& content) const {
    std::filesystem::create_directories((root() / file).parent_path());
    std::ofstream(root() / file, std::ios::binary) << content;
  }
  void copy(const std::string& from, const char* to) const {
    std::filesystem::create_directories((root() / to).parent_path());
    std::filesystem::copy(fixture(from), root() / to);
  }
  ModelReport check() const { return check_models(root(), {.read_all = false}); }

 private:
  tests::TemporaryDirectory directory_;
};

const FileReport& file_of(const ModelReport& report, const std::string& what) {
  for (const FileReport& file : report.files) {
    if (file.what == what) return file;
  }
  FAIL("no file called " << what);
  return report.files[0];
}

}  // namespace

TEST_CASE("the demo's folder fits without the face networks, and every file has its sum") {
  std::size_t last = 0, whole = 0;
  const ModelReport report = check_models(
      NAVTALK_DEMO_MODELS, {.progress = [&](std::string_view, std::size_t done, std::size_t total) {
        CHECK(done >= last);
        last = done;
        whole = total;
      }});
  CHECK(report.fits());
  CHECK(last == whole);
  const FileReport& unet = file_of(report, "UNet");
  CHECK(unet.state == FileState::fits);
  CHECK(unet.container == "safetensors");
  CHECK(unet.path == "musetalkV15/unet.safetensors");
  CHECK(unet.sha256 == sha256_file(report.root / unet.path));
  CHECK(unet.bytes == std::filesystem::file_size(report.root / unet.path));
  CHECK(file_of(report, "whisper features").state == FileState::fits);
  for (const char* what :
       {"face landmarks (DWPose)", "face parsing (BiSeNet)", "face detector (S3FD)"}) {
    CHECK(file_of(report, what).state == FileState::missing);
    CHECK_FALSE(file_of(report, what).needed);
    CHECK(file_of(report, what).problems.size() == 1);
  }
}

TEST_CASE("a missing needed file is named, and the folder does not fit") {
  const auto [path, what] = GENERATE(table<const char*, std::string>({
      {"musetalkV15/musetalk.json", "UNet configuration"},
      {"musetalkV15/unet.safetensors", "UNet"},
      {"sd-vae/config.json", "VAE configuration"},
      {"sd-vae/diffusion_pytorch_model.safetensors", "VAE"},
      {"whisper/config.json", "whisper configuration"},
      {"whisper/model.safetensors", "whisper encoder"},
  }));
  const ModelFolder folder;
  folder.remove(path);
  const ModelReport report = folder.check();
  CHECK_FALSE(report.fits());
  CHECK(file_of(report, what).state == FileState::missing);
  CHECK_THAT(file_of(report, what).problems.at(0), Catch::Contains("not there"));
}

TEST_CASE("a folder without preprocessor_config.json fits: its defaults are the only values") {
  const ModelFolder folder;
  folder.remove("whisper/preprocessor_config.json");
  CHECK(folder.check().fits());
  folder.write("whisper/preprocessor_config.json", R"({"hop_length":80})");
  CHECK_FALSE(folder.check().fits());
}

TEST_CASE("a damaged file is unfit, and its problem names file and cause") {
  const auto [path, what, cause] = GENERATE(table<const char*, std::string, std::string>({
      {"musetalkV15/unet.safetensors", "UNet", "truncated"},
      {"sd-vae/config.json", "VAE configuration", "JSON"},
      {"s3fd.pth", "face detector (S3FD)", "truncated"},
  }));
  const ModelFolder folder;
  folder.write(path, "x");
  const ModelReport report = folder.check();
  CHECK_FALSE(report.fits());
  CHECK(file_of(report, what).state == FileState::unfit);
  CHECK_THAT(file_of(report, what).problems.at(0), Catch::Contains(path) && Catch::Contains(cause));
}

TEST_CASE("tensors of another net are counted as missing and surplus") {
  const ModelFolder folder;
  folder.remove("musetalkV15/unet.safetensors");
  folder.copy("zip.pth", "musetalkV15/unet.pth");
  const ModelReport report = folder.check();
  const FileReport& unet = file_of(report, "UNet");
  CHECK(unet.container == "torch zip");
  CHECK(unet.state == FileState::unfit);
  CHECK(unet.fit.surplus.size() == unet.tensors.size());
  CHECK_THAT(unet.problems.at(0),
             Catch::Contains("unet.pth") && Catch::Contains("missing: conv_in.weight"));
}

TEST_CASE("configurations that do not belong together are the UNet configuration's problem") {
  const ModelFolder folder;
  folder.write("whisper/config.json", R"({"d_model":384})");
  const FileReport unet = file_of(folder.check(), "UNet configuration");
  CHECK(unet.state == FileState::unfit);
  CHECK_THAT(unet.problems.at(0), Catch::Contains("cross_attention_dim"));
}

TEST_CASE("a face detector is found under each of its names") {
  const ModelFolder folder;
  const char* name = GENERATE("s3fd.pth", "s3fd-619a316812.pth", "s3fd.safetensors");
  // The container is told by the bytes, whatever the name is.
  std::filesystem::rename(tests::write_s3fd(folder.root()), folder.root() / name);
  const ModelReport report = folder.check();
  CHECK(report.fits());
  CHECK(file_of(report, "face detector (S3FD)").state == FileState::fits);
  CHECK(file_of(report, "face detector (S3FD)").path == name);
}

TEST_CASE("tensors of another net are no face detector") {
  const ModelFolder folder;
  folder.copy("legacy.pth", "s3fd.pth");
  const ModelReport report = folder.check();
  CHECK_FALSE(report.fits());
  const FileReport& detector = file_of(report, "face detector (S3FD)");
  CHECK(detector.container == "torch legacy");
  CHECK_THAT(detector.problems.at(0), Catch::Contains("65 missing: conv1_1.weight"));
}

TEST_CASE("a stop request ends the hashing") {
  std::stop_source stop;
  stop.request_stop();
  CHECK(failure_of([&] {
          check_models(NAVTALK_DEMO_MODELS, {.stop = stop.get_token()});
        }).has_value());
}

TEST_CASE("a folder that is not there is not found") {
  CHECK(failure_of([] { check_models("/absent", {}); }) == Code::not_found);
}

TEST_CASE("weights that are no numbers do not fit, and the tensor is named") {
  const ModelFolder folder;
  const auto path = folder.root() / "musetalkV15/unet.safetensors";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(-2, std::ios::end);
  file.write("\x00\x7e", 2);  // NaN in half precision
  file.close();
  CHECK(folder.check().fits());  // which does not look at values
  const ModelReport report = check_models(folder.root(), {});
  const FileReport& unet = file_of(report, "UNet");
  CHECK(unet.state == FileState::unfit);
  REQUIRE(unet.problems.size() == 1);
  CHECK_THAT(unet.problems[0], Catch::Contains("1 with values that are infinite or no numbers: "));
}

TEST_CASE("the face parsing's own shapes say whether its file is whole") {
  const ModelFolder folder;
  tests::write_bisenet(folder.root());
  const ModelReport whole = folder.check();
  CHECK(whole.fits());
  CHECK(file_of(whole, "face parsing (BiSeNet)").state == FileState::fits);

  tests::write_bisenet(folder.root(), -1, "ffm.conv2.weight");
  const ModelReport report = folder.check();
  CHECK_FALSE(report.fits());
  const FileReport& parsing = file_of(report, "face parsing (BiSeNet)");
  CHECK(parsing.state == FileState::unfit);
  CHECK_THAT(parsing.problems.at(0), Catch::Contains("1 missing: ffm.conv2.weight"));
}

TEST_CASE("the landmarks' own shapes say whether their file is whole") {
  const ModelFolder folder;
  tests::write_dwpose(folder.root());
  CHECK(file_of(folder.check(), "face landmarks (DWPose)").state == FileState::fits);

  tests::write_dwpose(folder.root(), "backbone.stage2.1.blocks.1.conv1.conv.weight");
  const FileReport landmarks = file_of(folder.check(), "face landmarks (DWPose)");
  CHECK(landmarks.state == FileState::unfit);
  CHECK_THAT(landmarks.problems.at(0),
             Catch::Contains("1 missing: backbone.stage2.1.blocks.1.conv1.conv.weight"));
}

TEST_CASE("landmarks of other points than the whole body's are refused") {
  const ModelFolder folder;
  std::vector<TensorInfo> tensors = expected_dwpose(tests::k_small_dwpose);
  for (TensorInfo& info : tensors)
    if (info.name.starts_with("head.final_layer.")) info.shape[0] = 17;
  tests::write_random_net(folder.root() / "dwpose/dw-ll_ucoco_384.safetensors", tensors);
  const FileReport landmarks = file_of(folder.check(), "face landmarks (DWPose)");
  CHECK(landmarks.state == FileState::unfit);
  CHECK_THAT(landmarks.problems.at(0), Catch::Contains("has 17 points"));
}

TEST_CASE("what a training keeps beside the landmarks' net is left alone") {
  const ModelFolder folder;
  std::vector<TensorInfo> tensors = expected_dwpose(tests::k_small_dwpose);
  tensors.push_back({"data_preprocessor.mean", DType::f32, {3, 1, 1}});
  tensors.push_back({"backbone.stem.0.bn.num_batches_tracked", DType::f32, {}});
  for (TensorInfo& info : tensors) info.name = "module." + info.name;
  const auto file = folder.root() / "dwpose/dw-ll_ucoco_384.safetensors";
  tests::write_random_net(file, tensors);
  CHECK(file_of(folder.check(), "face landmarks (DWPose)").state == FileState::fits);
  tensors.push_back({"backbone.stage5.0.conv.weight", DType::f32, {3, 3, 1, 1}});
  tests::write_random_net(file, tensors);
  const FileReport landmarks = file_of(folder.check(), "face landmarks (DWPose)");
  CHECK_THAT(landmarks.problems.at(0), Catch::Contains("1 surplus"));
}
