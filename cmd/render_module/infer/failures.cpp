#include "cmd/render_module/infer/failures.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/log/log.h"

namespace navtalk::cmd {
namespace {

constexpr std::size_t k_most_names = 20;  // in one message

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
  names_.push_back(utterance.name);
  codes_.push_back(error.code());
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

void Failures::throw_if_any() const {
  if (names_.empty()) return;
  const bool alike = std::ranges::all_of(codes_, [&](Code code) { return code == codes_.front(); });
  const std::size_t shown = std::min(names_.size(), k_most_names);
  std::string message = fmt::format(
      "{} of {} inputs failed: {}", names_.size(), inputs_,
      fmt::join(names_.begin(), names_.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (shown < names_.size()) message += fmt::format(" and {} more", names_.size() - shown);
  throw Error(alike ? codes_.front() : Code::failed, message);
}

}  // namespace navtalk::cmd
