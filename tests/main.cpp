// Catch's main(), and a record of every case for scripts/test: ctest sees only processes, each of
// which runs a whole file of cases.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>

namespace {

// One line a case in $NAVTALK_TEST_RESULTS/$NAVTALK_TEST_GROUP: its result, a tab, its name. A case
// begins as "unfinished", so that one that ends the process is not lost.
class CaseRecord : public Catch::TestEventListenerBase {
 public:
  using TestEventListenerBase::TestEventListenerBase;

  void testCaseStarting(const Catch::TestCaseInfo& info) override {
    skipped_ = false;
    write("unfinished", info.name);
  }

  // A case says by WARN("skipped: ...") that it cannot run here.
  bool assertionEnded(const Catch::AssertionStats& stats) override {
    skipped_ |= stats.assertionResult.getMessage().rfind("skipped: ", 0) == 0;
    return true;
  }

  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    const bool passed = stats.totals.assertions.allOk();
    write(!passed ? "failed" : skipped_ ? "skipped" : "passed", stats.testInfo.name);
  }

 private:
  void write(const char* result, const std::string& name) {
    const char* folder = std::getenv("NAVTALK_TEST_RESULTS");
    const char* group = std::getenv("NAVTALK_TEST_GROUP");
    if (folder == nullptr || group == nullptr) return;
    std::ofstream(std::string(folder) + "/" + group, std::ios::app)
        << result << '\t' << name << '\n';
  }

  bool skipped_ = false;
};

CATCH_REGISTER_LISTENER(CaseRecord)

}  // namespace
