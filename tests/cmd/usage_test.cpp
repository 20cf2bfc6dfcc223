// The command line as scripts meet it: what goes where, and with which exit status.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cmd/shell.h"

using navtalk::tests::contains;
using navtalk::tests::Ran;
using navtalk::tests::shell;

TEST_CASE("help shows every command in full and goes to standard output") {
  const Ran ran = shell("navtalk --help");
  CHECK(ran.status == 0);
  CHECK(ran.err.empty());
  for (const char* word :
       {"fix-filenames", "config check", "completions", "--json", "Exit status"}) {
    CHECK(contains(ran.out, word));
  }
  CHECK(contains(shell("navtalk fix-filenames --help").out, "Examples:"));
}

TEST_CASE("the version is one line, or one object") {
  CHECK(shell("navtalk --version").out == "navtalk " NAVTALK_VERSION "\n");
  CHECK(shell("navtalk --version --json").out == "{\"version\":\"" NAVTALK_VERSION "\"}\n");
}

TEST_CASE("a wrong command line is told with the nearest right one, and exit status 2") {
  struct Row {
    std::string line, said;
  };
  const auto row = GENERATE(values<Row>({
      {"navtalk", "a command is missing; see 'navtalk --help'"},
      {"navtalk confg show", "unknown command 'confg' (did you mean 'config'?)"},
      {"navtalk config", "a command is missing; see 'navtalk config --help'"},
      {"navtalk config chek", "unknown command 'chek' (did you mean 'check'?)"},
      {"navtalk fix-filenames --dryrun .",
       "unknown option '--dryrun' (did you mean '--dry-run'?); see 'navtalk fix-filenames --help'"},
      {"navtalk fix-filenames", "directory is required"},
      {"navtalk fix-filenames a b", "unexpected argument 'b'"},
      {"navtalk --log-level loud config show", "--log-level: loud not in"},
      {"navtalk --config", "--config"},
      {"navtalk serve --slots 2", "--slots requires --worker; see 'navtalk serve --help'"},
      {"navtalk serve --token-file t", "--token-file requires --worker"},
  }));
  const Ran ran = shell(row.line);
  INFO(row.line << "\n" << ran.err);
  CHECK(ran.status == 2);
  CHECK(ran.out.empty());
  CHECK(ran.err.starts_with("navtalk: error: "));
  CHECK(contains(ran.err, row.said));
}

TEST_CASE("a secret's file that is missing is a wrong configuration: exit status 3") {
  const auto line = GENERATE("navtalk serve --worker --token-file /nowhere",
                             "NAVTALK_POOL_WORKER_TOKEN_FILE=/nowhere navtalk serve",
                             "NAVTALK_SERVER_OPERATOR_KEY_FILE=/nowhere navtalk serve");
  const Ran ran = shell(line);
  INFO(ran.err);
  CHECK(ran.status == 3);
  CHECK(contains(ran.err, "/nowhere"));
}

TEST_CASE("pool token prints the token of a URL, however it is written") {
  const Ran ran = shell(
      "export NAVTALK_WORKER_TOKEN=sesame; navtalk pool token https://gpu.example:443/a && "
      "navtalk pool token HTTPS://GPU.example/a/ && navtalk pool token https://gpu.example --json");
  INFO(ran.err);
  const std::string token = "8a44fe0f8db5272ffaff9b79f680ed5efd50d6efc58d1a01406169ba717a65ab\n";
  CHECK(ran.out.starts_with(token + token + "{"));
  CHECK(contains(ran.out, "697f3861bb6c3c3cb2b60f253b751ef7cee6cea4fc7ac9964ca01420eb4f275f"));
  CHECK(shell("navtalk pool token gpu.example").status == 3);
}

TEST_CASE("pool add refuses http beyond loopback unless that is allowed, and names pool token") {
  const std::string add = "navtalk pool add --url http://10.0.0.7:2160";
  const Ran refused = shell(add);
  CHECK(refused.status == 3);
  CHECK(contains(refused.err, "pool.allow_http_workers"));
  const Ran added = shell("NAVTALK_POOL_ALLOW_HTTP_WORKERS=true " + add);
  INFO(added.err);
  CHECK(added.status == 0);
  CHECK(contains(added.out, "navtalk pool token http://10.0.0.7:2160"));
}

TEST_CASE("what navtalk keeps is its owner's alone") {
  const Ran ran = shell(
      "umask 022; export XDG_STATE_HOME=$HOME/state; navtalk pool status > /dev/null && "
      "stat -c '%a' $XDG_STATE_HOME/navtalk $XDG_STATE_HOME/navtalk/pool.db* | sort -u");
  INFO(ran.err);
  CHECK(ran.out == "600\n700\n");
}

TEST_CASE("with --json an error is an object on standard output, wherever --json stands") {
  const auto line =
      GENERATE("navtalk --json fix-filenames /nowhere", "navtalk fix-filenames /nowhere --json");
  const Ran ran = shell(line);
  CHECK(ran.status == 4);
  const auto error = nlohmann::json::parse(ran.out).at("error");
  CHECK(error.at("code") == "not_found");
  CHECK(contains(error.at("message"), "/nowhere"));
}

TEST_CASE("a line that cannot be parsed is answered in JSON too") {
  const Ran ran = shell("navtalk --jsno --json");
  CHECK(ran.status == 2);
  CHECK(nlohmann::json::parse(ran.out).at("error").at("code") == "usage");
}

TEST_CASE("output that cannot be written is an error, not silence or a crash") {
  const Ran full = shell("navtalk config example > /dev/full");
  CHECK(full.status == 1);
  CHECK(contains(full.err, "cannot write to standard output: No space left on device"));
  const Ran closed = shell("navtalk config example | true; exit ${PIPESTATUS[0]}");
  CHECK((closed.status == 0 || closed.status == 1));  // the pipe may hold it all
  CHECK(shell("navtalk config example >&-").status == 1);
  CHECK(shell("exec 3> >(exec true); wait $!; navtalk config example >&3").status == 1);
}

TEST_CASE("colour and progress stay away from pipes") {
  const Ran ran = shell("navtalk nothing; mkdir -p $HOME/d; navtalk fix-filenames $HOME/d");
  CHECK_FALSE(contains(ran.err + ran.out, "\x1b"));
}

TEST_CASE("a terminal gets colour unless it is declined") {
  const auto on_terminal = [](const std::string& line) {
    return contains(shell("script -qec '" + line + "' /dev/null").out, "\x1b[31m");
  };
  CHECK(on_terminal("navtalk nothing"));
  CHECK_FALSE(on_terminal("navtalk --no-color nothing"));
  CHECK_FALSE(on_terminal("NO_COLOR=1 navtalk nothing"));
  CHECK_FALSE(on_terminal("CLICOLOR=0 navtalk nothing"));
}

TEST_CASE("a value that is also a command's name stays a value") {
  const Ran ran = shell(
      "mkdir config; navtalk fix-filenames config && navtalk fix-filenames -- config", "/dev/shm");
  shell("rmdir config", "/dev/shm");
  CHECK(ran.status == 0);
}
