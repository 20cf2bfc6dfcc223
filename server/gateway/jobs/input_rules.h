// What a text has to satisfy before its job is accepted: it holds no blocked words, and the operator's moderation has the
// last word. Blocks on the network; thread-safe.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "scheduler/jobs/job.h"

namespace navtalk::server {

struct InputRuleOptions {
  std::string moderation_url{};                // empty: none
  std::filesystem::path blocked_words_file{};  // one word or phrase a line; empty: none
};

class InputRules {
 public:
  // Error{invalid} for a URL that is none; Error{not_found}, Error{invalid} for the file. After a request to stop no
  // server is waited for.
  explicit InputRules(InputRuleOptions options, std::stop_token stop = {});

  // Whether judge() asks another server about this job.
  bool asks_others(const JobSpec& spec) const {
    return !options_.moderation_url.empty() && !spec.text.empty();
  }
  // May replace the text. Error{invalid} names the rule that forbids it; Error{failed} when nobody
  // can say, or after a request to stop.
  void judge(JobSpec& spec) const;

 private:
  void forbid_blocked_words(const std::string& text) const;
  void ask_moderation(JobSpec& spec) const;

  InputRuleOptions options_;
  std::stop_token stop_;
  std::vector<std::string> blocked_;  // as plain_words()
};

}  // namespace navtalk::server
