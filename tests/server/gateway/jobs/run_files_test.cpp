// Whose fault it is that a file of a job cannot be read.
#include "server/gateway/jobs/run_files.h"

#include <fcntl.h>
#include <sys/resource.h>

#include <catch2/catch.hpp>

#include "core/base/unique_fd.h"
#include "server/gateway/jobs/faults/own_fault.h"
#include "tests/temporary_directory.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace navtalk::tests;

namespace {

enum class Fault { none, file, gateway };

template <class Work>
Fault fault_of(const Work& work) {
  try {
    work();
  } catch (const UnreadableFile&) {
    return Fault::file;
  } catch (const OwnFault&) {
    return Fault::gateway;
  }
  return Fault::none;
}

// No other file can be opened meanwhile.
class NoMoreFiles {
 public:
  NoMoreFiles() {
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
    const UniqueFd lowest(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    const rlimit none{.rlim_cur = static_cast<rlim_t>(lowest.value()),
                      .rlim_max = before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  }
  ~NoMoreFiles() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  NoMoreFiles(const NoMoreFiles&) = delete;
  NoMoreFiles& operator=(const NoMoreFiles&) = delete;

 private:
  rlimit before_{};
};

}  // namespace

TEST_CASE("a file that is missing or ends too early is at fault itself") {
  const TemporaryDirectory folder;
  CHECK(fault_of([&] { open_file(folder / "gone"); }) == Fault::file);
  std::ofstream(folder / "short") << "speech";
  std::ifstream from = open_file(folder / "short");
  CHECK(read_piece(folder / "short", from, 100) == "speech");
  CHECK(fault_of([&] { read_piece(folder / "short", from, 94); }) == Fault::file);
}

TEST_CASE("a disk that fails to read is the gateway's fault") {
  const std::filesystem::path memory = "/proc/self/mem";  // nothing is mapped at its beginning: EIO
  std::ifstream from = open_file(memory);
  CHECK(fault_of([&] { read_piece(memory, from, 100); }) == Fault::gateway);
}

TEST_CASE("too many open files are the gateway's fault") {
  Fault fault{};
  {
    const NoMoreFiles none;
    fault = fault_of([&] { open_file("/dev/null"); });
  }
  CHECK(fault == Fault::gateway);
}
