// What `navtalk bench faces` was asked for. Private to cmd/.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace navtalk::cmd {

struct BenchFacesOptions {
  std::filesystem::path models;
  std::string device = "auto";
  std::vector<std::string> precisions;
  std::string size = "1280x720";
  std::vector<int> batches = {1};
  int threads = 0;
  double seconds = 0.5;
};

}  // namespace navtalk::cmd
