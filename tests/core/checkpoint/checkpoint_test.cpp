#include "core/checkpoint/checkpoint.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "tests/core/checkpoint/checkpoint_fixtures.h"

using namespace navtalk;

namespace {

std::vector<std::byte> bytes_of(const Checkpoint& checkpoint, const std::string& tensor) {
  const TensorInfo& info = *checkpoint.find(tensor);
  std::vector<std::byte> bytes(element_count(info.shape) * item_size(info.dtype));
  checkpoint.read(tensor, bytes);
  return bytes;
}

// Every tensor of `expected` is in `checkpoint`, under the same name with a prefix, byte for byte.
void check_same(const Checkpoint& checkpoint, const Checkpoint& expected) {
  CHECK(checkpoint.tensors().size() == expected.tensors().size());
  for (const TensorInfo& info : expected.tensors()) {
    INFO(info.name);
    REQUIRE(checkpoint.find(info.name) != nullptr);
    CHECK(*checkpoint.find(info.name) == info);
    CHECK(bytes_of(checkpoint, info.name) == bytes_of(expected, info.name));
    if (const auto mapped = checkpoint.mapped(info.name))
      CHECK(std::vector(mapped->begin(), mapped->end()) == bytes_of(expected, info.name));
  }
}

}  // namespace

TEST_CASE("every container that Python writes holds the same tensors") {
  const auto [file, container] = GENERATE(table<std::string, Container>({
      {"zip.pth", Container::torch_zip},
      {"zip_protocol5.pth", Container::torch_zip},
      {"legacy.pth", Container::torch_legacy},
      {"legacy_protocol4.pth", Container::torch_legacy},
      {"training.pth", Container::torch_zip},
      {"training_legacy.pth", Container::torch_legacy},
  }));
  INFO(file);
  const Checkpoint checkpoint = Checkpoint::open(fixture(file));
  CHECK(checkpoint.container() == container);
  CHECK(checkpoint.path() == fixture(file));
  check_same(checkpoint, Checkpoint::open(fixture("expected.safetensors")));
}

TEST_CASE("a safetensors file tells its metadata, and torch files have none") {
  using Metadata = std::map<std::string, std::string>;
  CHECK(Checkpoint::open(fixture("expected.safetensors")).metadata() ==
        Metadata{{"made", "by Python"}});
  CHECK(Checkpoint::open(fixture("zip.pth")).metadata().empty());
}

TEST_CASE("values come as Python wrote them") {
  const Checkpoint checkpoint = Checkpoint::open(fixture("zip.pth"));
  constexpr auto k_int64 = std::numeric_limits<std::int64_t>();
  CHECK(checkpoint.read_i64("i64").values ==
        std::vector<std::int64_t>{k_int64.min(), -1, 0, 1, k_int64.max()});
  CHECK(checkpoint.read_i64("i32").values == std::vector<std::int64_t>{-2147483648, 2147483647});
  CHECK(checkpoint.read_i64("i16").values == std::vector<std::int64_t>{-32768, 32767});
  CHECK(checkpoint.read_i64("i8").values == std::vector<std::int64_t>{-128, 0, 127});
  CHECK(checkpoint.read_u8("u8").values == std::vector<std::uint8_t>{0, 128, 255});
  CHECK(checkpoint.read_i64("u8").values == std::vector<std::int64_t>{0, 128, 255});
  CHECK(checkpoint.read_f32("scalar") == NdArray<float>({}, {3.25F}));
  CHECK(checkpoint.read_f32("repeated").values == std::vector<float>{1, 2, 1, 2, 1, 2});
  CHECK(checkpoint.read_f32("empty").shape == Shape{0, 4});
  const auto halves = checkpoint.read_f32("f16").values;
  CHECK(std::vector(halves.begin(), halves.begin() + 7) ==
        std::vector<float>{0, -0.0F, 1, -2.5F, 65504, 0x1p-24F, 1023 * 0x1p-24F});
  CHECK(std::signbit(halves[1]));
  CHECK(halves[7] == std::numeric_limits<float>::infinity());
  CHECK(std::isnan(halves[8]));
}

TEST_CASE("floating dtypes become the nearest float") {
  const Checkpoint zip = Checkpoint::open(fixture("zip.pth"));
  const auto wide = zip.read_f32("f64");
  std::vector<double> stored(4);
  zip.read("f64", std::as_writable_bytes(std::span(stored)));
  for (std::size_t i = 0; i < stored.size(); ++i)
    CHECK(wide.values[i] == static_cast<float>(stored[i]));
}

TEST_CASE("a dense aligned tensor is mapped and a strided one is not") {
  const Checkpoint checkpoint = Checkpoint::open(fixture("zip.pth"));
  for (const char* name : {"f32", "f64", "bf16", "i64", "shared", "one"})
    CHECK(checkpoint.mapped(name));
  for (const char* name : {"transposed", "column", "corner", "repeated", "cube"})
    CHECK_FALSE(checkpoint.mapped(name));
}

TEST_CASE("nested containers name their tensors by path") {
  const Checkpoint nested = Checkpoint::open(fixture("nested.pth"));
  CHECK(nested.tensors().size() == 3);
  CHECK(nested.find("1.a.b")->shape == Shape{3, 5});
  CHECK(nested.find("2.0")->dtype == DType::u8);
  CHECK(nested.find("3.7")->dtype == DType::i8);
  CHECK(Checkpoint::open(fixture("tensor.pt")).tensors()[0].name == "tensor");
}

TEST_CASE("a list whose second half repeats the first by reference is read whole") {
  const Checkpoint list = Checkpoint::open(fixture("list.pt"));
  CHECK(list.tensors().size() == 4);
  CHECK(list.read_f32("0") == list.read_f32("3"));
  CHECK(list.read_f32("1") == list.read_f32("2"));
  CHECK(list.read_f32("1").values[11] == 12);
}

TEST_CASE("a dtype that navtalk does not read matters only to who asks for it") {
  const std::string file = GENERATE("unreadable_dtypes.pth", "unreadable_dtypes_legacy.pth");
  const Checkpoint checkpoint = Checkpoint::open(fixture(file));
  CHECK(checkpoint.read_f32("plain").values == std::vector<float>{1, 1});
  CHECK(checkpoint.find("complex")->dtype == DType::other);
  CHECK_THROWS_WITH(checkpoint.read_f32("complex"), Catch::Contains(file) &&
                                                        Catch::Contains("\"complex\"") &&
                                                        Catch::Contains("ComplexFloatStorage"));
  if (checkpoint.find("float8"))
    CHECK_THROWS_WITH(checkpoint.mapped("float8"), Catch::Contains("float8_e4m3fn"));
}

TEST_CASE("asking for the wrong kind of values names file, tensor and dtype") {
  const Checkpoint checkpoint = Checkpoint::open(fixture("zip.pth"));
  CHECK_THROWS_WITH(checkpoint.read_f32("i64"), Catch::Contains("zip.pth: tensor \"i64\"") &&
                                                    Catch::Contains("floating point"));
  CHECK_THROWS_WITH(checkpoint.read_i64("f32"), Catch::Contains("integers"));
  CHECK_THROWS_WITH(checkpoint.read_i64("boolean"), Catch::Contains("integers"));
  CHECK_THROWS_WITH(checkpoint.read_u8("i8"), Catch::Contains("bytes"));
  std::vector<std::byte> small(3);
  CHECK_THROWS_WITH(checkpoint.read("f32", small), Catch::Contains("3 bytes asked for"));
  CHECK(failure_of([&] { checkpoint.read_f32("absent"); }) == Code::not_found);
}

TEST_CASE("what is not a checkpoint is refused with its name and the reason") {
  const auto [file, reason] = GENERATE(table<std::string, std::string>({
      {"torchscript.pt", "TorchScript"},
      {"module.pth", "Python object"},
      {"plain2.pkl", "a plain Python pickle"},
      {"plain5.pkl", "a plain Python pickle"},
      {"text_mode.pkl", "truncated: it has only 10 bytes"},
  }));
  INFO(file);
  CHECK_THROWS_WITH(Checkpoint::open(fixture(file)),
                    Catch::Contains(file) && Catch::Contains(reason));
  CHECK(failure_of([&name = file] { Checkpoint::open(fixture(name)); }) == Code::invalid);
}

TEST_CASE("a file that is not there is not found, and a folder is not a checkpoint") {
  CHECK(failure_of([] { Checkpoint::open(fixture("absent.pth")); }) == Code::not_found);
  CHECK(failure_of([] { Checkpoint::open(fixture("zip.pth") / "below"); }) == Code::not_found);
  CHECK(failure_of([] { Checkpoint::open(fixture("")); }) == Code::invalid);
}

TEST_CASE("sha256_file agrees with a published test vector and reports progress") {
  const ScratchFile file("abc");
  std::size_t last = 0;
  CHECK(sha256_file(file.path(), [&](std::string_view, std::size_t done, std::size_t) {
          last = done;
        }) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(last == 3);
  CHECK(sha256_file(ScratchFile("").path()) ==
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}
