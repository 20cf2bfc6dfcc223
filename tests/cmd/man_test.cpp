// The manual beside the binary: every option stands in its page, no page names one that is not
// there, and the examples run.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "tests/cmd/shell.h"
#include "tests/temporary_directory.h"

using navtalk::tests::contains;
using navtalk::tests::Ran;
using navtalk::tests::shell;

namespace {

using Names = std::set<std::string>;
const std::filesystem::path k_man = NAVTALK_SOURCE "/man";

std::string page(const std::string& name) {
  std::ifstream in(k_man / name);
  return {std::istreambuf_iterator<char>(in), {}};
}

Names all(const std::string& text, const std::string& pattern) {
  Names names;
  const std::regex expression(pattern);
  for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at) {
    names.insert((*at)[1]);
  }
  return names;
}

// The options of each page's commands, as the binary itself tells them: its fish completions have
// one line an option.
std::map<std::string, Names> options_of_pages() {
  std::map<std::string, Names> options;
  std::istringstream script(shell("navtalk completions fish").out);
  const std::regex option(
      R"(complete -c navtalk(?: -n '__navtalk_at ([a-z-]+)[^']*')? -l ([a-z-]+).*)");
  const std::regex command(R"(complete -c navtalk -n '__navtalk_at ' -a ([a-z-]+) .*)");
  for (std::string line; std::getline(script, line);) {
    std::smatch match;
    if (std::regex_match(line, match, option)) {
      options[match[1].matched ? "navtalk-" + match[1].str() + ".1" : "navtalk.1"].insert(match[2]);
    } else if (std::regex_match(line, match, command)) {
      options["navtalk-" + match[1].str() + ".1"];
    }
  }
  return options;
}

Names united(Names a, const Names& b) {
  a.insert(b.begin(), b.end());
  return a;
}

Names without(const Names& a, const Names& b) {
  Names rest;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::inserter(rest, rest.end()));
  return rest;
}

bool has_mandoc() { return shell("command -v mandoc").status == 0; }

}  // namespace

TEST_CASE("every command has a page, and every page a command") {
  Names pages, expected = {"navtalk.toml.5"};
  for (const auto& entry : std::filesystem::directory_iterator(k_man)) {
    pages.insert(entry.path().filename());
  }
  for (const auto& [name, options] : options_of_pages()) expected.insert(name);
  CHECK(pages == expected);
}

TEST_CASE("every option stands in its page, and no page names another") {
  const auto pages = options_of_pages();
  const Names& global = pages.at("navtalk.1");
  REQUIRE(global.count("json") == 1);
  for (const auto& [name, options] : pages) {
    INFO(name);
    CHECK(without(options, all(page(name), R"(\.It (?:Fl [a-z] , )?Fl -([a-z-]+))")) == Names{});
    CHECK(without(all(page(name), R"(Fl -([a-z-]+))"), united(options, global)) == Names{});
  }
}

TEST_CASE("navtalk(1) refers to every other page") {
  for (const auto& [name, options] : options_of_pages()) {
    if (name == "navtalk.1") continue;
    CHECK(contains(page("navtalk.1"), ".It Xr " + name.substr(0, name.size() - 2) + " 1\n"));
  }
}

TEST_CASE("navtalk.toml(5) has every key in its section, and no other") {
  std::string expected;
  const Ran ran = shell("navtalk config show --json");
  const auto shown = nlohmann::json::parse(ran.out);
  std::string section;
  for (const auto& key : shown.at("keys")) {
    const std::string name = key.at("key");
    const std::string in = name.substr(0, name.find('.'));
    if (in != section) expected += "[" + in + "]\n";
    section = in;
    expected += name.substr(name.find('.') + 1) + "\n";
  }
  std::string found;
  std::istringstream text(page("navtalk.toml.5"));
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with(".Ss Section ")) found += line.substr(12) + "\n";
    if (line.starts_with(".It Cm ")) found += line.substr(7) + "\n";
  }
  CHECK(found == expected);
}

TEST_CASE("the pages are good mdoc") {
  if (!has_mandoc()) {
    WARN("skipped: mandoc is not installed");
    return;
  }
  const Ran ran = shell("cd '" + k_man.string() + "' && mandoc -T lint -W warning *");
  CHECK(ran.out == "");
  CHECK(ran.status == 0);
}

// Lines behind "$ " in the pages; the others need files that only their user has.
TEST_CASE("the examples of the manual run") {
  if (!has_mandoc()) {
    WARN("skipped: mandoc is not installed");
    return;
  }
  const navtalk::tests::TemporaryDirectory folder;
  const Ran ran = shell(
      "mkdir videos\nset -o pipefail\n"
      "for page in '" +
          k_man.string() +
          "'/*; do\n"
          "  mandoc -T ascii -O width=500 $page | sed -n 's/^ *\\$ //p' > lines\n"
          "  while read -r line; do\n"
          "    bash -c \"$line\" < /dev/null > out 2>&1 || { echo \"$line\"; cat out; }\n"
          "    echo ran >> count\n"
          "  done < lines\n"
          "done\nwc -l < count >&2",
      folder.path());
  CHECK(ran.out == "");
  CHECK(std::stoi(ran.err) > 5);
}
