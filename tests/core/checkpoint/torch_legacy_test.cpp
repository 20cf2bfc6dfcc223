#include <catch2/catch.hpp>

#include "core/checkpoint/materialize.h"
#include "core/checkpoint/stored_tensor.h"
#include "tests/core/checkpoint/torch_bytes.h"

using namespace navtalk;
using namespace torch_bytes;

namespace {

const std::string k_magic = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";

struct Legacy {
  std::string object;
  std::vector<std::string> keys{"0"};
  std::vector<std::pair<std::int64_t, std::string>> storages{{4, floats({1, 2, 3, 4})}};
  std::int64_t protocol = 1001;
  std::string tail{};

  std::string bytes() const {
    std::string file = k_magic + "\x80\x02" + integer(protocol) + ".\x80\x02}" +
                       text("little_endian") + "\x88s." + object + "\x80\x02](";
    for (const std::string& key : keys) file += text(key);
    file += "e.";
    for (const auto& [count, data] : storages) file += little_endian(count) + data;
    return file + tail;
  }
};

class ReadLegacy {
 public:
  explicit ReadLegacy(const Legacy& legacy) : bytes_(legacy.bytes()) {
    contents_ = read_checkpoint(std::as_bytes(std::span(bytes_)));
  }
  std::vector<float> values(std::size_t index = 0) const {
    return as_f32(contents_.tensors.at(index)).values;
  }
  const std::string& name(std::size_t index) const { return contents_.tensors.at(index).info.name; }

 private:
  std::string bytes_;
  CheckpointContents contents_;
};

Legacy good() { return {.object = state_dict({{.view = "N"}})}; }
template <class Change>
Legacy changed_legacy(Change change) {
  Legacy legacy = good();
  change(legacy);
  return legacy;
}

std::string view(std::int64_t offset, std::int64_t count) {
  return "(" + text("v") + integer(offset) + integer(count) + "t";
}

}  // namespace

TEST_CASE("a hand-made legacy file is read") {
  CHECK(ReadLegacy(good()).values() == std::vector<float>{1, 2, 3, 4});
}

TEST_CASE("an old file's storage views count from their own offset") {
  const Legacy legacy{.object = state_dict({{.offset = 1, .shape = {2}, .view = view(1, 3)}})};
  CHECK(ReadLegacy(legacy).values() == std::vector<float>{3, 4});
}

TEST_CASE("Python 2 wrote an OrderedDict's items into its arguments") {
  const std::string pairs = "](](" + text("w") + pickled({.view = "N"}) + "e](" + text("b") +
                            pickled({.view = "N"}) + "ee";
  const ReadLegacy read(
      {.object = "\x80\x02" + global("collections", "OrderedDict") + pairs + "\x85R."});
  CHECK(read.name(0) == "w");
  CHECK(read.name(1) == "b");
  CHECK(read.values(1) == std::vector<float>{1, 2, 3, 4});
}

TEST_CASE("a legacy file that torch.save would not write is refused with its cause") {
  const auto [legacy, reason] = GENERATE(table<Legacy, std::string>({
      {changed_legacy([](Legacy& l) { l.protocol = 1002; }), "another protocol than 1001"},
      {changed_legacy([](Legacy& l) { l.keys = {}; }), "bytes follow the last storage"},
      {changed_legacy([](Legacy& l) { l.keys = {"1"}; }), "one that no tensor uses"},
      {changed_legacy([](Legacy& l) {
         l.keys = {"0", "0"};
         l.storages.push_back(l.storages[0]);
       }),
       "comes twice"},
      {changed_legacy([](Legacy& l) {
         l.keys = {};
         l.storages = {};
       }),
       "its storage 0 is missing"},
      {changed_legacy([](Legacy& l) { l.storages[0].first = 5; }),
       "has 5 values and should have 4"},
      {changed_legacy([](Legacy& l) { l.storages[0].first = -1; }), "should have 4"},
      {changed_legacy([](Legacy& l) { l.storages[0].second.pop_back(); }), "truncated: storage 0"},
      {changed_legacy([](Legacy& l) { l.tail = "x"; }), "1 bytes follow"},
      {changed_legacy([](Legacy& l) { l.object = state_dict({{.view = view(2, 3)}}); }),
       "impossible size"},
      {changed_legacy([](Legacy& l) { l.object = state_dict({{.view = view(-1, 3)}}); }),
       "impossible size"},
      {changed_legacy([](Legacy& l) { l.object = state_dict({{.view = view(0, 3)}}); }),
       "storage of 3 values"},
      {changed_legacy([](Legacy& l) {
         l.object = state_dict({{.view = "N"}, {.type = "IntStorage", .view = "N"}});
       }),
       "two sizes or types"},
      {changed_legacy(
           [](Legacy& l) { l.object = state_dict({{.type = "OddStorage", .view = "N"}}); }),
       "OddStorage, whose size"},
  }));
  INFO(reason);
  CHECK_THROWS_WITH(ReadLegacy(legacy), Catch::Contains(reason));
}
