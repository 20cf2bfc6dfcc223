#include "core/files/temporary_folder.h"

#include <cstdlib>
#include <string>
#include <system_error>

#include "core/base/error.h"
#include "core/text/printable.h"

namespace navtalk {
namespace {

namespace fs = std::filesystem;

fs::path parent_of_all() {
  const char* wanted = std::getenv("TMPDIR");
  return wanted != nullptr && *wanted != '\0' ? wanted : "/tmp";
}

fs::path make_below(const fs::path& parent, const std::string& advice) {
  std::string pattern = (parent / "navtalk-XXXXXX").native();
  if (::mkdtemp(pattern.data()) == nullptr) {
    throw Error(Code::failed,
                "cannot make a temporary folder in " + printable(parent.native()) + advice);
  }
  return pattern;
}

}  // namespace

TemporaryFolder::TemporaryFolder()
    : path_(make_below(parent_of_all(), ": set TMPDIR to one that can be written to")) {}

TemporaryFolder::TemporaryFolder(const fs::path& parent) : path_(make_below(parent, "")) {}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace navtalk
