#include "scheduler/store/migration.h"

#include <fmt/format.h>

#include "core/base/error.h"

namespace navtalk {

std::span<const Migration> pending(std::span<const Migration> all, int version,
                                   std::string_view database) {
  const int newest = static_cast<int>(all.size());
  if (version > newest) {
    throw Error(
        Code::invalid,
        fmt::format("the pool store {} has version {}, made by a newer navtalk; this one knows "
                    "version {}: use the newer navtalk, or another store",
                    database, version, newest));
  }
  return all.subspan(static_cast<std::size_t>(version));
}

}  // namespace navtalk
