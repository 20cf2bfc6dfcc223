#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <optional>

#include "core/checkpoint/materialize.h"
#include "core/checkpoint/stored_tensor.h"
#include "tests/core/checkpoint/torch_bytes.h"

using namespace navtalk;
using namespace torch_bytes;
using namespace std::string_literals;

namespace {

struct Member {
  std::string name, data;
  std::uint16_t flags = 0x0808, method = 0;
  std::optional<std::string> local_name{};            // another name in its own header
  std::optional<std::uint32_t> bytes{}, header_at{};  // other values in the directory
  bool zip64 = false;                                 // size and place in the extra field
};

struct Zip {
  std::vector<Member> members;
  std::string comment{};
  std::uint16_t disk = 0;
  int more_entries = 0;  // claimed by the end record
  bool zip64_end = false;

  std::string bytes() const;
};

std::string directory_entry(const Member& member, std::uint64_t at) {
  const auto size = member.bytes.value_or(static_cast<std::uint32_t>(member.data.size()));
  const std::uint32_t size_field = member.zip64 ? 0xffffffff : size;
  const auto place = member.header_at.value_or(static_cast<std::uint32_t>(at));
  const std::string extra =
      member.zip64 ? little_endian<std::uint16_t>(1) + little_endian<std::uint16_t>(24) +
                         little_endian<std::uint64_t>(size) + little_endian<std::uint64_t>(size) +
                         little_endian<std::uint64_t>(place)
                   : "";
  return little_endian<std::uint32_t>(0x02014b50) + little_endian<std::uint32_t>(0) +
         little_endian(member.flags) + little_endian(member.method) +
         little_endian<std::uint32_t>(0) + little_endian<std::uint32_t>(0) +
         little_endian(size_field) + little_endian(size_field) +
         little_endian(static_cast<std::uint16_t>(member.name.size())) +
         little_endian(static_cast<std::uint16_t>(extra.size())) + std::string(10, '\0') +
         little_endian(member.zip64 ? 0xffffffff : place) + member.name + extra;
}

std::string Zip::bytes() const {
  std::string file, directory;
  for (const Member& member : members) {
    directory += directory_entry(member, file.size());
    const std::string& name = member.local_name.value_or(member.name);
    file += little_endian<std::uint32_t>(0x04034b50) + std::string(22, '\0') +
            little_endian(static_cast<std::uint16_t>(name.size())) +
            little_endian<std::uint16_t>(3) + name + "pad" + member.data;
  }
  const auto count = static_cast<std::uint16_t>(static_cast<int>(members.size()) + more_entries);
  const std::uint64_t begin = file.size(), end = begin + directory.size();
  file += directory;
  if (zip64_end) {
    file += little_endian<std::uint32_t>(0x06064b50) + little_endian<std::uint64_t>(44) +
            std::string(12, '\0') + little_endian<std::uint64_t>(count) +
            little_endian<std::uint64_t>(count) + little_endian<std::uint64_t>(directory.size()) +
            little_endian(begin);
    file += little_endian<std::uint32_t>(0x07064b50) + little_endian<std::uint32_t>(disk) +
            little_endian(end) + little_endian<std::uint32_t>(1);
  }
  const std::uint32_t hidden = 0xffffffff;
  return file + little_endian<std::uint32_t>(0x06054b50) + little_endian(disk) +
         little_endian(disk) + little_endian(count) + little_endian(count) +
         little_endian(zip64_end ? hidden : static_cast<std::uint32_t>(directory.size())) +
         little_endian(zip64_end ? hidden : static_cast<std::uint32_t>(begin)) +
         little_endian(static_cast<std::uint16_t>(comment.size())) + comment;
}

const std::string k_data = floats({1, 2, 3, 4});

Zip zip_of(const std::string& pickle, const std::string& data = k_data) {
  return {{{.name = "archive/data.pkl", .data = pickle},
           {.name = "archive/data/0", .data = data},
           {.name = "archive/version", .data = "3\n"}}};
}
Zip good_zip() { return zip_of(state_dict({{}})); }
Zip zip_with(Tensor tensor) { return zip_of(state_dict({std::move(tensor)})); }
template <class Change>
Zip changed(Change change) {
  Zip zip = good_zip();
  change(zip.members);
  return zip;
}

// What the checkpoint points into must outlive it.
class Read {
 public:
  explicit Read(const Zip& zip) : bytes_(zip.bytes()) {
    contents_ = read_checkpoint(std::as_bytes(std::span(bytes_)));
  }
  const CheckpointContents& operator*() const { return contents_; }
  std::vector<float> values() const { return as_f32(contents_.tensors.at(0)).values; }

 private:
  std::string bytes_;
  CheckpointContents contents_;
};

}  // namespace

TEST_CASE("a hand-made torch zip is read, whatever its folder is called") {
  CHECK(Read(good_zip()).values() == std::vector<float>{1, 2, 3, 4});
  const Zip other{{{.name = "my model/data.pkl", .data = state_dict({{}})},
                   {.name = "my model/data/0", .data = k_data},
                   {.name = "elsewhere/notes/data.pkl", .data = "no pickle"}}};
  CHECK(Read(other).values() == std::vector<float>{1, 2, 3, 4});
}

TEST_CASE("zip64 records and a comment are read") {
  Zip zip = good_zip();
  for (Member& member : zip.members) member.zip64 = true;
  zip.zip64_end = true;
  zip.comment = "PK\5\6 is only a comment";
  CHECK(Read(zip).values() == std::vector<float>{1, 2, 3, 4});
}

TEST_CASE("a big-endian file is swapped, and never mapped") {
  std::string swapped = k_data;
  for (std::size_t i = 0; i < swapped.size(); i += 4)
    std::reverse(swapped.begin() + static_cast<std::ptrdiff_t>(i),
                 swapped.begin() + static_cast<std::ptrdiff_t>(i) + 4);
  Zip zip = zip_of(state_dict({{}}), swapped);
  zip.members.push_back({.name = "archive/byteorder", .data = "big"});
  const Read read(zip);
  CHECK(read.values() == std::vector<float>{1, 2, 3, 4});
  CHECK_FALSE(mapped_bytes((*read).tensors[0]));
  zip.members.back().data = "middle";
  CHECK_THROWS_WITH(Read(zip), Catch::Contains("byteorder"));
}

TEST_CASE("a zip that torch.save would not write is refused with its cause") {
  using Members = std::vector<Member>;
  const auto [zip, reason] = GENERATE(table<Zip, std::string>({
      {changed([](Members& m) { m[1].method = 8; }), "archive/data/0 is compressed"},
      {changed([](Members& m) { m[1].flags = 1; }), "archive/data/0 is encrypted"},
      {changed([](Members& m) { m.push_back(m[1]); }), "two members are called archive/data/0"},
      {changed([](Members& m) { m[2].header_at = 0; }), "another name"},
      {changed([](Members& m) { m[1].local_name = "archive/data/1"; }), "another name"},
      {changed([](Members& m) { m[0].bytes = 100'000; }), "outside the file"},
      {changed([](Members& m) { m[0].bytes = static_cast<std::uint32_t>(m[0].data.size() + 8); }),
       "overlap"},
      {changed([](Members& m) { m[1].header_at = 0xfffffff0; }), "outside the file"},
      {changed([](Members& m) { m[1].header_at = 7; }), "no header of its own"},
      {changed([](Members& m) { m[1].bytes = 12; }), "12 bytes and not 4 values of 4"},
      {changed([](Members& m) { m[1].name = "archive/data/7"; }), "its storage 0 is missing"},
      {changed([](Members& m) { m[0].name = "data.pkl"; }), "without data.pkl"},
      {changed([](Members& m) { m[2] = {.name = "b/data.pkl", .data = ""}; }), "two data.pkl"},
      {changed([](Members& m) { m[2].name = "archive/constants.pkl"; }), "TorchScript"},
      {changed([](Members& m) { m[0].data += "N."; }), "bytes follow"},
      {changed([](Members& m) { m[0].data = std::string(17 << 20, 'N'); }), "too large"},
      {{.members = {}}, "neither safetensors nor"},
      {{.members = good_zip().members, .disk = 1}, "several disks"},
      {{.members = good_zip().members, .more_entries = 1}, "truncated"},
      {{.members = good_zip().members, .more_entries = -1}, "longer than its members"},
  }));
  INFO(reason);
  CHECK_THROWS_WITH(Read(zip), Catch::Contains(reason));
}

TEST_CASE("a tensor that does not fit its storage is refused by name") {
  constexpr std::int64_t k_huge = std::int64_t{1} << 62;
  const auto [tensor, reason] = GENERATE(table<Tensor, std::string>({
      {{.offset = 1}, "beyond its storage of 4 values"},
      {{.offset = -1}, "beyond"},
      {{.offset = k_huge}, "beyond"},
      {{.shape = {5}}, "beyond"},
      {{.strides = {2}}, "beyond"},
      {{.strides = {-1}}, "beyond"},
      {{.strides = {k_huge}}, "beyond"},
      {{.offset = 5, .shape = {0}}, "beyond"},
      {{.shape = {-1}}, "negative dimension"},
      {{.shape = {k_huge}, .strides = {0}}, "larger than any checkpoint"},
      {{.shape = {k_huge, k_huge}, .strides = {0, 0}}, "larger than any checkpoint"},
      {{.shape = {2, 2}}, "1 strides for 2 dimensions"},
      {{.shape = Sizes(9, 1), .strides = Sizes(9, 1)}, "9 dimensions"},
      {{.count = 5}, "not 5 values"},
      {{.count = -1}, "impossible size"},
      {{.storage = "../0"}, "its storage ../0 is missing"},
      {{.type = "DoubleStorage"}, "not 4 values of 8"},
  }));
  INFO(reason);
  CHECK_THROWS_WITH(Read(zip_with(tensor)), Catch::Contains(reason));
}

TEST_CASE("views within the storage are read: offset, stride, repetition, emptiness") {
  CHECK(Read(zip_with({.offset = 3, .shape = {}, .strides = {}})).values() ==
        std::vector<float>{4});
  CHECK(Read(zip_with({.offset = 1, .shape = {2}, .strides = {2}})).values() ==
        std::vector<float>{2, 4});
  CHECK(Read(zip_with({.shape = {2, 3}, .strides = {1, 0}})).values() ==
        std::vector<float>{1, 1, 1, 2, 2, 2});
  CHECK(Read(zip_with({.offset = 4, .shape = {0, 9}, .strides = {9, 1}})).values().empty());
}

TEST_CASE("a view that blows a few bytes up is listed, and reading it is refused") {
  const Read read(zip_with({.shape = {1 << 30}, .strides = {0}}));
  const StoredTensor& tensor = (*read).tensors[0];
  CHECK(tensor.info.shape == Shape{1 << 30});
  CHECK_THROWS_WITH(as_f32(tensor), Catch::Contains("blows 16 bytes up to 4294967296"));
  CHECK_THROWS_WITH(mapped_bytes(tensor), Catch::Contains("blows"));
}

TEST_CASE("two tensors of one name, and too deep nesting, are refused") {
  const std::string twice = "\x80\x02}(" + text("a") + pickled({}) + text("a") + pickled({}) + "u.";
  CHECK((*Read(zip_of(twice))).tensors.size() == 2);  // Checkpoint::open refuses the second
  std::string deep = "\x80\x02";
  for (int i = 0; i < 70; ++i) deep += "]";
  deep += pickled({});
  for (int i = 0; i < 70; ++i) deep += "a";
  CHECK_THROWS_WITH(Read(zip_of(deep + ".")), Catch::Contains("64 levels"));
}

TEST_CASE("lists that grow exponentially by reference are cut off") {
  const auto memo = [](const char* opcode, char index) { return opcode + std::string(1, index); };
  std::string lists = "\x80\x02]" + memo("q", 0) + "0";
  for (char i = 1; i < 40; ++i) {
    const std::string before = memo("h", static_cast<char>(i - 1));
    for (const std::string& part : {"]("s, before, before, "e"s, memo("q", i), "0"s}) lists += part;
  }
  CHECK_THROWS_WITH(Read(zip_of(lists + memo("h", 39) + ".")), Catch::Contains("1000000 values"));
}

TEST_CASE("a long key over many shared tensors does not fill the memory") {
  // {long: {0: tensor, 1: tensor (memoized), ...}}
  const auto bomb = [](std::size_t key_bytes, int copies) {
    std::string body = "\x80\x02}(" + text(std::string(key_bytes, 'k')) + "}(";
    body += integer(0) + pickled(Tensor{}) + "q\x01";
    for (int i = 1; i < copies; ++i) body += integer(i) + "h\x01";
    return zip_of(body + "uu.", k_data);
  };
  CHECK((*Read(bomb(1000, 3))).tensors.size() == 3);
  CHECK_THROWS_WITH(Read(bomb(1'000'000, 3)), Catch::Contains("name is longer"));
  CHECK_THROWS_WITH(Read(bomb(4000, 20'000)), Catch::Contains("names take more"));
}

TEST_CASE("the stride of an axis of length one may be anything") {
  const Zip zip = zip_of(
      state_dict(
          {{.shape = {2, 2, 1}, .strides = {1, 2, std::numeric_limits<std::int64_t>::max()}}}),
      k_data);
  CHECK(Read(zip).values() == std::vector<float>{1, 3, 2, 4});
}
