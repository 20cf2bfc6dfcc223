#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "core/files/partial_path.h"
#include "tests/core/expect_error.h"
#include "tests/core/files/scratch_folder.h"

using namespace navtalk;
using namespace navtalk::test;
namespace fs = std::filesystem;
using Kind = PartialPath::Kind;

namespace {

std::vector<std::string> names(const fs::path& folder) {
  std::vector<std::string> result;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    result.push_back(entry.path().filename());
  std::sort(result.begin(), result.end());
  return result;
}
using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a file appears at commit, whole, and nothing else stays") {
  const ScratchFolder folder;
  {
    PartialPath output({.target = folder / "out.mp4"});
    put(output.path(), "data");
    CHECK_FALSE(fs::exists(folder / "out.mp4"));
    output.commit();
  }
  CHECK(names(folder.path()) == Names{"out.mp4"});
  CHECK(content(folder / "out.mp4") == "data");
}

TEST_CASE("a commit tells of each piece that the disk has") {
  const ScratchFolder folder;
  const std::string nine_mib(std::size_t{9} << 20, 'x');
  PartialPath output({.target = folder / "out.mp4"});
  put(output.path(), nine_mib);
  int pieces = 0;
  output.commit([&] {
    ++pieces;
    CHECK_FALSE(fs::exists(folder / "out.mp4"));
  });
  CHECK(pieces == 3);
  CHECK((content(folder / "out.mp4") == nine_mib));
}

TEST_CASE("without commit nothing stays") {
  const ScratchFolder folder;
  { put(PartialPath({.target = folder / "out.mp4"}).path(), "data"); }
  {
    const PartialPath output({.target = folder / "out", .kind = Kind::directory});
    put(output.path() / "a", "data");
  }
  CHECK(names(folder.path()).empty());
}

TEST_CASE("a moved output is removed once, by its last owner") {
  const ScratchFolder folder;
  {
    PartialPath first({.target = folder / "out.mp4"});
    PartialPath second(std::move(first));
    CHECK(fs::exists(second.path()));
  }
  CHECK(names(folder.path()).empty());
}

TEST_CASE("an existing file is kept unless it may be overwritten, and until commit") {
  const ScratchFolder folder;
  put(folder / "out.mp4", "old");
  expect_error(Code::invalid, {"out.mp4 exists", "--force"},
               [&] { PartialPath({.target = folder / "out.mp4"}); });
  {
    PartialPath output({.target = folder / "out.mp4", .overwrite = true});
    put(output.path(), "new");
    CHECK(content(folder / "out.mp4") == "old");
    output.commit();
  }
  CHECK(content(folder / "out.mp4") == "new");
  CHECK(names(folder.path()) == Names{"out.mp4"});
}

TEST_CASE("what is refused as a target is refused by the check before, and nothing else") {
  const ScratchFolder folder;
  put(folder / "there.mp4", "old");
  fs::create_directory(folder / "folder.mp4");
  fs::create_symlink(folder / "missing", folder / "link.mp4");
  const auto refusal = [&](auto&& make) -> std::string {
    try {
      make();
    } catch (const Error& error) {
      return error.message();
    }
    return "";
  };
  for (const std::string name : {"there.mp4", "folder.mp4", "folder.mp4/", "link.mp4", "new.mp4"}) {
    for (const bool overwrite : {false, true}) {
      CAPTURE(name, overwrite);
      const fs::path target = folder / name;
      const std::string early = refusal([&] { PartialPath::check_file(target, overwrite); });
      CHECK(early.empty() == (name == "new.mp4" || (overwrite && name.front() != 'f')));
      CHECK(early == refusal([&] { PartialPath({.target = target, .overwrite = overwrite}); }));
    }
  }
  CHECK(names(folder.path()) == Names{"folder.mp4", "link.mp4", "there.mp4"});
}

TEST_CASE("a target that appears during the work is not overwritten") {
  const ScratchFolder folder;
  PartialPath output({.target = folder / "out.mp4"});
  put(folder / "out.mp4", "somebody else's");
  expect_error(Code::failed, {"out.mp4", "File exists"}, [&] { output.commit(); });
  CHECK(content(folder / "out.mp4") == "somebody else's");
}

TEST_CASE("a folder is replaced only when it is empty or an earlier output") {
  const ScratchFolder folder;
  const auto replace = [&](const std::string& marker) {
    PartialPath output(
        {.target = folder / "out", .kind = Kind::directory, .overwrite = true, .marker = marker});
    put(output.path() / "avatar.json", "new");
    output.commit();
  };
  fs::create_directory(folder / "out");
  replace("avatar.json");
  CHECK(names(folder / "out") == Names{"avatar.json"});
  put(folder / "out/more", "");
  replace("avatar.json");
  CHECK(names(folder / "out") == Names{"avatar.json"});

  fs::remove(folder / "out/avatar.json");
  put(folder / "out/thesis.txt", "years of work");
  expect_error(Code::invalid, {"out holds other things"}, [&] { replace("avatar.json"); });
  expect_error(Code::invalid, {"out holds other things"}, [&] { replace(""); });
  CHECK(names(folder / "out") == Names{"thesis.txt"});
  CHECK(names(folder.path()) == Names{"out"});
}

TEST_CASE("an interrupted folder is resumed on request, and emptied otherwise") {
  const ScratchFolder folder;
  const PartialPath::Options options{.target = folder / "out/", .kind = Kind::directory};
  {
    PartialPath output(options);
    put(output.path() / "a", "data");
    output.keep_partial();
  }
  CHECK(names(folder.path()) == Names{"out.partial"});
  {
    PartialPath::Options resumed = options;
    resumed.resume = true;
    PartialPath output(resumed);
    CHECK(names(output.path()) == Names{"a"});
    output.keep_partial();
  }
  {
    PartialPath output(options);
    CHECK(names(output.path()).empty());
    put(output.path() / "b", "data");
    output.commit();
  }
  CHECK(names(folder.path()) == Names{"out"});
  CHECK(names(folder / "out") == Names{"b"});
}

TEST_CASE("what cannot be an output is refused before any work") {
  const ScratchFolder folder;
  const auto open = [](const fs::path& target, Kind kind = Kind::file) {
    PartialPath({.target = target, .kind = kind, .overwrite = true});
  };
  expect_error(Code::not_found, {"missing", "does not exist"},
               [&] { open(folder / "missing/out.mp4"); });
  put(folder / "file", "");
  expect_error(Code::invalid, {"is not a folder"}, [&] { open(folder / "file/out.mp4"); });
  expect_error(Code::invalid, {"not a regular file"}, [&] { open(folder.path()); });
  expect_error(Code::invalid, {"not a regular file"}, [&] { open("/dev/null"); });
  expect_error(Code::invalid, {"not a folder"}, [&] { open(folder / "file", Kind::directory); });
  for (const char* nameless : {"", ".", "..", "/"}) {
    expect_error(Code::invalid, {"does not name an output"}, [&] { open(nameless); });
  }
  expect_error(Code::failed, {"File name too long"}, [&] { open(folder / std::string(250, 'x')); });
  expect_error(Code::failed, {"/proc/", "cannot be written"}, [&] { open("/proc/out.mp4"); });
  CHECK(names(folder.path()) == Names{"file"});
}

TEST_CASE("a folder without permission is refused before any work") {
  if (::geteuid() != 0) {
    WARN("skipped: needs root to become another user");
    return;
  }
  const ScratchFolder folder;
  fs::permissions(folder.path(), fs::perms::owner_all | fs::perms::others_exec);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setuid(65534) != 0) ::_exit(2);
    try {
      PartialPath({.target = folder / "out.mp4"});
    } catch (const Error& error) {
      const bool says_why = error.message().find("Permission denied") != std::string::npos;
      ::_exit(error.code() == Code::failed && says_why ? 0 : 3);
    }
    ::_exit(4);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("two runs never write one target at once") {
  const ScratchFolder folder;
  const Kind kind = GENERATE(Kind::file, Kind::directory);
  PartialPath first({.target = folder / "out", .kind = kind});
  expect_error(Code::failed, {"out is being written by another run"},
               [&] { PartialPath({.target = folder / "out", .kind = kind}); });
  CHECK(fs::exists(first.path()));
}

TEST_CASE("a leftover that is a link is not written through") {
  const ScratchFolder folder;
  put(folder / "precious", "data");
  fs::create_symlink(folder / "precious", folder / "out.mp4.partial");
  expect_error(Code::failed, {"out.mp4.partial"},
               [&] { PartialPath({.target = folder / "out.mp4"}); });
  CHECK(content(folder / "precious") == "data");
}

TEST_CASE("a leftover that others own or may change is not trusted") {
  const ScratchFolder folder;
  const Kind kind = GENERATE(Kind::file, Kind::directory);
  const fs::path leftover = folder / "out.partial";
  if (kind == Kind::file) {
    put(leftover, "before");
  } else {
    fs::create_directory(leftover);
    put(leftover / "frames.mp4", "before");
  }
  const auto open = [&] {
    PartialPath({.target = folder / "out", .kind = kind, .overwrite = true, .resume = true});
  };
  fs::permissions(leftover, fs::perms::others_write, fs::perm_options::add);
  expect_error(Code::failed, {"out.partial can be written by other users", "remove it"}, open);
  fs::permissions(leftover, fs::perms::others_write, fs::perm_options::remove);
  if (::geteuid() == 0) {
    REQUIRE(::chown(leftover.c_str(), 65534, 65534) == 0);
    expect_error(Code::failed, {"out.partial belongs to another user", "remove it"}, open);
    REQUIRE(::chown(leftover.c_str(), 0, 0) == 0);
  }
  CHECK(content(kind == Kind::file ? leftover : leftover / "frames.mp4") == "before");
  CHECK_NOTHROW(open());
}

TEST_CASE("a leftover with a second name is not written") {
  const ScratchFolder folder;
  put(folder / "precious", "data");
  fs::create_hard_link(folder / "precious", folder / "out.mp4.partial");
  expect_error(Code::failed, {"out.mp4.partial has another name too"},
               [&] { PartialPath({.target = folder / "out.mp4"}); });
  CHECK(content(folder / "precious") == "data");
}

TEST_CASE("an output gets the permissions of a new file, however narrow its making was") {
  const ScratchFolder folder;
  const Kind kind = GENERATE(Kind::file, Kind::directory);
  const mode_t before = ::umask(002);
  PartialPath output({.target = folder / "out", .kind = kind});
  const auto group_writes = [](const fs::path& path) {
    return (fs::status(path).permissions() & fs::perms::group_write) != fs::perms::none;
  };
  CHECK_FALSE(group_writes(output.path()));
  output.commit();
  CHECK(group_writes(folder / "out"));
  ::umask(before);
}

TEST_CASE("a folder that a link replaces during the work redirects nothing") {
  const ScratchFolder scratch;
  const Kind kind = GENERATE(Kind::file, Kind::directory);
  const bool leaves = GENERATE(true, false);  // without commit
  const fs::path outputs = scratch / "outputs", elsewhere = scratch / "elsewhere";
  fs::create_directory(outputs);
  fs::create_directory(elsewhere);
  const auto data = [&](const fs::path& output) {
    return kind == Kind::file ? output : output / "avatar.json";
  };
  {
    PartialPath output({.target = outputs / "out", .kind = kind, .overwrite = true});
    fs::rename(outputs, scratch / "moved");
    fs::create_directory_symlink(elsewhere, outputs);
    for (const char* name : {"out.partial", "out"}) {
      fs::create_directories(data(elsewhere / name).parent_path());
      put(data(elsewhere / name), "theirs");
    }
    put(data(output.path()), "ours");
    if (!leaves) output.commit();
  }
  CHECK(names(elsewhere) == Names{"out", "out.partial"});
  CHECK(content(data(elsewhere / "out")) == "theirs");
  CHECK(content(data(elsewhere / "out.partial")) == "theirs");
  CHECK(names(scratch / "moved") == (leaves ? Names{} : Names{"out"}));
  if (!leaves) CHECK(content(data(scratch / "moved/out")) == "ours");
}

TEST_CASE("a partial output that is replaced during the work is not taken for it") {
  const ScratchFolder folder;
  const Kind kind = GENERATE(Kind::file, Kind::directory);
  put(folder / "precious", "data");
  {
    PartialPath output({.target = folder / "out", .kind = kind});
    fs::rename(folder / "out.partial", folder / "moved");
    fs::create_symlink(folder / "precious", folder / "out.partial");
    put(kind == Kind::file ? output.path() : output.path() / "a", "ours");
    expect_error(Code::failed, {"out.partial was moved or replaced"}, [&] { output.commit(); });
  }
  CHECK(content(folder / "precious") == "data");
  CHECK(names(folder.path()) == Names{"moved", "out.partial", "precious"});
}

TEST_CASE("an output's messages have the name that people know") {
  const ScratchFolder folder;
  const PartialPath output({.target = folder / "out", .kind = Kind::directory});
  const std::string path = output.path().string(), known = (folder / "out.partial").string();
  CHECK(output.named(path + " and " + path + "/a, not " + path + "0") ==
        known + " and " + known + "/a, not " + path + "0");
}
