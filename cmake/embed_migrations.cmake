# navtalk_embed_migrations(FOLDER FUNCTION OUT) writes OUT, a source that defines navtalk::FUNCTION(): the .sql files of FOLDER in
# the order of their names. Numbers must run from 0001 without gaps.
function(navtalk_embed_migrations folder function out)
  file(GLOB files CONFIGURE_DEPENDS ${folder}/*.sql)  # each is a step of one list, not a source of its own
  list(SORT files)
  set(number 0)
  set(entries "")
  foreach(file ${files})
    math(EXPR number "${number} + 1")
    get_filename_component(name ${file} NAME_WE)
    string(REGEX MATCH "^[0-9][0-9][0-9][0-9]" digits ${name})
    math(EXPR digits "1${digits} - 10000")
    if(NOT digits EQUAL number)
      message(FATAL_ERROR "${file}: migration ${number} is missing")
    endif()
    file(READ ${file} sql)
    string(APPEND entries "    Migration{${number}, \"${name}\", R\"navtalk_sql(${sql})navtalk_sql\"},\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  endforeach()
  file(CONFIGURE OUTPUT ${out} @ONLY CONTENT [[
// Made by cmake/embed_migrations.cmake from @folder@.
#include <array>

#include "scheduler/store/migration.h"

namespace navtalk {

std::span<const Migration> @function@() {
  static constexpr std::array k_all = {
@entries@  };
  return k_all;
}

}  // namespace navtalk
]])
endfunction()
