#include "server/gateway/session/resume_tokens.h"

#include "core/base/id.h"
#include "server/gateway/session/session.h"

namespace navtalk::server {

const std::string& ResumeTokens::issue(Session& session) {
  revoke(session);
  const auto [at, is_new] = tokens_.emplace(&session, random_id());
  sessions_.emplace(at->second, &session);
  return at->second;
}

const std::string& ResumeTokens::of(const Session& session) const {
  static const std::string k_none;
  const auto found = tokens_.find(&session);
  return found == tokens_.end() ? k_none : found->second;
}

Session* ResumeTokens::find(const std::string& token, const std::string& owner) const {
  const auto found = sessions_.find(token);
  if (found == sessions_.end() || found->second->owner() != owner) return nullptr;
  return found->second;
}

void ResumeTokens::revoke(const Session& session) {
  const auto found = tokens_.find(&session);
  if (found == tokens_.end()) return;
  sessions_.erase(found->second);
  tokens_.erase(found);
}

}  // namespace navtalk::server
