// The program: memory settings, then the command line.
#include <malloc.h>

#include "cmd/app.h"

// The nets take and free the same large maps again and again: memory that is given back to the
// system each time costs a tenth of a frame in page faults.
static void keep_freed_memory() {
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 29);
}

int main(int argc, char** argv) {
  keep_freed_memory();
  return navtalk::cmd::run(argc, argv);
}
