// What `navtalk model verify` was asked for. Private to cmd/.
#pragma once

#include <filesystem>
#include <string>

namespace navtalk::cmd {

struct ModelVerifyOptions {
  std::filesystem::path models, golden;
  std::string device = "cpu", precision = "fp32", weight_format = "auto";
};

}  // namespace navtalk::cmd
