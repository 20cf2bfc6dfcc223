#include "core/files/fix_filenames.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <random>
#include <set>

#include "core/base/error.h"
#include "core/base/unique_fd.h"
#include "tests/temporary_directory.h"

namespace fs = std::filesystem;
using namespace navtalk;
using navtalk::tests::TemporaryDirectory;
using Outcome = FixedName::Outcome;

namespace {

struct Ran {
  FixFilenamesResult result;
  std::vector<FixedName> names;
};

Ran fix(const fs::path& directory, bool dry_run = false) {
  Ran ran;
  ran.result = fix_filenames({.directory = directory, .dry_run = dry_run},
                             [&](const FixedName& name) { ran.names.push_back(name); });
  return ran;
}

void write(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }

std::string read(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Every path below the folder with a file's content, a link's target, or "/" for a folder.
std::map<std::string, std::string> tree(const fs::path& top) {
  std::map<std::string, std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(top)) {
    const std::string name = entry.path().lexically_relative(top).native();
    found[name] = entry.is_symlink()     ? fs::read_symlink(entry.path()).native()
                  : entry.is_directory() ? "/"
                                         : read(entry.path());
  }
  return found;
}

}  // namespace

TEST_CASE("carriage returns leave a name wherever they stand, all other bytes stay") {
  struct Row {
    std::string before, after;
  };
  const auto row = GENERATE(values<Row>({
      {"end\r", "end"},
      {"\rfront", "front"},
      {"mid\rdle", "middle"},
      {"many\r\r\r", "many"},
      {"new\nline\r\n", "new\nline\n"},
      {" spaces \r", " spaces "},
      {"-rf\r", "-rf"},
      {"--help\r", "--help"},
      {"\xFF\xFE\r", "\xFF\xFE"},
      {"\xE6\x97\xA5\r.txt", "\xE6\x97\xA5.txt"},
      {"...\r", "..."},
      {".\rhidden", ".hidden"},
      {"\\r", "\\r"},
      {"plain", "plain"},
  }));
  const TemporaryDirectory top;
  write(top / row.before, "content");
  const Ran ran = fix(top.path());
  CHECK(tree(top.path()) == std::map<std::string, std::string>{{row.after, "content"}});
  CHECK(ran.result.left == 0);
  CHECK(ran.result.renamed == (row.before == row.after ? 0 : 1));
}

TEST_CASE("a name of which nothing usable is left stays and is reported") {
  const std::string name = GENERATE("\r", "\r\r", ".\r", "\r.", "\r..", ".\r.");
  const TemporaryDirectory top;
  write(top / name, "content");
  const Ran ran = fix(top.path());
  CHECK(tree(top.path()).count(name) == 1);
  CHECK(ran.result.left == 1);
  REQUIRE(ran.names.size() == 1);
  CHECK(ran.names[0].outcome == Outcome::no_name_left);
}

TEST_CASE("nothing is overwritten when the repaired name is taken") {
  const TemporaryDirectory top;
  write(top / "a", "old");
  write(top / "a\r", "new");
  fs::create_directory(top / "b");
  write(top / "b\r", "a file beside a folder");
  write(top / "c", "a file beside a folder");
  fs::create_directory(top / "c\r");
  fs::create_symlink("nowhere", top / "d");
  write(top / "d\r", "beside a dangling link");
  const auto before = tree(top.path());
  const Ran ran = fix(top.path());
  CHECK(tree(top.path()) == before);
  CHECK(ran.result.left == 4);
  for (const FixedName& name : ran.names) CHECK(name.outcome == Outcome::collision);
}

TEST_CASE("of two names that become one the first is repaired and the second reported") {
  const TemporaryDirectory top;
  write(top / "a\r", "one");
  write(top / "a\r\r", "two");
  const Ran ran = fix(top.path());
  CHECK(tree(top.path()) == std::map<std::string, std::string>{{"a", "one"}, {"a\r\r", "two"}});
  CHECK(ran.result.renamed == 1);
  CHECK(ran.result.left == 1);
}

TEST_CASE("folders are repaired after what they hold") {
  const TemporaryDirectory top;
  fs::create_directories(top / "a\r/b\rb/c\r");
  write(top / "a\r/b\rb/c\r/d\r", "deep");
  fix(top.path());
  CHECK(read(top / "a/bb/c/d") == "deep");
}

TEST_CASE("a symbolic link is renamed but not followed") {
  const TemporaryDirectory outside, top;
  write(outside / "kept\r", "");
  fs::create_directory_symlink(outside.path(), top / "link\r");
  fs::create_directory_symlink("..", top / "up");
  fix(top.path());
  CHECK(fs::exists(outside / "kept\r"));
  CHECK(fs::read_symlink(top / "link") == outside.path());
}

TEST_CASE("a dry run changes nothing and says what the real run then does") {
  const TemporaryDirectory top;
  fs::create_directories(top / "a\r/b\r");
  write(top / "x\r", "");
  write(top / "x\r\r", "");
  write(top / "y", "");
  write(top / "y\r", "");
  write(top / "\r", "");
  const auto before = tree(top.path());
  const Ran dry = fix(top.path(), true);
  CHECK(tree(top.path()) == before);
  const Ran real = fix(top.path());
  REQUIRE(dry.names.size() == real.names.size());
  for (std::size_t i = 0; i < dry.names.size(); ++i) {
    CHECK(dry.names[i].from == real.names[i].from);
    CHECK(dry.names[i].to == real.names[i].to);
    CHECK(dry.names[i].outcome == real.names[i].outcome);
  }
}

TEST_CASE("a missing folder and a file in its place have errors of their own") {
  const TemporaryDirectory top;
  write(top / "file", "");
  const auto code = [](const fs::path& path) {
    try {
      fix(path);
    } catch (const Error& error) {
      return error.code();
    }
    return Code::failed;
  };
  CHECK(code(top / "missing") == Code::not_found);
  CHECK(code(top / "file") == Code::invalid);
}

TEST_CASE("a stop request ends the walk before the next rename") {
  const TemporaryDirectory top;
  write(top / "a\r", "");
  write(top / "b\r", "");
  std::stop_source stop;
  const auto stop_after_first = [&](const FixedName&) { stop.request_stop(); };
  CHECK_THROWS_AS(fix_filenames({.directory = top.path()}, stop_after_first, {}, stop.get_token()),
                  Error);
  CHECK(fs::exists(top / "a"));
  CHECK(fs::exists(top / "b\r"));
}

TEST_CASE("a tree deeper than the limit of open files is repaired to the bottom") {
  constexpr int k_depth = 400;
  const TemporaryDirectory top;
  UniqueFd at(open(top.path().c_str(), O_RDONLY | O_DIRECTORY));
  for (int i = 0; i < k_depth; ++i) {
    REQUIRE(mkdirat(at.value(), "d\r", S_IRWXU) == 0);
    at = UniqueFd(openat(at.value(), "d\r", O_RDONLY | O_DIRECTORY));
  }
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const rlimit small{.rlim_cur = 80, .rlim_max = limit.rlim_max};
  setrlimit(RLIMIT_NOFILE, &small);
  const Ran ran = fix(top.path());
  setrlimit(RLIMIT_NOFILE, &limit);
  CHECK(ran.result.renamed == k_depth);
  CHECK(ran.result.left == 0);
  // remove_all() would recurse with the whole path: taken down from the top, one level at a time.
  at = UniqueFd(open(top.path().c_str(), O_RDONLY | O_DIRECTORY));
  for (int i = 0; i < k_depth; ++i) {
    if (renameat(at.value(), "d/d", at.value(), "e") == 0) {
      REQUIRE(unlinkat(at.value(), "d", AT_REMOVEDIR) == 0);
      REQUIRE(renameat(at.value(), "e", at.value(), "d") == 0);
    }
  }
}

namespace {

// A tree of random names, a third of its characters carriage returns; file contents are numbers, so
// that a lost or overwritten file shows.
class RandomTree {
 public:
  RandomTree(const fs::path& top, unsigned seed) : random_(seed) { fill(top, 0); }
  int files() const { return files_; }

 private:
  void fill(const fs::path& folder, int depth) {
    for (int i = 0; i < 12; ++i) {
      const fs::path path = folder / random_name();
      if (fs::exists(fs::symlink_status(path))) continue;
      if (depth < 2 && pick(4) == 0) {
        fs::create_directory(path);
        fill(path, depth + 1);
      } else {
        write(path, std::to_string(files_++));
      }
    }
  }
  std::string random_name() {
    static const std::string letters = std::string("\r\r\r\r\n -.ab\xFF") + "\xC3\xA9";
    std::string name;
    do {
      name.clear();
      const std::size_t length = 1 + pick(5);
      for (std::size_t i = 0; i < length; ++i) name += letters[pick(letters.size())];
    } while (name == "." || name == "..");
    return name;
  }
  std::size_t pick(std::size_t count) {
    return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_);
  }

  std::mt19937 random_;
  int files_ = 0;
};

bool has_no_good_name(const std::string& name) {
  return name.empty() || name == "." || name == "..";
}

}  // namespace

TEST_CASE("over thousands of random names no file is lost and only what must stay is left") {
  int files = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    const TemporaryDirectory top;
    const RandomTree random(top.path(), seed);
    files += random.files();
    const auto before = tree(top.path());
    const Ran dry = fix(top.path(), true);
    REQUIRE(tree(top.path()) == before);
    const Ran ran = fix(top.path());
    REQUIRE(ran.result.renamed == dry.result.renamed);
    REQUIRE(ran.result.left == dry.result.left);

    const auto after = tree(top.path());
    std::set<std::string> contents;
    std::size_t left = 0;
    for (const auto& [path, content] : after) {
      if (content != "/") contents.insert(content);
      const fs::path name = fs::path(path).filename();
      const std::string clean = without_carriage_returns(name.native());
      if (clean == name) continue;
      ++left;
      const std::string sibling = (fs::path(path).parent_path() / clean).native();
      REQUIRE((has_no_good_name(clean) || after.count(sibling) == 1));
    }
    REQUIRE(after.size() == before.size());
    REQUIRE(contents.size() == static_cast<std::size_t>(random.files()));
    REQUIRE(left == ran.result.left);
    REQUIRE(fix(top.path()).result.renamed == 0);
  }
  CHECK(files > 2000);
}
