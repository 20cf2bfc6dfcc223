// A child process of a test that talks over its standard input and output. Killed with the object.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "core/base/unique_fd.h"

namespace navtalk::tests {

class Child {
 public:
  explicit Child(const std::vector<std::string>& command);
  ~Child();
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void say(const std::string& line);
  // The next line of its output; empty at its end.
  std::string line();
  std::vector<std::string> rest();
  void signal(int number) const;
  int wait();  // its exit status, or 128 + the signal that ended it

 private:
  pid_t pid_ = -1;
  UniqueFd input_, output_;
  std::string unread_;
};

}  // namespace navtalk::tests
