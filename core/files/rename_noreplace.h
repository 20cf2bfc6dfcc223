// Renaming inside one directory that never overwrites, on every file system.
#pragma once

#include <string>

namespace navtalk {

// Renames `from` to `to` in the directory; 0, or the errno of the failure: EEXIST when `to` is
// there, and then nothing has changed. Atomic where the kernel and the file system have
// RENAME_NOREPLACE, otherwise rename_by_claim().
int rename_noreplace(int directory, const std::string& from, const std::string& to);

// The same without RENAME_NOREPLACE (NFS, FAT, some FUSE file systems). A folder: `to` is made as
// an empty folder, which rename() may replace only while it is empty. Anything else: a hard link
// and an unlink; where links cannot be made, `to` is claimed as an empty file and replaced. A crash
// in between leaves both names, or the empty claim, never a loss.
int rename_by_claim(int directory, const std::string& from, const std::string& to);

}  // namespace navtalk
