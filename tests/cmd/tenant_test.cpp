#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cmd/shell.h"
#include "tests/temporary_directory.h"

using navtalk::tests::contains;
using navtalk::tests::Ran;
using navtalk::tests::shell;
using navtalk::tests::TemporaryDirectory;

namespace {

// With a state directory of its own, and a configuration file if one is written.
class TenantPool {
 public:
  TenantPool() {
    std::ofstream(file()) << "[[tenant]]\nname = 'filed'\nplan = 3\nmax_running_jobs = 2\n";
  }
  Ran run(const std::string& command) const {
    return shell("STATE_DIRECTORY=" + folder_.path().native() + " navtalk --config " + file() +
                 " " + command);
  }
  nlohmann::json json(const std::string& command) const {
    return nlohmann::json::parse(run("--json " + command).out);
  }

 private:
  std::string file() const { return (folder_.path() / "n.toml").native(); }
  TemporaryDirectory folder_;
};

}  // namespace

TEST_CASE("a tenant's terms are set one by one, and shown") {
  const TenantPool pool;
  CHECK(pool.json("tenant set acme --plan 1 --weight 2.5").at("weight") == 2.5);
  const auto set = pool.json("tenant set acme --max-queued 90 --max-rate 0.5 --max-running 3");
  CHECK(set.at("plan") == 1);
  CHECK(set.at("weight") == 2.5);
  const auto shown = pool.json("tenant show acme");
  CHECK(shown.at("max_queued") == 90);
  CHECK(shown.at("max_rate") == 0.5);
  CHECK(shown.at("max_running") == 3);
  CHECK(shown.at("source") == "store");
  CHECK(shown.at("queued").at("jobs") == 0);
  const std::string text = pool.run("tenant show acme").out;
  CHECK(contains(text, "plan 1, weight 2.5\n"));
  CHECK(contains(text, "video-minutes a minute: 0.5; queued video-minutes: 90; jobs at once: 3\n"));
  CHECK(contains(pool.run("tenant show nobody").out,
                 "Limits: video-minutes a minute: no limit; queued video-minutes: no limit; "
                 "jobs at once: no limit\n"));
  CHECK(pool.json("tenant list").at("tenants").size() == 2);
  CHECK(contains(pool.run("tenant list").out, "acme"));
}

TEST_CASE("a tenant of the file is shown, and not changed") {
  const TenantPool pool;
  const auto shown = pool.json("tenant show filed");
  CHECK(shown.at("plan") == 3);
  CHECK(shown.at("max_running") == 2);
  CHECK(shown.at("source") == "file");
  const Ran set = pool.run("tenant set filed --plan 4");
  CHECK(set.status == 3);
  CHECK(contains(set.err, "[[tenant]]"));
  CHECK(pool.json("tenant show filed").at("plan") == 3);
}

TEST_CASE("a tenant without terms has the defaults, and a bad name or value is refused") {
  const TenantPool pool;
  const auto shown = pool.json("tenant show nobody");
  CHECK(shown.at("weight") == 1);
  CHECK(shown.at("max_queued") == 0);
  CHECK(pool.run("tenant show 'a b'").status == 3);
  CHECK(pool.run("tenant set 'a b' --plan 1").status == 3);
  CHECK(pool.run("tenant set acme --weight 0").status == 2);
  CHECK(pool.run("tenant set acme --plan -1").status == 2);
  CHECK(pool.run("tenant set").status == 2);
  CHECK(pool.json("tenant list").at("tenants").size() == 1);
}
