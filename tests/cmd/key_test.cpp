#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cmd/shell.h"
#include "tests/temporary_directory.h"

using navtalk::tests::contains;
using navtalk::tests::Ran;
using navtalk::tests::shell;
using navtalk::tests::TemporaryDirectory;

namespace {

// With a state directory of its own.
class KeyPool {
 public:
  Ran run(const std::string& command) const {
    return shell("STATE_DIRECTORY=" + folder_.path().native() + " navtalk " + command);
  }
  nlohmann::json json(const std::string& command) const {
    return nlohmann::json::parse(run("--json " + command).out);
  }

 private:
  TemporaryDirectory folder_;
};

}  // namespace

TEST_CASE("a key is printed once, and listed without its secret") {
  const KeyPool pool;
  CHECK(pool.run("key list").out == "The pool has no API keys.\n");
  const auto made = pool.json("key create --tenant acme --role admin");
  CHECK(made.size() == 4);
  CHECK(made.at("tenant") == "acme");
  CHECK(made.at("role") == "admin");
  const std::string id = made.at("id"), key = made.at("key");
  CHECK(key.find(id) != std::string::npos);
  const Ran list = pool.run("key list");
  CHECK(contains(list.out, id));
  CHECK(contains(list.out, "valid"));
  CHECK_FALSE(contains(list.out + pool.run("--json key list").out, key.substr(20)));
  const auto row = pool.json("key list").at("keys").at(0);
  CHECK(row.at("state") == "valid");
  CHECK(row.at("expires_at").is_null());
}

TEST_CASE("a key on a terminal is the first line") {
  const KeyPool pool;
  const Ran made = pool.run("key create --tenant acme --expires 90d");
  CHECK(made.status == 0);
  CHECK(made.out.starts_with("nt_"));
  CHECK(made.out.find('\n') == 80);
  CHECK(contains(made.out, "shown only now"));
  CHECK(pool.json("key list").at("keys").at(0).at("expires_at").is_string());
}

TEST_CASE("a key is revoked by its id, and another id is not found") {
  const KeyPool pool;
  const std::string id = pool.json("key create --tenant acme").at("id");
  CHECK(pool.json("key revoke " + id).at("state") == "revoked");
  CHECK(pool.run("key revoke " + id).status == 0);
  CHECK(pool.json("key list").at("keys").at(0).at("state") == "revoked");
  CHECK(pool.run("key revoke nobody").status == 4);
}

TEST_CASE("what is wrong with a key to be made is said") {
  const KeyPool pool;
  CHECK(pool.run("key create").status == 2);
  CHECK(pool.run("key create --tenant acme --role root").status == 2);
  for (const char* const length : {"soon", "0d", "-1d", "90", "1y", "90dd"}) {
    const Ran ran = pool.run("key create --tenant acme --expires=" + std::string(length));
    INFO(length);
    CHECK(ran.status == 2);
    CHECK(contains(ran.err, "is not a length of time"));
  }
  const Ran named = pool.run("key create --tenant 'a b'");
  CHECK(named.status == 3);
  CHECK(contains(named.err, "not a valid tenant name"));
  CHECK(pool.json("key list").at("keys").empty());
}
