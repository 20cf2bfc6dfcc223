// What `navtalk bench image` was asked for. Private to cmd/.
#pragma once

#include <string>
#include <vector>

namespace navtalk::cmd {

struct BenchImageOptions {
  std::vector<std::string> sizes{"512", "720p", "1080p"};
  std::vector<int> batches{1, 8};
  double seconds = 0.1;
  std::string device{"auto"};  // or "cpu", "cuda"
  // With JSON on standard output, the table on standard error.
  bool table_beside_json = false;
};

}  // namespace navtalk::cmd
