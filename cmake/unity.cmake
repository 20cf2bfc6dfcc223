# Unity builds: with NAVTALK_UNITY, the sources of one folder are compiled together, as units that include them. Most of the time
# to compile goes into headers and templates, which a unit reads and instantiates once (docs/decisions/0018-unity-builds.md).
option(NAVTALK_UNITY "Compile the sources of a folder together: a build from nothing takes half the time, a change more" OFF)

# What one unit holds at most.
set(NAVTALK_UNIT_SIZE 10)

# navtalk_units(OUT TARGET source... [APART source...]) sets OUT to what TARGET compiles: the sources as they are,
# or units of them. Sources after APART are compiled alone; a comment there says why they do not combine with others.
#
# A unit holds sources of one folder directly under the target's, with what lies below; folders with one or two sources share
# units. An additional source therefore changes the units of its own folder only.
function(navtalk_units out target)
  cmake_parse_arguments(UNIT "" "" "APART" ${ARGN})
  if(NOT NAVTALK_UNITY)
    set(${out} ${UNIT_UNPARSED_ARGUMENTS} ${UNIT_APART} PARENT_SCOPE)
    return()
  endif()
  set(folders "")
  foreach(source ${UNIT_UNPARSED_ARGUMENTS})
    set(folder top)
    if(source MATCHES "^([^/]+)/")
      set(folder ${CMAKE_MATCH_1})
    endif()
    list(APPEND folders ${folder})
    list(APPEND sources_of_${folder} ${source})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  set(units ${UNIT_APART})
  set(small "")
  foreach(folder ${folders})
    list(LENGTH sources_of_${folder} count)
    if(count LESS 3)
      list(APPEND small ${sources_of_${folder}})
    else()
      navtalk_write_units(units ${target}/${folder} ${NAVTALK_UNIT_SIZE} ${sources_of_${folder}})
    endif()
  endforeach()
  navtalk_write_units(units ${target}/small_folders ${NAVTALK_UNIT_SIZE} ${small})
  set(${out} ${units} PARENT_SCOPE)
endfunction()

# Appends to OUT the units NAME_1.cpp, NAME_2.cpp... of the sources, none larger than SIZE, all of about the same size. Paths in
# them start at the root, so that checkouts in different folders share what the compiler cache keeps.
function(navtalk_write_units out name size)
  list(LENGTH ARGN count)
  math(EXPR last "(${count} + ${size} - 1) / ${size}")
  set(written ${${out}})
  set(begin 0)
  set(unit 0)
  while(unit LESS last)
    math(EXPR unit "${unit} + 1")
    math(EXPR end "${count} * ${unit} / ${last}")
    math(EXPR length "${end} - ${begin}")
    list(SUBLIST ARGN ${begin} ${length} sources)
    set(begin ${end})
    set(includes "")
    foreach(source ${sources})
      cmake_path(ABSOLUTE_PATH source)
      cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${CMAKE_SOURCE_DIR})
      string(APPEND includes "#include \"${source}\"\n")
    endforeach()
    set(file ${CMAKE_BINARY_DIR}/unity/${name}_${unit}.cpp)
    file(CONFIGURE OUTPUT ${file} CONTENT "// Made by cmake/unity.cmake.\n@includes@" @ONLY)
    list(APPEND written ${file})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # A source's unnamed namespace looks like a header's to the compiler.
      set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS -Wno-subobject-linkage)
    endif()
  endwhile()
  set(${out} ${written} PARENT_SCOPE)
endfunction()
