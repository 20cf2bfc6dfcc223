#include "gpu/model/model_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "core/checkpoint/safetensors_writer.h"
#include "gpu/nets/expected_tensors.h"
#include "gpu/nets/tensor_fit.h"
#include "tests/core/checkpoint/checkpoint_fixtures.h"

using namespace navtalk;
using nlohmann::json;

namespace {

const std::filesystem::path k_demo = NAVTALK_DEMO_MODELS;

std::size_t parameters(const std::vector<TensorInfo>& tensors) {
  std::size_t count = 0;
  for (const TensorInfo& tensor : tensors) count += element_count(tensor.shape);
  return count;
}

// SHA-256 of the sorted lines "NAME 320x8x3x3".
std::string fingerprint(const std::vector<TensorInfo>& tensors) {
  std::vector<std::string> lines;
  for (const TensorInfo& tensor : tensors)
    lines.push_back(fmt::format("{} {}\n", tensor.name, fmt::join(tensor.shape, "x")));
  std::sort(lines.begin(), lines.end());
  return sha256_file(ScratchFile(fmt::format("{}", fmt::join(lines, ""))).path());
}

json config_of(const std::string& file) { return json::parse(std::ifstream(k_demo / file)); }

// The demo's configuration with one field changed; null removes it.
template <class Read>
auto read_changed(Read read, const std::string& file, const std::string& field, const json& value) {
  json config = config_of(file);
  if (value.is_null())
    config.erase(field);
  else
    config[field] = value;
  return read(ScratchFile(config.dump()).path());
}

// A safetensors file of zeros with these tensors.
class WeightFile {
 public:
  explicit WeightFile(const std::vector<TensorInfo>& tensors) : file_("") {
    const std::vector<std::byte> zeros(std::size_t{1} << 22);
    SafetensorsWriter writer;
    for (const TensorInfo& tensor : tensors)
      writer.add(tensor.name, tensor.dtype, tensor.shape,
                 std::span(zeros).first(element_count(tensor.shape) * item_size(tensor.dtype)));
    writer.write(file_.path());
  }
  Checkpoint open() const { return Checkpoint::open(file_.path()); }

 private:
  ScratchFile file_;
};

VaeConfig small_vae() {
  VaeConfig config;
  config.block_out_channels = {8, 8, 8, 16};
  config.layers_per_block = 1;
  config.norm_num_groups = 4;
  return config;
}

}  // namespace

TEST_CASE("MuseTalk's own sizes need the tensors that diffusers and transformers make") {
  const auto unet = expected_unet({});
  CHECK(unet.size() == 686);
  CHECK(parameters(unet) == 849'947'844);
  CHECK(fingerprint(unet) == "28ea8737f935139cd4211632b4aad25f241a10b68d8d25ecb2253d91131cadcb");
  const auto vae = expected_vae({});
  CHECK(vae.size() == 248);
  CHECK(parameters(vae) * 4 == 334'615'452);
  CHECK(fingerprint(vae) == "f7ac48fdd0003763c3556953106fb8832330e677539e73e3fbceb2f30203dde5");
  const auto whisper = expected_whisper({});
  CHECK(whisper.size() == 67);
  CHECK(parameters(whisper) == 8'208'384);
  CHECK(fingerprint(whisper) == "5c847d234fe35ad5b3035b869fe62b57b73d1b46f4f767ec765e267e8a3046c5");
}

TEST_CASE("other sizes need the tensors that diffusers makes for them") {
  UnetConfig unet;
  unet.block_out_channels = {32, 64, 96};
  unet.layers_per_block = 3;
  unet.cross_attention_dim = 48;
  unet.heads = {2, 4, 8};
  unet.norm_num_groups = 16;
  CHECK(fingerprint(expected_unet(unet)) ==
        "26aa985963055b308c796f27a9c36bcaa64a166bebbb19015f8eda27ca3ae25f");
  VaeConfig vae;
  vae.block_out_channels = {16, 16, 32, 64};
  vae.layers_per_block = 1;
  vae.norm_num_groups = 8;
  CHECK(fingerprint(expected_vae(vae)) ==
        "d78d754f59ba45896b026a0f6457074f47c0021efdfbe10aa6f9c9a986d41362");
}

TEST_CASE("the demo's configurations are read and its weights fit") {
  const ModelFiles files = find_model_files(k_demo);
  CHECK(files.unet_config.block_out_channels == std::vector<int>{32, 32, 64, 64});
  CHECK(files.unet_config.heads == std::vector<int>{2, 2, 2, 2});
  CHECK(files.unet_config.norm_eps == 1e-5F);
  CHECK(files.vae_config.scaling_factor == 0.18215F);
  CHECK(files.whisper_config.d_model == 64);
  CHECK(compare(Net::unet, Checkpoint::open(files.unet), expected_unet(files.unet_config)).ok());
  CHECK(compare(Net::vae, Checkpoint::open(files.vae), expected_vae(files.vae_config)).ok());
  CHECK(
      compare(Net::whisper, Checkpoint::open(files.whisper), expected_whisper(files.whisper_config))
          .ok());
}

TEST_CASE("attention_head_dim is the number of heads, one for all or one a level") {
  const auto heads = [](const json& value) {
    return read_changed(read_unet_config, "musetalkV15/musetalk.json", "attention_head_dim", value)
        .heads;
  };
  CHECK(heads(4) == std::vector<int>{4, 4, 4, 4});
  CHECK(heads({2, 4, 8, 16}) == std::vector<int>{2, 4, 8, 16});
  CHECK(heads(nullptr) == std::vector<int>{8, 8, 8, 8});
}

TEST_CASE("a UNet of another structure is refused by the field's name") {
  const auto [field, value] = GENERATE(table<std::string, json>({
      {"_class_name", "UNet3DConditionModel"},
      {"act_fn", "gelu"},
      {"freq_shift", 1},
      {"flip_sin_to_cos", false},
      {"center_input_sample", true},
      {"downsample_padding", 0},
      {"mid_block_scale_factor", 2},
      {"num_attention_heads", 4},
      {"use_linear_projection", true},
      {"transformer_layers_per_block", 2},
      {"addition_embed_type", "text"},
      {"resnet_time_scale_shift", "scale_shift"},
      {"down_block_types",
       json::array({"DownBlock2D", "DownBlock2D", "DownBlock2D", "DownBlock2D"})},
      {"up_block_types", json::array({"UpBlock2D"})},
      {"block_out_channels", json::array({32})},
      {"block_out_channels", json::array({32, -1, 64, 64})},
      {"block_out_channels", "32"},
      {"layers_per_block", 0},
      {"layers_per_block", 1.5},
      {"layers_per_block", json::array({1, 1, 1, 1})},
      {"attention_head_dim", 5},
      {"attention_head_dim", json::array({2, 2})},
      {"norm_num_groups", 7},
      {"norm_eps", 0},
      {"cross_attention_dim", 1e9},
  }));
  INFO(field << " = " << value);
  CHECK_THROWS_WITH(read_changed(read_unet_config, "musetalkV15/musetalk.json", field, value),
                    Catch::Contains(field));
}

TEST_CASE("a VAE of another structure is refused by the field's name") {
  const auto [field, value] = GENERATE(table<std::string, json>({
      {"_class_name", "AutoencoderTiny"},
      {"act_fn", "relu"},
      {"block_out_channels", json::array({8, 8, 8})},
      {"block_out_channels", nullptr},
      {"use_quant_conv", false},
      {"mid_block_add_attention", false},
      {"shift_factor", 0.1},
      {"in_channels", 4},
      {"scaling_factor", -1},
  }));
  INFO(field << " = " << value);
  CHECK_THROWS_WITH(read_changed(read_vae_config, "sd-vae/config.json", field, value),
                    Catch::Contains(field));
}

TEST_CASE("a whisper of another structure is refused by the field's name") {
  const auto [field, value] = GENERATE(table<std::string, json>({
      {"model_type", "wav2vec2"},
      {"activation_function", "relu"},
      {"scale_embedding", true},
      {"num_mel_bins", 128},
      {"max_source_positions", 3000},
      {"encoder_attention_heads", 3},
  }));
  INFO(field << " = " << value);
  CHECK_THROWS_WITH(read_changed(read_whisper_config, "whisper/config.json", field, value),
                    Catch::Contains(field));
  CHECK_THROWS_WITH(
      read_changed(check_preprocessor_config, "whisper/preprocessor_config.json", "hop_length", 80),
      Catch::Contains("hop_length"));
}

TEST_CASE("a configuration that is not a JSON object says which file it is") {
  const std::string text = GENERATE("", "[1]", "{\"a\":", "\xff");
  const ScratchFile file(text);
  CHECK_THROWS_WITH(read_unet_config(file.path()), Catch::Contains(file.path().native()));
  CHECK(failure_of([&] { read_unet_config(file.path()); }) == Code::invalid);
  CHECK(failure_of([&] { read_unet_config(file.path() / "x"); }) == Code::not_found);
}

TEST_CASE("configurations that do not belong together are refused") {
  UnetConfig unet;
  CHECK_NOTHROW(check_together(unet, {}, {}));
  unet.cross_attention_dim = 768;
  CHECK_THROWS_WITH(check_together(unet, {}, {}),
                    Catch::Contains("cross_attention_dim = 768") && Catch::Contains("d_model 384"));
  unet = {};
  unet.in_channels = 9;
  CHECK_THROWS_WITH(check_together(unet, {}, {}), Catch::Contains("in_channels = 9"));
}

TEST_CASE("names that the reference tolerates are known under their own") {
  using Name = std::optional<std::string>;
  CHECK(canonical_name(Net::unet, "module.conv_in.weight") == Name("conv_in.weight"));
  CHECK(canonical_name(Net::whisper, "model.encoder.conv1.bias") == Name("encoder.conv1.bias"));
  CHECK(canonical_name(Net::whisper, "encoder.conv1.bias") == Name("encoder.conv1.bias"));
  CHECK(canonical_name(Net::whisper, "model.decoder.embed_tokens.weight") == Name());
  CHECK(canonical_name(Net::whisper, "proj_out.weight") == Name());
  CHECK(canonical_name(Net::vae, "decoder.mid_block.attentions.0.query.weight") ==
        Name("decoder.mid_block.attentions.0.to_q.weight"));
  CHECK(canonical_name(Net::vae, "encoder.mid_block.attentions.0.proj_attn.bias") ==
        Name("encoder.mid_block.attentions.0.to_out.0.bias"));
  CHECK(canonical_name(Net::vae, "decoder.mid_block.attentions.0.keys.bias") ==
        Name("decoder.mid_block.attentions.0.keys.bias"));
}

TEST_CASE("old spellings and convolutional attention of the VAE fit") {
  auto tensors = expected_vae(small_vae());
  for (TensorInfo& tensor : tensors) {
    const auto at = tensor.name.find("to_q.");
    if (at == std::string::npos) continue;
    tensor.name.replace(at, 5, "query.");
    if (tensor.shape.size() == 2) tensor.shape.insert(tensor.shape.end(), 2, 1);
    tensor.dtype = DType::f16;
  }
  CHECK(compare(Net::vae, WeightFile(tensors).open(), expected_vae(small_vae())).ok());
}

TEST_CASE("what does not fit is named: missing, surplus, mis-shaped, wrong dtype") {
  auto tensors = expected_vae(small_vae());
  const std::string gone = tensors[0].name;
  tensors.erase(tensors.begin());
  tensors[0].dtype = DType::i64;
  tensors[1].shape = {3, 3};
  tensors.push_back({"extra.weight", DType::f32, {1}});
  const Fit fit = compare(Net::vae, WeightFile(tensors).open(), expected_vae(small_vae()));
  CHECK(fit.missing == std::vector<std::string>{gone});
  CHECK(fit.wrong_dtype == std::vector<std::string>{tensors[0].name + " (I64)"});
  CHECK(fit.mis_shaped == std::vector<std::string>{tensors[1].name + " ([3, 3], should be [8])"});
  CHECK(fit.surplus == std::vector<std::string>{"extra.weight"});
  CHECK_FALSE(fit.ok());
}

TEST_CASE("two tensors that mean the same one do not fit") {
  auto tensors = expected_vae(small_vae());
  tensors.push_back(tensors[0]);
  tensors.back().name = "module." + tensors[0].name;
  CHECK(compare(Net::vae, WeightFile(tensors).open(), expected_vae(small_vae())).surplus.size() ==
        1);
}

TEST_CASE("a folder without models says what is missing where") {
  CHECK_THROWS_WITH(find_model_files("/absent"), Catch::Contains("/absent"));
  CHECK(failure_of([] { find_model_files("/absent"); }) == Code::not_found);
  CHECK(failure_of([] { find_model_files(k_demo / "whisper"); }) == Code::not_found);
}
