// Output that appears whole or not at all: work goes to `TARGET.partial`, commit() renames it over
// the target, and a destructor without commit removes it (a crash leaves only `.partial`, which the
// next run replaces).
#pragma once

#include <filesystem>

namespace navtalk {

class PartialPath {
 public:
  enum class Kind { file, directory };
  struct Options {
    std::filesystem::path target;
    Kind kind = Kind::file;
    bool overwrite = false;  // otherwise an existing target is Error{invalid} that names --force
    bool resume = false;     // directory only: keep what an earlier run left in TARGET.partial
  };

  // Checks that the target may be written (parent exists, not there already) before any work is
  // done.
  explicit PartialPath(Options options);
  ~PartialPath();
  PartialPath(PartialPath&& other) noexcept;
  PartialPath& operator=(PartialPath&&) = delete;

  const std::filesystem::path& path() const { return partial_; }  // where to write
  const std::filesystem::path& target() const { return options_.target; }
  void commit();        // fsync and rename
  void keep_partial();  // leave TARGET.partial behind on destruction, for a later resume

 private:
  Options options_;
  std::filesystem::path partial_;
  bool active_ = true;
};

}  // namespace navtalk
