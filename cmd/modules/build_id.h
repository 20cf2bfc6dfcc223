// A hash over the libraries that this program was linked from. The module has one of its own.
#pragma once

namespace navtalk::cmd {

const char* build_id();

}  // namespace navtalk::cmd
