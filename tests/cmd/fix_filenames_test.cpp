#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cmd/shell.h"
#include "tests/temporary_directory.h"

using navtalk::tests::contains;
using navtalk::tests::Ran;
using navtalk::tests::shell;
using navtalk::tests::TemporaryDirectory;

TEST_CASE("fix-filenames tells what it did in one line a name, bytes escaped") {
  const TemporaryDirectory top;
  const Ran ran = shell("touch $'a\\r' $'\\xff\\n\\r'; navtalk fix-filenames .", top.path());
  CHECK(ran.status == 0);
  CHECK(ran.out ==
        "renamed a\\r -> a\n"
        "renamed \\xff\\n\\r -> \\xff\\n\n"
        "2 names looked at, 2 renamed, 0 left\n");
}

TEST_CASE("fix-filenames exits with 1 when a name had to be left") {
  const TemporaryDirectory top;
  const Ran ran = shell("touch a $'a\\r'; navtalk fix-filenames .", top.path());
  CHECK(ran.status == 1);
  CHECK(contains(ran.out, "left a\\r -> a: that name is taken\n"));
}

TEST_CASE("fix-filenames --dry-run changes nothing") {
  const TemporaryDirectory top;
  const Ran ran = shell("touch $'a\\r'; navtalk fix-filenames --dry-run .; ls | od -c", top.path());
  CHECK(contains(ran.out, "would rename a\\r -> a\n"));
  CHECK(contains(ran.out, "a  \\r  \\n"));
}

TEST_CASE("fix-filenames --json gives paths that are not UTF-8 in hexadecimal too") {
  const TemporaryDirectory top;
  const Ran ran = shell("touch $'\\xff\\r'; navtalk fix-filenames . --json", top.path());
  const auto object = nlohmann::json::parse(ran.out);
  CHECK(object.at("renamed") == 1);
  const auto& name = object.at("names").at(0);
  CHECK(name.at("from") == "\xEF\xBF\xBD\r");
  CHECK(name.at("from_hex") == "ff0d");
  CHECK(name.at("to_hex") == "ff");
  CHECK(name.at("outcome") == "renamed");
}

TEST_CASE("a folder whose name begins with a dash is named behind --") {
  const TemporaryDirectory top;
  const Ran ran = shell(
      "mkdir -- --json; touch -- $'--json/-rf\\r'; navtalk fix-filenames -- --json; ls ./--json",
      top.path());
  CHECK(ran.status == 0);
  CHECK(contains(ran.out, "\n-rf\n"));
}

TEST_CASE("fix-filenames says when the folder is missing or is a file") {
  CHECK(shell("navtalk fix-filenames /nowhere").status == 4);
  CHECK(shell("navtalk fix-filenames /etc/passwd").status == 3);
}

TEST_CASE("Ctrl-C ends fix-filenames with 130 and SIGTERM with 143, every name whole") {
  // The report goes to a pipe that nobody reads, so that the command surely still runs.
  const std::string status = GENERATE("INT 130", "TERM 143");
  const TemporaryDirectory top;
  const Ran ran = shell(
      "mkdir tree; for i in {1..6000}; do printf x > tree/$i$'\\r'; done\n"
      "mkfifo pipe; sleep infinity < pipe & reader=$!\n"
      "navtalk fix-filenames tree > pipe & pid=$!\n"
      "until [ -e tree/1 ]; do kill -0 $pid || exit 98; done\n"
      "kill -" +
          status.substr(0, status.find(' ')) +
          " $pid; kill $reader; wait $pid; echo $?\n"
          "cat tree/* | wc -c",
      top.path());
  CHECK(ran.out == status.substr(status.find(' ') + 1) + "\n6000\n");
}
