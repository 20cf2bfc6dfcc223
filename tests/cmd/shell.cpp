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
std::string reports_in(const std::filesystem::path& folder) {
  std::string all;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().filename().string().starts_with("report.")) all += read(entry.path());
  }
  return all;
}

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
  const int status = std::system(line.c_str());
  const Ran ran{.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
                .out = read(scratch / "out"),
                .err = read(scratch / "err")};
  refuse_report(reports_in(scratch.path()) + ran.err);
  return ran;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace navtalk::tests
