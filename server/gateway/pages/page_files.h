// The files of client/, as they are compiled into the program (cmake/embed_pages.cmake). Constant.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace navtalk::server {

struct PageFile {
  std::string_view name;  // below client/, such as "page/page.css"
  std::string_view content_type;
  std::string_view etag;  // with its quotes
  std::string_view content;
};

std::span<const PageFile> page_files();

}  // namespace navtalk::server
