#include "cmd/modules/build_id.h"

#include <navtalk_build_id.h>  // written by cmake/build_id.cmake

namespace navtalk::cmd {

const char* build_id() { return NAVTALK_BUILD_ID; }

}  // namespace navtalk::cmd
