// What `navtalk bench pipeline` was asked for. Private to cmd/.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cmd/net_placement.h"

namespace navtalk::cmd {

struct BenchPipelineOptions {
  std::filesystem::path models;
  std::string device = "auto";
  NetPlacement placement{};
  std::vector<std::string> precisions;
  std::vector<int> batches{1, 4};
  int threads = 0;
  double seconds = 0.5;
};

}  // namespace navtalk::cmd
