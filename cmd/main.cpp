#include "cmd/app.h"

int main(int argc, char** argv) { return navtalk::cmd::run(argc, argv); }
