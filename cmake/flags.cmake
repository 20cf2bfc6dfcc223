# One interface target carries every flag; each library links it privately through navtalk_library().
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()

# What scripts fetch and what the compiler cache keeps; shared by all checkouts of one user.
if(DEFINED ENV{NAVTALK_CACHE})
  set(NAVTALK_CACHE $ENV{NAVTALK_CACHE})
else()
  set(NAVTALK_CACHE $ENV{HOME}/.cache/navtalk)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  # Checkouts in different folders share compilations: paths below the root are relative in the cache's eyes. The sloppiness
  # is what precompiled headers need (see "Precompiled headers" in ccache's manual).
  set(ccache_settings CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
                      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime)
  if(NOT DEFINED ENV{CCACHE_DIR})
    list(APPEND ccache_settings CCACHE_DIR=${NAVTALK_CACHE}/ccache)
  endif()
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env ${ccache_settings} ${CCACHE})
endif()

add_library(navtalk_flags INTERFACE)
target_compile_options(navtalk_flags INTERFACE -Wall -Wextra -Wpedantic
                                               # designated initialisers leave the rest to its default
                                               -Wno-missing-field-initializers
                                               -Wshadow -Wnon-virtual-dtor
                                               -Wold-style-cast -Wcast-qual -Wconversion -Wno-sign-conversion
                                               -ffp-contract=off)
if(NAVTALK_WERROR)
  target_compile_options(navtalk_flags INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 warns of string concatenation in its own headers (GCC bug 105329).
  target_compile_options(navtalk_flags INTERFACE -Wno-restrict)
  # g++ 12 keeps a precompiled header valid under ccache only with this.
  target_compile_options(navtalk_flags INTERFACE -fpch-preprocess)
endif()
if(NAVTALK_SANITIZE)
  target_compile_options(navtalk_flags INTERFACE -fsanitize=${NAVTALK_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(navtalk_flags INTERFACE -fsanitize=${NAVTALK_SANITIZE})
  if(NAVTALK_FUZZ)
    target_compile_options(navtalk_flags INTERFACE -fsanitize=fuzzer-no-link)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Instrumented code confuses this warning (false alarms inside libstdc++'s <regex>); the plain build keeps it.
    target_compile_options(navtalk_flags INTERFACE -Wno-maybe-uninitialized)
  endif()
  if(NAVTALK_SANITIZE MATCHES "undefined")
    target_compile_options(navtalk_flags INTERFACE -fno-sanitize-recover=undefined)
    if(NOT NAVTALK_FUZZ)
      # A third of the time to compile, for checks at every access. AddressSanitizer stops at null pointers and at what lies outside
      # an object; the fuzzers, which read raw bytes, keep all checks.
      target_compile_options(navtalk_flags INTERFACE -fno-sanitize=null,alignment,object-size,vptr)
    endif()
  endif()
endif()
target_include_directories(navtalk_flags INTERFACE ${CMAKE_SOURCE_DIR})

# navtalk_sanitizer_defaults(TARGET) gives a program what its sanitizer has to know. Programs alone can: the runtime asks them by name.
function(navtalk_sanitizer_defaults target)
  if(NAVTALK_SANITIZE)
    set(defaults ${PROJECT_SOURCE_DIR}/cmake/sanitizer_defaults.cpp)
    target_sources(${target} PRIVATE ${defaults})
    string(TOUPPER ${NAVTALK_SANITIZE} sanitizers)
    string(REGEX REPLACE "([A-Z]+),?" "NAVTALK_SANITIZE_\\1;" sanitizers ${sanitizers})
    set_source_files_properties(${defaults} TARGET_DIRECTORY ${target} PROPERTIES COMPILE_DEFINITIONS "${sanitizers}")
  endif()
endfunction()

# navtalk_library(NAME source...) makes the static library navtalk_NAME with the alias navtalk::NAME. The sources may end with
# options of navtalk_units().
function(navtalk_library name)
  navtalk_units(sources navtalk_${name} ${ARGN})
  add_library(navtalk_${name} STATIC ${sources})
  add_library(navtalk::${name} ALIAS navtalk_${name})
  target_link_libraries(navtalk_${name} PUBLIC navtalk_flags)
  # Instrumented code takes longer to compile than its tests take to run, apart from the loops over pixels and tensors, the readers
  # that tests feed a damaged file for each of its bytes, the simulator with what it drives, and the speech detector.
  if(NAVTALK_SANITIZE AND NOT NAVTALK_FUZZ AND NOT name MATCHES "^(gpu|avatars|media)")
    target_compile_options(navtalk_${name} PRIVATE -O0)
    foreach(source ${sources})
      if(source MATCHES "/(checkpoint|forecast|scaling|simulator|voice_activity)_[0-9]+[.]cpp$")
        set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS -O1)
      endif()
    endforeach()
  endif()
endfunction()
