// Files that change while they are read.
#include "core/checkpoint/mapped_file.h"

#include <catch2/catch.hpp>
#include <numeric>

#include "core/checkpoint/checkpoint.h"
#include "tests/core/expect_error.h"
#include "tests/core/files/scratch_folder.h"

using namespace navtalk;
using namespace navtalk::test;

namespace {

constexpr std::size_t k_size = 40'000;  // ten pages

int sum(std::span<const std::byte> bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), 0, [](int total, std::byte value) {
    return total + std::to_integer<int>(value);
  });
}

}  // namespace

TEST_CASE("a small file that is cut keeps the bytes that it had") {
  const ScratchFolder folder;
  put(folder / "f", std::string(k_size, '\1'));
  const MappedFile file = MappedFile::open(folder / "f", k_size);
  std::filesystem::resize_file(folder / "f", 0);
  CHECK(sum(file.bytes()) == k_size);
  CHECK_NOTHROW(file.check());
}

TEST_CASE("a mapped file that is cut reads as zeros behind its end, and is an error by name") {
  const ScratchFolder folder;
  put(folder / "f", std::string(k_size, '\1'));
  const MappedFile file = MappedFile::open(folder / "f", k_size, 0);
  CHECK_NOTHROW(file.check());
  std::filesystem::resize_file(folder / "f", 4096);
  CHECK(sum(file.bytes()) == 4096);
  expect_error(Code::failed, {(folder / "f").string(), "was cut while it was being read"},
               [&] { file.check(); });
  // What was lost stays lost, though the file has its length again.
  put(folder / "f", std::string(k_size, '\1'));
  expect_error(Code::failed, {"was cut"}, [&] { file.check(); });
}

TEST_CASE("cutting one mapped file does not concern the others") {
  const ScratchFolder folder;
  put(folder / "a", std::string(k_size, '\1'));
  put(folder / "b", std::string(k_size, '\1'));
  const MappedFile a = MappedFile::open(folder / "a", k_size, 0);
  MappedFile b = MappedFile::open(folder / "b", k_size, 0);
  std::filesystem::resize_file(folder / "a", 0);
  CHECK(sum(a.bytes()) == 0);
  const MappedFile moved = std::move(b);
  CHECK(sum(moved.bytes()) == k_size);
  CHECK_NOTHROW(moved.check());
  CHECK_THROWS(a.check());
}

TEST_CASE("a checkpoint that is cut after it was opened is an error, not a signal") {
  const ScratchFolder folder;
  const std::size_t count = MappedFile::k_read_at_most;  // so that it is mapped
  std::string header = R"({"t":{"dtype":"U8","shape":[)" + std::to_string(count) +
                       R"(],"data_offsets":[0,)" + std::to_string(count) + "]}}";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  std::string bytes(8, '\0');
  bytes[0] = static_cast<char>(header.size());
  put(folder / "t.safetensors", bytes + header);
  std::filesystem::resize_file(folder / "t.safetensors", bytes.size() + header.size() + count);
  const Checkpoint checkpoint = Checkpoint::open(folder / "t.safetensors");
  CHECK(checkpoint.read_u8("t").values.size() == count);
  std::filesystem::resize_file(folder / "t.safetensors", 8192);
  expect_error(Code::failed, {"t.safetensors", "was cut"}, [&] { checkpoint.read_u8("t"); });
}
