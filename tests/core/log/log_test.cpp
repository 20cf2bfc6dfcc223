#include "core/log/log.h"

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "tests/temporary_directory.h"

using namespace navtalk;

namespace {

// What `work` writes to standard error.
template <class Work>
std::string standard_error(Work work) {
  const tests::TemporaryDirectory folder;
  const int kept = dup(STDERR_FILENO);
  const int file = open((folder / "err").c_str(), O_WRONLY | O_CREAT, 0600);
  dup2(file, STDERR_FILENO);
  work();
  dup2(kept, STDERR_FILENO);
  close(file);
  close(kept);
  std::ifstream in(folder / "err");
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("a text log is a line a message, fields behind it, controls escaped") {
  CHECK(standard_error([] {
          log::start("info", "text", false);
          log::debug("not shown");
          log::info("loaded", {{"file", "a\nb"}, {"frames", "12"}});
          log::warn("odd \x1b[31m name");
        }) ==
        "navtalk: info: loaded file=a\\nb frames=12\n"
        "navtalk: warn: odd \\x1b[31m name\n");
}

TEST_CASE("a JSON log is an object a line, fields beside the message") {
  const std::string line = standard_error([] {
    log::start("warn", "json", false);
    log::info("not shown");
    log::error("say \"no\"\xff", {{"session", "17"}});
  });
  const auto object = nlohmann::json::parse(line);
  CHECK(object.at("level") == "error");
  CHECK(object.at("message") == "say \"no\"\xEF\xBF\xBD");
  CHECK(object.at("session") == "17");
  const std::string time = object.at("time");
  CHECK(time.size() == std::string("2026-11-21T14:03:07.250Z").size());
  CHECK(time.back() == 'Z');
}

TEST_CASE("a log without a terminal is JSON") {
  CHECK(standard_error([] {
          log::start("warn", "auto", false);
          log::warn("x");
        }).starts_with("{"));
}

TEST_CASE("unknown log levels and formats are refused by name") {
  CHECK_THROWS_WITH(log::start("loud", "auto", false), Catch::Contains("'loud'"));
  CHECK_THROWS_WITH(log::start("info", "xml", false), Catch::Contains("'xml'"));
}
