#include "core/base/error.h"

namespace navtalk {
namespace {

struct Row {
  Code code;
  std::string_view name;
  int exit_status;
  int http_status;
};

constexpr Row k_table[] = {
    {Code::failed, "failed", 1, 500},           {Code::usage, "usage", 2, 400},
    {Code::invalid, "invalid", 3, 422},         {Code::not_found, "not_found", 4, 404},
    {Code::no_capacity, "no_capacity", 5, 503}, {Code::interrupted, "interrupted", 130, 503},
    {Code::terminated, "terminated", 143, 503},
};

const Row& row(Code code) {
  for (const Row& row : k_table) {
    if (row.code == code) return row;
  }
  return k_table[0];
}

}  // namespace

int exit_status(Code code) { return row(code).exit_status; }
int http_status(Code code) { return row(code).http_status; }
std::string_view name(Code code) { return row(code).name; }

Error Error::within(std::string_view phrase) const {
  return Error(code_, std::string(phrase) + ": " + message_);
}

}  // namespace navtalk
