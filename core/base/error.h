// The one exception type of navtalk, and the one table from its codes to exit and HTTP status.
#pragma once

#include <exception>
#include <string>
#include <string_view>

namespace navtalk {

enum class Code {
  failed,       // the work was tried and did not succeed (disk full, verification out of tolerance)
  usage,        // the command line is wrong
  invalid,      // an input file, a checkpoint or the configuration is wrong
  not_found,    // a file, an avatar, a model that was named is not there
  no_capacity,  // no GPU or slot is to be had now
  interrupted,  // SIGINT
  terminated,   // SIGTERM
};

// Process exit status: 0 is done; see the table in error.cpp.
int exit_status(Code code);
// HTTP status for the same failure.
int http_status(Code code);
// The code's name as it stands in {"error":{"code":...}}.
std::string_view name(Code code);

// What happened, to which thing, and what to do about it. Each layer that knows more adds one
// phrase in front: `throw error.within("reading unet.pth")` gives "reading unet.pth: tensor ... is
// truncated".
class Error : public std::exception {
 public:
  Error(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  Code code() const { return code_; }
  const std::string& message() const { return message_; }
  const char* what() const noexcept override { return message_.c_str(); }
  Error within(std::string_view phrase) const;

 private:
  Code code_;
  std::string message_;
};

}  // namespace navtalk
