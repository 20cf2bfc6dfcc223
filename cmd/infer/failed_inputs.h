// Which of several inputs failed, for the command's last word and exit status. A value.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/error.h"

namespace navtalk::cmd {

class FailedInputs {
 public:
  void add(const std::string& name, Code code);
  bool empty() const { return names_.empty(); }
  // Error that names them, with their code where it is the same, else `failed`; nothing without.
  void throw_if_any(std::size_t inputs) const;

 private:
  std::vector<std::string> names_;
  std::vector<Code> codes_;  // of each name
};

}  // namespace navtalk::cmd
