// Files that Python wrote, damaged in every place: a reader refuses them, or reads something else,
// but never looks outside the bytes it was given. The sanitizer presets see to the latter.
#include <array>
#include <catch2/catch.hpp>

#include "core/checkpoint/materialize.h"
#include "core/checkpoint/pickle/unpickler.h"
#include "core/checkpoint/stored_tensor.h"
#include "tests/core/checkpoint/checkpoint_fixtures.h"

using namespace navtalk;

namespace {

std::vector<std::string> checkpoints() {
  return {"expected.safetensors",
          "zip.pth",
          "zip_protocol5.pth",
          "legacy.pth",
          "legacy_protocol4.pth",
          "training.pth",
          "nested.pth",
          "training_legacy.pth",
          "list.pt"};
}

// Reads a copy of exactly these bytes and all tensors in it; what the reader threw, nullopt if
// nothing.
std::optional<Code> outcome(std::vector<std::byte> bytes) {
  bytes.shrink_to_fit();
  return failure_of([&] {
    for (const StoredTensor& tensor : read_checkpoint(bytes).tensors) {
      std::vector<std::byte> out(dense_bytes(tensor.info.shape, item_size(tensor.info.dtype)));
      if (tensor.info.dtype != DType::other && out.size() < 65536) copy_bytes(tensor, out);
    }
  });
}

}  // namespace

TEST_CASE("a checkpoint cut off anywhere is refused") {
  for (const std::string& file : checkpoints()) {
    const auto whole = content_of(fixture(file));
    REQUIRE_FALSE(outcome(whole));
    std::size_t refused = 0;
    for (std::size_t size = 0; size < whole.size(); ++size)
      refused += outcome({whole.data(), whole.data() + size}) == Code::invalid ? 1 : 0;
    INFO(file);
    CHECK(refused == whole.size());
  }
}

TEST_CASE("a checkpoint with bytes behind its end is refused") {
  for (const std::string& file : checkpoints()) {
    auto longer = content_of(fixture(file));
    longer.push_back(std::byte{0});
    INFO(file);
    CHECK(outcome(longer) == Code::invalid);
  }
}

TEST_CASE("one damaged byte is refused as invalid or read as another value") {
  for (const std::string& file : checkpoints()) {
    const auto whole = content_of(fixture(file));
    constexpr std::array k_changes{0x01U, 0x80U, 0xffU};
    for (std::size_t at = 0; at < whole.size(); ++at) {
      auto damaged = whole;
      damaged[at] ^= static_cast<std::byte>(k_changes[at % k_changes.size()]);
      const auto code = outcome(damaged);
      if (code && *code != Code::invalid) FAIL(file << ", byte " << at << ": " << name(*code));
    }
  }
  SUCCEED("every file, every byte");
}

TEST_CASE("a pickle cut off anywhere is refused") {
  for (const char* file : {"plain2.pkl", "plain3.pkl", "plain4.pkl", "plain5.pkl"}) {
    const auto whole = content_of(fixture(file));
    CHECK_NOTHROW(unpickle_all(whole));
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const std::vector<std::byte> cut(whole.data(), whole.data() + size);
      if (failure_of([&] { unpickle_all(cut); }) != Code::invalid) FAIL(file << " of " << size);
    }
  }
}
