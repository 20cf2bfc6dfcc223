#include <catch2/catch.hpp>
#include <cstring>

#include "core/checkpoint/safetensors_writer.h"
#include "core/checkpoint/stored_tensor.h"
#include "tests/core/checkpoint/checkpoint_fixtures.h"

using namespace navtalk;

namespace {

// A safetensors file: the header's length, the header, so many bytes of data.
std::vector<std::byte> file_with(const std::string& header, std::size_t data_bytes) {
  std::uint64_t length = header.size();
  std::vector<std::byte> file(8 + header.size() + data_bytes);
  std::memcpy(file.data(), &length, 8);
  std::memcpy(file.data() + 8, header.data(), header.size());
  return file;
}

const std::string k_entry = R"("a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})";

}  // namespace

TEST_CASE("what the safetensors writer writes is read back, mapped and in order") {
  const std::vector<float> floats{1, 2, 3, 4, 5, 6};
  const std::vector<std::uint8_t> bytes{7, 8, 9};
  const std::vector<std::int64_t> none;
  SafetensorsWriter writer;
  writer.add("z \"quoted\"", DType::f32, {2, 3}, std::as_bytes(std::span(floats)));
  writer.add("a", DType::u8, {3}, std::as_bytes(std::span(bytes)));
  writer.add("m", DType::i64, {0, 2}, std::as_bytes(std::span(none)));
  writer.add_metadata("format", "test");
  const ScratchFile file("");
  writer.write(file.path());

  const Checkpoint read = Checkpoint::open(file.path());
  CHECK(read.metadata().at("format") == "test");
  CHECK(read.tensors() == std::vector<TensorInfo>{{"z \"quoted\"", DType::f32, {2, 3}},
                                                  {"a", DType::u8, {3}},
                                                  {"m", DType::i64, {0, 2}}});
  CHECK(read.read_f32("z \"quoted\"").values == floats);
  CHECK(read.read_u8("a").values == bytes);
  const auto mapped = read.mapped("z \"quoted\"");
  REQUIRE(mapped);
  CHECK(reinterpret_cast<std::uintptr_t>(mapped->data()) % 64 == 0);
}

TEST_CASE("a tensor that comes in pieces is the same as one that is given whole") {
  const std::vector<float> floats{1, 2, 3, 4, 5, 6};
  std::size_t given = 0;
  SafetensorsWriter writer;
  writer.add_in_pieces("a", DType::f32, {6}, [&] {
    const auto piece = std::as_bytes(std::span(floats).subspan(given, 2));
    given += 2;
    return piece;
  });
  writer.add_in_pieces("none", DType::f32, {0}, []() -> std::span<const std::byte> {
    throw Error(Code::failed, "nothing was to be asked for");
  });
  CHECK(given == 0);
  const ScratchFile file("");
  writer.write(file.path());
  CHECK(given == 6);
  CHECK(Checkpoint::open(file.path()).read_f32("a").values == floats);
}

TEST_CASE("a safetensors file without tensors is a checkpoint") {
  CHECK(read_safetensors(file_with("{}", 0)).tensors.empty());
  CHECK(read_safetensors(file_with(R"({"__metadata__":{"k":"v"}}   )", 0)).metadata.at("k") == "v");
}

TEST_CASE("the writer says why it cannot write and leaves nothing behind") {
  const SafetensorsWriter writer;
  CHECK_THROWS_WITH(writer.write("/absent/x.safetensors"),
                    Catch::Contains("/absent/x.safetensors"));
  const std::filesystem::path full = "/dev/full";
  if (std::filesystem::exists(full)) CHECK(failure_of([&] { writer.write(full); }) == Code::failed);
  CHECK(std::filesystem::exists(full));
}

TEST_CASE("a damaged safetensors header is refused by name") {
  const auto [header, data, reason] = GENERATE(table<std::string, std::size_t, std::string>({
      {"{" + k_entry + "}", 7, "not within the 7 bytes"},
      {"{" + k_entry + "}", 9, "1 bytes follow the last tensor"},
      {"{" + k_entry + "," + k_entry + "}", 8, "\"a\" twice"},
      {R"({"a":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8,
       "\"dtype\" twice"},
      {R"({"__metadata__":{"k":"1","k":"2"}})", 0, "\"k\" twice"},
      {"{" + k_entry + R"(,"b":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}})", 8, "overlaps"},
      {"{" + k_entry + R"(,"b":{"dtype":"U8","shape":[4],"data_offsets":[12,16]}})", 16, "hole"},
      {R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", 8, "need 12"},
      {R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", 8, "-2 is not a size"},
      {R"({"a":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}})", 8, "2.0 is not a size"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", 8, "not within"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0]}})", 8, "not an array"},
      {R"({"a":{"dtype":"F32","shape":[8589934592,8589934592],"data_offsets":[0,0]}})", 0,
       "larger than any"},
      {R"({"a":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,4]}})", 4,
       "9 dimensions"},
      {R"({"a":{"shape":[2],"data_offsets":[0,8]}})", 8, "\"dtype\" is missing"},
      {R"({"a":{"dtype":4,"shape":[2],"data_offsets":[0,8]}})", 8, "\"dtype\" is not a string"},
      {R"({"a":[]})", 0, "\"a\": is not a JSON object"},
      {R"({"a":{"b":{"c":{"d":{"e":{}}}}}})", 0, "nests too deep"},
      {R"({"__metadata__":{"k":1}})", 0, "\"k\" is not a string"},
      {R"({"__metadata__":7})", 0, "not a JSON object"},
      {"{} x", 0, "not JSON"},
      {"{\"\xff\":{}}", 0, "not JSON"},
      {"", 0, "not JSON"},
  }));
  INFO(header);
  CHECK_THROWS_WITH(read_safetensors(file_with(header, data)), Catch::Contains(reason));
}

TEST_CASE("a safetensors header longer than the file or than any header is refused") {
  std::vector<std::byte> file = file_with("{}", 0);
  file[0] = std::byte{3};
  CHECK_THROWS_WITH(read_safetensors(file), Catch::Contains("truncated"));
  file[7] = std::byte{0x7f};
  CHECK_THROWS_WITH(read_safetensors(file), Catch::Contains("too large"));
}

TEST_CASE("a safetensors dtype outside our list is listed and not read") {
  const auto file = file_with(R"({"a":{"dtype":"F8_E5M2","shape":[3],"data_offsets":[0,3]}})", 3);
  const CheckpointContents contents = read_safetensors(file);
  CHECK(contents.tensors[0].info.dtype == DType::other);
  CHECK(contents.tensors[0].dtype_spelling == "F8_E5M2");
}

TEST_CASE("a safetensors shape beyond every size is refused for an unknown dtype too") {
  const std::string entry =
      R"("a":{"dtype":"F8_E4M3","shape":[8589934592,8589934592,8589934592],"data_offsets":[0,0]})";
  CHECK_THROWS_WITH(read_safetensors(file_with("{" + entry + "}", 0)),
                    Catch::Contains("larger than any checkpoint"));
}
