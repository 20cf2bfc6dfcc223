// usage: gpu_bench_image [--json] [--size SIZE] [--time SECONDS]   `navtalk bench image --device cuda` without the rest of navtalk
// With --json the table is on standard error. 720p and batches of 8 come first. On SIGTERM it prints the rows that it has measured.
#include <cstdio>
#include <exception>
#include <string_view>

#include "cmd/bench/image.h"
#include "cmd/context.h"
#include "cmd/render_module/bodies.h"
#include "core/base/error.h"
#include "core/base/interrupt.h"

namespace {

bool is_size(std::string_view text) { return text == "512" || text == "720p" || text == "1080p"; }

int run(int argc, char** argv) {
  using namespace navtalk;
  const SignalStop stop;
  cmd::Context context{.out = cmd::Output(1), .stop = stop.token()};
  cmd::BenchImageOptions options{.sizes = {"720p", "1080p", "512"},
                                 .batches = {8, 1},
                                 .device = "cuda",
                                 .table_beside_json = true};
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--json")
      context.json = true;
    else if (argument == "--size" && i + 1 < argc && is_size(argv[i + 1]))
      options.sizes = {argv[++i]};
    else if (argument == "--time" && i + 1 < argc)
      options.seconds = std::stod(argv[++i]);
    else
      throw Error(Code::usage,
                  "usage: gpu_bench_image [--json] [--size 512|720p|1080p] [--time SECONDS]");
  }
  const int status = cmd::bench_image(options, context);
  context.out.flush();
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const navtalk::Error& error) {
    std::fprintf(stderr, "gpu_bench_image: %s\n", error.what());
    return navtalk::exit_status(error.code());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpu_bench_image: %s\n", error.what());
    return 1;
  }
}
