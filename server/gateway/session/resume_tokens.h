// The tokens with which dropped clients come back to their sessions: random, of this process only, each
// good for one use. A session has one at a time. Of the I/O thread.
#pragma once

#include <map>
#include <string>

namespace navtalk::server {

class Session;

class ResumeTokens {
 public:
  // A new token of that session; the last one is void.
  const std::string& issue(Session& session);
  // The session's token; "" when it has none.
  const std::string& of(const Session& session) const;
  // The session that it belongs to; nullptr: it is void, of another owner, or was never issued.
  Session* find(const std::string& token, const std::string& owner) const;
  bool empty() const { return tokens_.empty(); }
  void revoke(const Session& session);

 private:
  std::map<std::string, Session*, std::less<>> sessions_{};
  std::map<const Session*, std::string> tokens_{};
};

}  // namespace navtalk::server
