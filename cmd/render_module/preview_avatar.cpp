// navtalk avatar show --preview, and avatar prepare --preview.
#include "avatars/bundle/preview.h"

#include <cerrno>
#include <fstream>

#include "cmd/render_module/bodies.h"
#include "core/base/error.h"
#include "core/files/partial_path.h"
#include "core/files/temporary_folder.h"
#include "core/files/whole_file.h"
#include "core/media/image_file.h"

namespace navtalk::cmd {
namespace {

bool is_jpeg(const std::filesystem::path& file) {
  return file.extension() == ".jpg" || file.extension() == ".jpeg";
}

void write_picture(const Image& picture, const std::filesystem::path& file, bool force) {
  PartialPath partial({.target = file, .overwrite = force});
  // A picture is written to a new name only, and the partial file is there already.
  const TemporaryFolder folder;
  const std::filesystem::path whole = folder.path() / "preview";
  is_jpeg(file) ? write_jpeg(whole, picture.view()) : write_png(whole, picture.view());
  std::ofstream out(partial.path(), std::ios::binary);
  if (!(out << std::ifstream(whole, std::ios::binary).rdbuf()).flush())
    throw Error(Code::failed, file.string() + " cannot be written: " + system_message(errno));
  partial.commit();
}

}  // namespace

void check_preview(const std::filesystem::path& file, bool force) {
  if (file.extension() != ".png" && !is_jpeg(file))
    throw Error(Code::usage, "--preview " + file.string() + ": a preview is a .png or .jpg");
  const PartialPath can_be_written({.target = file, .overwrite = force});
}

void preview_avatar(const std::filesystem::path& directory, const std::filesystem::path& file,
                    bool force, const MediaLimits& limits) {
  check_preview(file, force);
  write_picture(preview(Bundle::open(directory, limits)), file, force);
}

void write_contact_sheet(const std::filesystem::path& directory, const std::filesystem::path& file,
                         bool force, const MediaLimits& limits) {
  write_picture(contact_sheet(Bundle::open(directory, limits)), file, force);
}

}  // namespace navtalk::cmd
