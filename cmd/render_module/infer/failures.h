// What went wrong with some of several inputs, while the others are rendered. Private to the command.
#pragma once

#include <functional>

#include "cmd/context.h"
#include "cmd/infer/failed_inputs.h"
#include "cmd/render_module/infer/utterances.h"
#include "core/base/error.h"

namespace navtalk::cmd {

class Failures {
 public:
  // Whether the next input would meet the same error.
  using EndsAll = std::function<bool(Code)>;

  Failures(Context& context, std::size_t inputs) : context_(context), inputs_(inputs) {}

  // Does a part of the work for one input; true: it is done. An error of one of several inputs is
  // told at once, as a message and with --json as an object, and false is returned. Other errors
  // are thrown on: of an only input, of what ends_all() names, and a stop.
  bool attempt(const Utterance& utterance, const EndsAll& ends_all,
               const std::function<void()>& work);
  // Error that names the inputs that failed, with their code where it is the same; nothing without.
  void throw_if_any() const { failed_.throw_if_any(inputs_); }

 private:
  void tell(const Utterance& utterance, const Error& error);

  Context& context_;
  std::size_t inputs_;
  FailedInputs failed_;
};

}  // namespace navtalk::cmd
