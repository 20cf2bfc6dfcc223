#include "cmd/app.h"

namespace navtalk::cmd {

int run(int, char**) { return 0; }

}  // namespace navtalk::cmd
