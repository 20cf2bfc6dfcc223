# cmake -DFILES=A;B;... -DOUT=HEADER -P build_id.cmake   writes a header with a hash over files: what is linked from them fits together.
set(hashes "")
foreach(file ${FILES})
  file(SHA256 ${file} hash)
  string(APPEND hashes ${hash})
endforeach()
string(SHA256 hash "${hashes}")
file(WRITE ${OUT} "// Made by cmake/build_id.cmake from all libraries of navtalk.
#pragma once

#define NAVTALK_BUILD_ID \"${hash}\"
")
