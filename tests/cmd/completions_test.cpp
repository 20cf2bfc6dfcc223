// The completion scripts in the shells they are for: the packaged files, which one test compares
// with what the binary prints.
#include <catch2/catch.hpp>

#include "tests/cmd/shell.h"

using navtalk::tests::contains;
using navtalk::tests::Ran;
using navtalk::tests::shell;

namespace {

// What bash offers for a line, given as words; the last one is being completed.
std::string bash_offers(const std::string& words) {
  return shell("source " NAVTALK_SOURCE "/completions/navtalk.bash\nCOMP_WORDS=(" + words +
               ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_navtalk\nprintf '%s\\n' "
               "\"${COMPREPLY[@]}\"")
      .out;
}

std::string fish_offers(const std::string& line) {
  return shell("fish --no-config -c \"source " NAVTALK_SOURCE
               "/completions/navtalk.fish; complete -C '" +
               line + "'\" | cut -f1")
      .out;
}

// zsh completes only in an interactive shell on a terminal: zpty is one. Matches are printed by a
// compadd that hands on what it adds.
std::string zsh_offers(const std::string& line) {
  return shell("cp " NAVTALK_SOURCE "/completions/_navtalk $HOME; zsh -f " NAVTALK_SOURCE
               "/tests/cmd/zsh_offers \"$HOME/_navtalk\" '" +
               line + "'")
      .out;
}

}  // namespace

TEST_CASE("bash completes commands, options, values and paths") {
  CHECK(contains(bash_offers("navtalk ''"), "fix-filenames\n"));
  CHECK(bash_offers("navtalk config sh") == "show\n");
  CHECK(bash_offers("navtalk fix-filenames --dr") == "--dry-run\n");
  CHECK(bash_offers("navtalk config show --js") == "--json\n");
  CHECK(bash_offers("navtalk --log-level de") == "debug\n");
  CHECK(bash_offers("navtalk --log-level = de") == "debug\n");
  CHECK(bash_offers("navtalk completions z") == "zsh\n");
  CHECK(bash_offers("navtalk fix-filenames /et") == "/etc\n");
  CHECK(bash_offers("navtalk --config /etc/os-rel") == "/etc/os-release\n");
  CHECK(bash_offers("navtalk --config config fix") == "fix-filenames\n");
  CHECK(bash_offers("navtalk infer --avatar ''") == "ada\ntheo\n");
  CHECK(bash_offers("navtalk avatar show th") == "theo\n");
  CHECK(bash_offers("navtalk infer --avatar /et") == "/etc\n");
  CHECK(contains(bash_offers("navtalk infer --voice en-u"), "en-us\n"));
}

TEST_CASE("fish completes commands, options, values and paths") {
  if (shell("command -v fish").status != 0) {
    WARN("skipped: fish is not installed");
    return;
  }
  CHECK(contains(fish_offers("navtalk "), "fix-filenames\n"));
  CHECK(fish_offers("navtalk config sh") == "show\n");
  CHECK(fish_offers("navtalk fix-filenames --dr") == "--dry-run\n");
  CHECK(fish_offers("navtalk --log-level de") == "debug\n");
  CHECK(fish_offers("navtalk completions z") == "zsh\n");
  CHECK(contains(fish_offers("navtalk fix-filenames /et"), "/etc/\n"));
  CHECK(contains(fish_offers("navtalk infer --avatar "), "theo\n"));
}

TEST_CASE("zsh completes commands, options, values and paths") {
  if (shell("command -v zsh").status != 0) {
    WARN("skipped: zsh is not installed");
    return;
  }
  CHECK(contains(zsh_offers("navtalk "), "fix-filenames\n"));
  CHECK(contains(zsh_offers("navtalk config "), "show\n"));
  CHECK(contains(zsh_offers("navtalk fix-filenames --"), "--dry-run\n"));
  CHECK(contains(zsh_offers("navtalk --log-level "), "debug\n"));
  CHECK(contains(zsh_offers("navtalk completions "), "zsh\n"));
  CHECK(contains(zsh_offers("navtalk fix-filenames /"), "etc\n"));
  CHECK(contains(zsh_offers("navtalk infer --avatar "), "theo\n"));
  CHECK(contains(zsh_offers("navtalk infer --voice "), "en-us\n"));
}

TEST_CASE("the completion files of the package are what the binary prints") {
  INFO("make them again with: cmake --build --preset cpu --target completions");
  const Ran ran = shell("set -e\ncd " NAVTALK_SOURCE
                        "/completions\n"
                        "navtalk completions bash | diff - navtalk.bash\n"
                        "navtalk completions zsh | diff - _navtalk\n"
                        "navtalk completions fish | diff - navtalk.fish\n");
  CHECK(ran.status == 0);
  CHECK(ran.out.empty());
}
