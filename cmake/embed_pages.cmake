# Run with -P at build time: writes OUT, a source that defines navtalk::server::page_files(), from the files of FOLDER that FILES
# names, relative to it and separated by commas. Each is served under /client/ by its name.
string(REPLACE "," ";" files "${FILES}")
set(entries "")
foreach(file ${files})
  cmake_path(GET file EXTENSION LAST_ONLY extension)
  if(extension STREQUAL ".html")
    set(type "text/html; charset=utf-8")
  elseif(extension STREQUAL ".css")
    set(type "text/css; charset=utf-8")
  elseif(extension STREQUAL ".js")
    set(type "text/javascript; charset=utf-8")
  elseif(extension STREQUAL ".ts")
    set(type "text/plain; charset=utf-8")
  elseif(extension STREQUAL ".svg")
    set(type "image/svg+xml")
  else()
    message(FATAL_ERROR "${file}: cmake/embed_pages.cmake knows no content type for it")
  endif()
  file(SHA256 ${FOLDER}/${file} hash)
  string(SUBSTRING ${hash} 0 32 etag)
  # As numbers: no text of a file can end a literal.
  file(READ ${FOLDER}/${file} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(MAKE_C_IDENTIFIER "k_${file}" name)
  string(APPEND contents "constexpr unsigned char ${name}[] = {${bytes}};\n")
  string(APPEND entries "      {\"${file}\", \"${type}\", \"\\\"${etag}\\\"\", bytes_of_page(${name})},\n")
endforeach()
file(CONFIGURE OUTPUT ${OUT} @ONLY CONTENT [[
// Made by cmake/embed_pages.cmake.
#include "server/gateway/pages/page_files.h"

namespace navtalk::server {
namespace {

@contents@
template <std::size_t size>
std::string_view bytes_of_page(const unsigned char (&bytes)[size]) {
  // A view of char; the literal holds the same bytes.
  return {reinterpret_cast<const char*>(bytes), size};
}

}  // namespace

std::span<const PageFile> page_files() {
  static const PageFile k_files[] = {
@entries@  };
  return k_files;
}

}  // namespace navtalk::server
]])
