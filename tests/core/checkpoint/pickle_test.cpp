#include "core/checkpoint/pickle/pickle.h"

#include <catch2/catch.hpp>
#include <limits>

#include "tests/core/checkpoint/checkpoint_fixtures.h"

using namespace navtalk;
using namespace std::string_literals;
using Kind = PickleValue::Kind;

namespace {

std::vector<std::int64_t> integers_of(const PickleValue& list) {
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < list.size(); ++i) out.push_back(list.item(i).integer().value());
  return out;
}

std::vector<double> reals_of(const PickleValue& list) {
  std::vector<double> out;
  for (std::size_t i = 0; i < list.size(); ++i) out.push_back(list.item(i).real().value());
  return out;
}

// A pickle given as its bytes, after PROTO 2.
class Pickled {
 public:
  explicit Pickled(const std::string& body) : file_("\x80\x02" + body) {}
  Pickle open() const { return Pickle::open(file_.path()); }

 private:
  ScratchFile file_;
};

std::string repeated(const std::string& text, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += text;
  return out;
}

}  // namespace

TEST_CASE("plain values are read alike from protocols 2 to 5") {
  const std::string protocol = GENERATE("2", "3", "4", "5");
  INFO("protocol " << protocol);
  const Pickle pickle = Pickle::open(fixture("plain" + protocol + ".pkl"));
  const auto at = [root = pickle.root()](const char* key) { return root.find(key).value(); };
  constexpr auto k_int64 = std::numeric_limits<std::int64_t>();

  CHECK(at("none").kind() == Kind::none);
  CHECK(at("booleans").item(0).boolean() == true);
  CHECK(at("booleans").item(1).boolean() == false);
  CHECK(at("booleans").item(2).boolean() == true);
  CHECK_FALSE(at("booleans").item(0).integer());

  const PickleValue integers = at("integers");
  const std::vector<std::int64_t> small{0,  255,         256,        65535,         65536,
                                        -1, -2147483648, 2147483648, k_int64.max(), k_int64.min()};
  REQUIRE(integers.size() == small.size() + 1);
  for (std::size_t i = 0; i < small.size(); ++i) CHECK(integers.item(i).integer() == small[i]);
  CHECK(integers.item(small.size()).kind() == Kind::other);  // 2^64

  CHECK(reals_of(at("reals")) == std::vector<double>{0.0, -1.5, 1e300, 0.1F, 0.5});
  CHECK(integers_of(at("wide")) == std::vector<std::int64_t>{200, -3, 65535, 7, 9});
  CHECK(at("text").item(0).string() == "");
  CHECK(at("text").item(2).string() == "p\u00e4th\u2028");
  CHECK(at("text").item(3).string() == std::string(300, 'x'));
  CHECK(at("bytes").item(0).bytes() == "");
  CHECK(at("bytes").item(1).bytes() == std::string("\0\xff", 2));
  CHECK_FALSE(at("bytes").item(1).string());

  CHECK(at("array").integers() == NdArray<std::int64_t>({2, 3}, {0, 1, 2, 3, 4, 5}));
  CHECK(at("fortran").reals() == NdArray<double>({2, 3}, {0, 1, 2, 3, 4, 5}));
  CHECK_FALSE(at("fortran").integers());
  CHECK(at("big_endian").integers() == NdArray<std::int64_t>({3}, {0, 1, 2}));
  CHECK(at("ordered").key(0).string() == "b");
  CHECK(integers_of(at("ordered")) == std::vector<std::int64_t>{1, 2});
  CHECK_FALSE(pickle.root().find("absent"));
}

TEST_CASE("an avatar's coordinates come whatever mixture of integers Python kept them in") {
  const Pickle pickle = Pickle::open(fixture("plain4.pkl"));
  const PickleValue coords = pickle.root().find("coords").value();
  REQUIRE(coords.size() == 6);
  CHECK(integers_of(coords.item(0)) == std::vector<std::int64_t>{10, 20, 30, 40});
  CHECK(integers_of(coords.item(5)) == integers_of(coords.item(0)));
  CHECK(coords.item(1).kind() == Kind::tuple);
  CHECK(reals_of(coords.item(2)) == std::vector<double>(4, 0.0));
}

TEST_CASE("a list that contains itself is read") {
  const Pickle pickle = Pickled(
                            "]q\x01h\x01"
                            "a.")
                            .open();  // l = []; l.append(l)
  CHECK(pickle.root().item(0).item(0).item(0).kind() == Kind::list);
}

TEST_CASE("NumPy 2 spells its modules in another way") {
  const std::string scalar =
      "cnumpy._core.multiarray\nscalar\ncnumpy\ndtype\nU\x02i2K\0K\1\x87R"
      "(K\3U\1<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0tb"s;
  CHECK(Pickled(scalar + "C\x02\7\0\x86R."s).open().root().integer() == 7);
  CHECK_THROWS_WITH(Pickled(scalar + "C\x01\7\x86R."s).open(), Catch::Contains("wrong size"));
}

TEST_CASE("an object of an unknown class is there and says nothing") {
  // collections.deque((), 3); x.append(1); x.__setstate__({}); os.system("true")
  const Pickle deque = Pickled("ccollections\ndeque\n)K\3\x86RK\1a}b.").open();
  CHECK(deque.root().kind() == Kind::other);
  CHECK(Pickled("cos\nsystem\nX\4\0\0\0true\x85R."s).open().root().kind() == Kind::other);
}

TEST_CASE("a pickle that does more than hold values is refused by opcode") {
  const auto [body, reason] = GENERATE(table<std::string, std::string>({
      {"I1\n.", "opcode 0x49"},             // INT
      {"S'a'\n.", "opcode 0x53"},           // STRING
      {"(ios\nsystem\n.", "opcode 0x69"},   // INST
      {"(cos\nsystem\no.", "opcode 0x6f"},  // OBJ
      {"Pid\n.", "opcode 0x50"},            // PERSID
      {"\x82\1.", "opcode 0x82"},           // EXT1
      {"\x97.", "opcode 0x97"},             // NEXT_BUFFER
      {"K\1\x98.", "opcode 0x98"},          // READONLY_BUFFER
      {"\xff.", "opcode 0xff"},
  }));
  INFO(reason);
  CHECK_THROWS_WITH(Pickled(body).open(), Catch::Contains(reason) && Catch::Contains("byte"));
}

TEST_CASE("a damaged pickle is refused with its cause") {
  const auto [body, reason] = GENERATE(table<std::string, std::string>({
      {"", "truncated"},
      {"K", "truncated"},
      {"X\xff\xff\xff\xff", "a string of 4294967295 bytes"},
      {"X\5\0\0\0ab"s, "truncated"},
      {"\x8d\xff\xff\xff\xff\xff\xff\xff\x7f", "a string of"},
      {"\x8e\xff\xff\xff\xff\xff\xff\xff\x7f", "truncated"},
      {"\x8b\0\1\0\0"s, "an integer of 256 bytes"},
      {"\x80\6N.", "protocol 6"},
      {".", "stack is empty"},
      {"NN.", "left over"},
      {"(N.", "left over"},
      {"t.", "no mark"},
      {"K\1(e.", "not a container of that kind"},
      {"N(0a.", "stack is empty"},
      {"](NNa.", "not a container of that kind"},
      {"}(Nu.", "a key without a value"},
      {"]K\1K\2s.", "not a container of that kind"},
      {"h\1.", "never stored"},
      {"q\1.", "stack is empty"},
      {"K\1)R.", "not a global"},
      {"cos\nsystem\nK\1R.", "not a tuple"},
      {"cos", "no end of line"},
      {"K\1K\2\x93.", "two strings"},
      {"]}b.", "state for a value that has none"},
      {"K\1Q.", "persistent id that is not a tuple"},
      {"X\6\0\0\0module\x85Q."s, "persistent id of no storage"},
      {"ctorch._utils\n_rebuild_tensor_v2\n)R.", "argument 0 is missing"},
      {"c_codecs\nencode\nX\3\0\0\0\xe2\x82\xacX\6\0\0\0latin1\x86R."s, "latin-1"},
      {"N.N", "1 bytes follow"},
  }));
  INFO(reason);
  CHECK_THROWS_WITH(Pickled(body).open(), Catch::Contains(reason));
}

TEST_CASE("a pickle made to exhaust memory or time is refused") {
  CHECK_THROWS_WITH(Pickled(repeated("N", 200'000) + ".").open(), Catch::Contains("too deep"));
  CHECK_THROWS_WITH(Pickled(repeated("(", 200'000) + ".").open(), Catch::Contains("marks"));
  CHECK_THROWS_WITH(Pickled(repeated("N0", 2'600'000) + "N.").open(), Catch::Contains("steps"));
  // A list of 20000 pairs, made into dicts again and again.
  const std::string pairs = "](" + repeated("NN\x86", 20'000) + "eq\1\x85q\2"s;
  CHECK_THROWS_WITH(Pickled(pairs + repeated("0ccollections\nOrderedDict\nh\2R", 300) + ".").open(),
                    Catch::Contains("steps"));
}
