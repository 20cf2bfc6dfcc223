#include "server/gateway/jobs/input_rules.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/files/whole_file.h"
#include "core/net/http_client.h"
#include "core/net/url.h"
#include "core/text/printable.h"
#include "server/gateway/jobs/speech/plain_words.h"

namespace navtalk::server {
namespace {

using namespace std::chrono_literals;

constexpr auto k_moderation_within = 10s;
constexpr std::size_t k_longest_rewritten = 100'000, k_longest_answer = 1 << 20;  // bytes

[[noreturn]] void forbid(const std::string& what) { throw Error(Code::invalid, what); }

}  // namespace

InputRules::InputRules(InputRuleOptions options, std::stop_token stop)
    : options_(std::move(options)), stop_(std::move(stop)) {
  if (!options_.moderation_url.empty()) parse_http_url(options_.moderation_url);
  if (options_.blocked_words_file.empty()) return;
  const std::vector<std::uint8_t> bytes = read_file(options_.blocked_words_file);
  const std::string text(bytes.begin(), bytes.end());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    at = end + 1;
    std::string words = line.starts_with('#') ? "" : plain_words(line);
    if (!words.empty()) blocked_.push_back(std::move(words));
  }
}

void InputRules::forbid_blocked_words(const std::string& text) const {
  if (blocked_.empty()) return;
  for (const std::string& heard : heard_words(text)) {
    const std::string words = fmt::format(" {} ", heard);
    for (const std::string& blocked : blocked_) {
      if (words.find(fmt::format(" {} ", blocked)) != std::string::npos)
        forbid("the text is refused by the rule blocked_words: it says '" + blocked + "'");
    }
  }
}

void InputRules::judge(JobSpec& spec) const {
  if (spec.text.empty()) return;
  forbid_blocked_words(spec.text);
  if (!options_.moderation_url.empty()) ask_moderation(spec);
}

void InputRules::ask_moderation(JobSpec& spec) const {
  const nlohmann::json question = {{"tenant", spec.tenant.text},
                                   {"avatar", spec.avatar},
                                   {"voice", spec.voice},
                                   {"text", spec.text}};
  HttpClient client;
  const HttpResult result = client.send({.method = "POST",
                                         .url = options_.moderation_url,
                                         .headers = {{"Content-Type", "application/json"}},
                                         .body = question.dump(),
                                         .timeout = k_moderation_within,
                                         .max_answer = k_longest_answer},
                                        stop_);
  const auto* const answer = std::get_if<HttpAnswer>(&result);
  const nlohmann::json verdict = answer != nullptr && answer->status == 200
                                     ? nlohmann::json::parse(answer->body, nullptr, false)
                                     : nlohmann::json();
  const auto allowed = verdict.is_object() ? verdict.find("allowed") : verdict.end();
  if (allowed == verdict.end() || !allowed->is_boolean())
    throw Error(Code::failed, "the text cannot be moderated now: try again later");
  if (!allowed->get<bool>()) {
    const auto rule = verdict.find("rule");
    forbid("the text is refused by the rule " +
           (rule != verdict.end() && rule->is_string()
                ? printable_start(rule->get<std::string>(), 100)
                : std::string("moderation")));
  }
  const auto text = verdict.find("text");
  if (text == verdict.end()) return;
  if (!text->is_string() || text->get<std::string>().empty() ||
      text->get<std::string>().size() > k_longest_rewritten ||
      text->get<std::string>().find('\0') != std::string::npos) {
    throw Error(Code::failed, "the moderation's text cannot be spoken");
  }
  spec.text = text->get<std::string>();
  forbid_blocked_words(spec.text);
}

}  // namespace navtalk::server
