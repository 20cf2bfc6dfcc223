#include "cmd/render_module/infer/failures.h"

#include <nlohmann/json.hpp>

#include "core/log/log.h"

namespace navtalk::cmd {
namespace {

bool is_stop(Code code) { return code == Code::interrupted || code == Code::terminated; }

}  // namespace

bool Failures::attempt(const Utterance& utterance, const EndsAll& ends_all,
                       const std::function<void()>& work) {
  try {
    work();
    return true;
  } catch (const Error& error) {
    const Code code = error.code();
    if (inputs_ == 1 || is_stop(code) || code == Code::usage || ends_all(code)) throw;
    tell(utterance, error);
    return false;
  }
}

void Failures::tell(const Utterance& utterance, const Error& error) {
  failed_.add(utterance.name, error.code());
  const bool named = error.message().find(utterance.name) != std::string::npos;
  context_.clear_progress();
  log::error(named ? error.message() : utterance.name + ": " + error.message());
  if (!context_.json) return;
  nlohmann::ordered_json object;
  if (!utterance.audio.empty()) put_path(object, "audio", utterance.audio);
  put_path(object, "output", utterance.output);
  object["error"] = {{"code", name(error.code())}, {"message", error.message()}};
  context_.out.json(object);
  context_.out.flush();
}

}  // namespace navtalk::cmd
