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

void write_picture(const Image& picture, const std::filesystem::path& file, bool force) {
  PartialPath partial({.target = file, .overwrite = force});
  // A PNG is written to a new name only, and the partial file is there already.
  const TemporaryFolder folder;
  const std::filesystem::path png = folder.path() / "preview.png";
  write_png(png, picture.view());
  std::ofstream out(partial.path(), std::ios::binary);
  if (!(out << std::ifstream(png, std::ios::binary).rdbuf()).flush())
    throw Error(Code::failed, file.string() + " cannot be written: " + system_message(errno));
  partial.commit();
}

}  // namespace

void check_preview(const std::filesystem::path& file) {
  if (file.extension() != ".png")
    throw Error(Code::usage, "--preview " + file.string() + ": a preview is a .png");
}

void preview_avatar(const std::filesystem::path& directory, const std::filesystem::path& file,
                    bool force, const MediaLimits& limits) {
  check_preview(file);
  write_picture(preview(Bundle::open(directory, limits)), file, force);
}

void write_contact_sheet(const std::filesystem::path& directory, const std::filesystem::path& file,
                         bool force, const MediaLimits& limits) {
  write_picture(contact_sheet(Bundle::open(directory, limits)), file, force);
}

}  // namespace navtalk::cmd
