#include "scheduler/health/worker_token.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "core/base/error.h"
#include "core/base/id.h"
#include "core/base/unique_fd.h"
#include "core/log/log.h"
#include "core/text/printable.h"

namespace navtalk {
namespace {

[[noreturn]] void fail(const std::filesystem::path& file, const std::string& what) {
  throw Error(Code::failed, what + " the worker token '" + printable(file.native()) +
                                "': " + std::system_category().message(errno));
}

void make_token(const std::filesystem::path& file) {
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  // Written beside and then renamed, so that nobody reads half a token.
  const std::filesystem::path partial = file.native() + "." + random_id().substr(0, 8);
  const UniqueFd out(open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!out) fail(file, "cannot make");
  const std::string token = random_id() + random_id() + "\n";
  const bool written =
      write(out.value(), token.data(), token.size()) == static_cast<ssize_t>(token.size()) &&
      fsync(out.value()) == 0;
  if (!written || link(partial.c_str(), file.c_str()) != 0) {
    const int reason = errno;
    unlink(partial.c_str());
    errno = reason;
    if (reason != EEXIST) fail(file, "cannot make");
    return;
  }
  unlink(partial.c_str());
}

}  // namespace

std::string pool_worker_token(const std::filesystem::path& file, bool make) {
  const char* variable = std::getenv("NAVTALK_WORKER_TOKEN");
  if (variable != nullptr && *variable != '\0') return variable;
  if (make && !std::filesystem::exists(file)) make_token(file);
  struct stat status {};
  if (stat(file.c_str(), &status) != 0) {
    throw Error(Code::invalid, "there is no worker token '" + printable(file.native()) +
                                   "': set pool.worker_token_file to a file that is there");
  }
  if ((status.st_mode & 077) != 0) {
    log::warn("others may read the worker token: chmod 600 it", {{"file", file.native()}});
  }
  std::ifstream in(file);
  std::string token;
  if (!std::getline(in, token) || token.empty()) {
    throw Error(Code::invalid, "there is no token in '" + printable(file.native()) + "'");
  }
  return token;
}

}  // namespace navtalk
