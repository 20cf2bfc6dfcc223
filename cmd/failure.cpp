#include "cmd/failure.h"

#include <fmt/core.h>

#include <cstdlib>
#include <new>
#include <nlohmann/json.hpp>

#include "cmd/terminal/standard_error.h"
#include "core/base/error.h"
#include "core/text/printable.h"

namespace navtalk::cmd {
namespace {

Error as_error(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return Error(Code::failed, "out of memory");
  } catch (const std::exception& other) {
    return Error(Code::failed, other.what());
  } catch (...) {
    return Error(Code::failed, "an exception of unknown type");
  }
}

// False when standard output cannot be written; by then there is no better place to say so than
// standard error, where the first failure already stands.
bool try_flush(Output& out) {
  try {
    out.flush();
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

int report_failure(const std::exception_ptr& exception, const FailureStyle& style, Output& out) {
  const Error error = as_error(exception);
  const bool writable = try_flush(out);
  const bool stopped = error.code() == Code::interrupted || error.code() == Code::terminated;
  const std::string_view word = stopped ? "" : style.colour ? "\x1b[31merror\x1b[0m: " : "error: ";
  write_standard_error(fmt::format("navtalk: {}{}\n", word, printable_text(error.message())));
  if (style.json && writable) {
    out.json({{"error", {{"code", name(error.code())}, {"message", error.message()}}}});
    try_flush(out);
  }
  return exit_status(error.code());
}

void end_without_device(const FailureStyle& style, Output& out) {
  std::_Exit(report_failure(std::current_exception(), style, out));
}

}  // namespace navtalk::cmd
