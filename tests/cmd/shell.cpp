#include "tests/cmd/shell.h"

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "tests/temporary_directory.h"

namespace navtalk::tests {
namespace {

std::string read(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

// What AddressSanitizer wrote of the script's programs, a file for each, wherever the script sends their errors.
std::string take_reports(const std::filesystem::path& folder) {
  std::string all;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!entry.path().filename().string().starts_with("report.")) continue;
    all += read(entry.path());
    std::filesystem::remove(entry.path());
  }
  return all;
}

// LeakSanitizer stops all threads of a program that ends, and gives up when that fails, which a busy machine sees now and then. It
// says nothing about leaks then, and the program's own exit status is lost.
bool gave_up(const std::string& report) {
  return contains(report, "LeakSanitizer has encountered a fatal error");
}

// The last of three tries does not look for leaks, so that the test hears of the program itself.
const std::string k_unchecked = "ASAN_OPTIONS=\"$ASAN_OPTIONS:detect_leaks=0\" ";

#if defined(__SANITIZE_ADDRESS__)
constexpr bool k_may_give_up = true;
#else
constexpr bool k_may_give_up = false;
#endif

// A folder of a test's own as it is now, for a script that has to run again.
class Snapshot {
 public:
  Snapshot(std::string folder, std::string copy)
      : folder_(std::move(folder)), copy_(std::move(copy)) {
    if (k_may_give_up && own()) fill(copy_, folder_);
  }
  void restore() const {
    if (!k_may_give_up || !own()) return;
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      std::filesystem::remove_all(entry.path());
    fill(folder_, copy_);
  }

 private:
  // Not "/", nor one that holds those of all tests.
  bool own() const {
    return std::filesystem::path(folder_).filename().string().starts_with("navtalk-test-");
  }
  // Pipes among them.
  static void fill(const std::string& to, const std::string& from) {
    const std::string line = "mkdir -p '" + to + "' && cp -a '" + from + "/.' '" + to + "'";
    if (std::system(line.c_str()) != 0) throw std::runtime_error("cannot copy " + from);
  }
  const std::string folder_, copy_;
};

// A sanitizer's report is not an answer of navtalk: the test ends with it.
void refuse_report(const std::string& err) {
  if (contains(err, "Sanitizer")) throw std::runtime_error(err);
}

}  // namespace

Ran shell(const std::string& script, const std::string& folder) {
  const TemporaryDirectory scratch;
  // HOME is set to an empty place so that no shell reads the user's own start-up files.
  std::ofstream(scratch / "script")
      << "export PATH=" NAVTALK_BIN ":$PATH HOME=" << scratch.path()
      << "\nunset ${!NAVTALK_*} NO_COLOR CLICOLOR CLICOLOR_FORCE\n"
      << "export ASAN_OPTIONS=\"$ASAN_OPTIONS:log_path=" << (scratch / "report").native() << "\"\n"
      << "export TERM=xterm\ncd '" << folder << "' || exit 99\n"
      << script << "\n";
  const std::string place = scratch.path().native();
  const std::string line =
      "bash " + place + "/script < /dev/null > " + place + "/out 2> " + place + "/err";
  const Snapshot before(folder, place + "/before");
  Ran ran;
  std::string report;
  for (int tries = 0; tries == 0 || (tries < 3 && gave_up(report)); ++tries) {
    if (tries > 0) before.restore();
    const int status = std::system(((tries == 2 ? k_unchecked : "") + line).c_str());
    ran = {.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
           .out = read(scratch / "out"),
           .err = read(scratch / "err")};
    report = take_reports(scratch.path());
  }
  refuse_report(report + ran.err);
  return ran;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace navtalk::tests
