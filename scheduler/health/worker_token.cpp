#include "scheduler/health/worker_token.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/base/id.h"
#include "core/base/unique_fd.h"
#include "core/log/log.h"
#include "core/text/printable.h"
#include "core/text/trim.h"

namespace navtalk {
namespace {

[[noreturn]] void fail(const std::filesystem::path& file, const std::string& what) {
  throw Error(Code::failed, what + " the worker token '" + printable(file.native()) +
                                "': " + std::system_category().message(errno));
}

void create_token(const std::filesystem::path& file) {
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  // Written under another name and then linked, so that nobody reads half a token.
  const std::filesystem::path partial = file.native() + "." + random_id().substr(0, 8);
  const UniqueFd out(open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!out) fail(file, "cannot create");
  const std::string token = random_id() + random_id() + "\n";
  const bool written =
      write(out.value(), token.data(), token.size()) == static_cast<ssize_t>(token.size()) &&
      fsync(out.value()) == 0;
  if (!written || link(partial.c_str(), file.c_str()) != 0) {
    const int reason = errno;
    unlink(partial.c_str());
    errno = reason;
    if (reason != EEXIST) fail(file, "cannot create");
    return;
  }
  unlink(partial.c_str());
}

std::string read_token(const std::filesystem::path& file) {
  struct stat status {};
  std::ifstream in;
  if (stat(file.c_str(), &status) == 0) in.open(file);
  if (!in.is_open()) {
    throw Error(Code::invalid, "cannot read the worker token '" + printable(file.native()) +
                                   "': " + std::system_category().message(errno) +
                                   "; name a readable file or set NAVTALK_WORKER_TOKEN");
  }
  if ((status.st_mode & 077) != 0) {
    log::warn("other users can read the worker token; run chmod 600 on its file",
              {{"file", file.native()}});
  }
  std::string line;
  std::getline(in, line);
  std::string token(trim(line));
  if (token.empty()) {
    throw Error(Code::invalid, "the worker token's file '" + printable(file.native()) +
                                   "' has an empty first line");
  }
  return token;
}

}  // namespace

std::string worker_token(const std::filesystem::path& file, MissingToken missing) {
  std::string token(trim(environment_value("NAVTALK_WORKER_TOKEN")));
  if (!token.empty() || file.empty()) return token;
  if (missing == MissingToken::create && !std::filesystem::exists(file)) create_token(file);
  return read_token(file);
}

}  // namespace navtalk
