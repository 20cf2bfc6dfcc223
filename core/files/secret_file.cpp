#include "core/files/secret_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
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

std::string named(const SecretKind& kind, const std::filesystem::path& file) {
  return std::string("the ") + kind.name + " '" + printable(file.native()) + "'";
}

// It may become a header's value.
void check_one_line(const std::string& secret, const std::string& name) {
  const auto is_control = [](unsigned char c) { return c < ' ' || c == 0x7f; };
  if (std::any_of(secret.begin(), secret.end(), is_control))
    throw Error(Code::invalid, name + " holds a line break or another control character");
}

[[noreturn]] void fail_to_create(const SecretKind& kind, const std::filesystem::path& file) {
  throw Error(Code::failed,
              "cannot create " + named(kind, file) + ": " + std::system_category().message(errno));
}

void create_secret(const SecretKind& kind, const std::filesystem::path& file) {
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  // Written under another name and then linked, so that nobody reads half a secret.
  const std::filesystem::path partial = file.native() + "." + random_id().substr(0, 8);
  const UniqueFd out(open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!out) fail_to_create(kind, file);
  const std::string secret = random_id() + random_id() + "\n";
  const bool written =
      write(out.value(), secret.data(), secret.size()) == static_cast<ssize_t>(secret.size()) &&
      fsync(out.value()) == 0;
  if (!written || link(partial.c_str(), file.c_str()) != 0) {
    const int reason = errno;
    unlink(partial.c_str());
    errno = reason;
    if (reason != EEXIST) fail_to_create(kind, file);
    return;
  }
  unlink(partial.c_str());
}

}  // namespace

std::string read_secret_file(const SecretKind& kind, const std::filesystem::path& file) {
  struct stat status {};
  std::ifstream in;
  if (stat(file.c_str(), &status) == 0) in.open(file);
  if (!in.is_open()) {
    throw Error(Code::invalid, "cannot read " + named(kind, file) + ": " +
                                   std::system_category().message(errno) +
                                   "; name a readable file or set " + kind.variable);
  }
  if ((status.st_mode & 077) != 0) {
    log::warn(std::string("other users can read the ") + kind.name + "; run chmod 600 on its file",
              {{"file", file.native()}});
  }
  std::string line;
  std::getline(in, line);
  std::string secret(trim(line));
  if (secret.empty()) {
    throw Error(Code::invalid, std::string("the ") + kind.name + "'s file '" +
                                   printable(file.native()) + "' has an empty first line");
  }
  check_one_line(secret, named(kind, file));
  return secret;
}

std::string read_secret(const SecretKind& kind, const std::filesystem::path& file,
                        MissingSecret missing) {
  std::string secret(trim(environment_value(kind.variable)));
  check_one_line(secret, std::string("the ") + kind.name + " in " + kind.variable);
  if (!secret.empty() || file.empty()) return secret;
  if (missing == MissingSecret::create && !std::filesystem::exists(file)) {
    create_secret(kind, file);
  }
  return read_secret_file(kind, file);
}

}  // namespace navtalk
