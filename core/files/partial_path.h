// Output that appears whole or not at all: work goes to `TARGET.partial`, commit() renames it over
// the target, and a destructor without commit removes it (a crash leaves only `.partial`, which the
// next run replaces). The target's folder and TARGET.partial are opened once, and everything happens
// through these descriptors: whoever moves the folder, or puts a link in its place, redirects nothing.
// One thread owns it; a second process that writes the same target is refused.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "core/base/unique_fd.h"

namespace navtalk {

class PartialPath {
 public:
  enum class Kind { file, directory };
  struct Options {
    std::filesystem::path target;
    Kind kind = Kind::file;
    bool overwrite = false;  // otherwise an existing target is Error{invalid} that names --force
    bool resume = false;     // directory only: keep what an earlier run left in TARGET.partial
    // Directory only, so that --force on the wrong directory destroys nothing: an existing target
    // is replaced when it is empty or holds an entry of this name ("avatar.json").
    std::string marker = {};
  };

  // Makes TARGET.partial, so whatever forbids writing is found before any work is done:
  // Error{not_found} without a parent directory, Error{invalid} for a target that may not be
  // replaced, Error{failed} with the system's reason otherwise (not permitted, read-only, full), or
  // when TARGET.partial is there and belongs to another user or can be written by one. While it is
  // partial, only its owner can write it.
  explicit PartialPath(Options options);
  // Error{invalid} for a file that the constructor would refuse as a target. Makes nothing.
  static void check_file(const std::filesystem::path& target, bool overwrite);
  ~PartialPath();
  PartialPath(PartialPath&& other) noexcept;
  PartialPath& operator=(PartialPath&&) = delete;

  // Where to write: TARGET.partial by its descriptor (/proc/self/fd/N), as long as this object lives.
  // Of this process only.
  const std::filesystem::path& path() const { return path_; }
  const std::filesystem::path& target() const { return options_.target; }
  // A message about path(), which says nothing to people, with the name TARGET.partial instead.
  std::string named(std::string message) const;
  // fsync and rename; Error{failed} with the reason (disk full), or when TARGET.partial was moved or
  // replaced meanwhile. `synced`, if there is one, is called behind each 4 MiB of a file that the disk has.
  void commit(const std::function<void()>& synced = {});
  void keep_partial();  // leave TARGET.partial behind on destruction, for a later resume

 private:
  bool is_directory() const { return options_.kind == Kind::directory; }
  void open_folder();
  void check_target() const;
  bool may_replace_folder() const;
  void make_partial();
  bool is_in_place() const;
  void put_in_place() const;

  Options options_;
  std::string name_, partial_name_;  // in the folder
  std::filesystem::path partial_;    // as people know it
  std::filesystem::path path_;
  UniqueFd folder_;  // that holds target and partial
  UniqueFd lock_;    // on the partial file or directory
  bool active_ = true;
};

}  // namespace navtalk
