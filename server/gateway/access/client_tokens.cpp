// Access: browser tokens, from their making to the session that takes them.
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/id.h"
#include "core/log/log.h"
#include "core/text/rfc3339.h"
#include "server/gateway/access/access.h"
#include "server/gateway/access/offered_token.h"

namespace navtalk::server {
namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t k_ttl_s = 60, k_longest_ttl_s = 600, k_longest_session_s = 86'400;
constexpr std::size_t k_longest_avatar = 64;

std::int64_t whole(const nlohmann::json& body, const char* member, std::int64_t otherwise,
                   std::int64_t most) {
  const auto found = body.find(member);
  if (found == body.end() || found->is_null()) return otherwise;
  if (!found->is_number_integer() || *found < 1 || *found > most) {
    throw Error(Code::usage,
                std::string(member) + " is a whole number from 1 to " + std::to_string(most));
  }
  return found->get<std::int64_t>();
}

std::string text_of(const nlohmann::json& body, const char* member) {
  const auto found = body.find(member);
  if (found == body.end() || found->is_null()) return "";
  if (!found->is_string()) throw Error(Code::usage, std::string(member) + " is a string");
  return found->get<std::string>();
}

// What the caller asks for; without id, tenant and times of its own.
ClientToken wanted_token(const nlohmann::json& body) {
  ClientToken token;
  token.avatar = text_of(body, "avatar");
  if (token.avatar.empty() || token.avatar.size() > k_longest_avatar)
    throw Error(Code::usage, R"(the body is {"avatar": "ID", "ttl_s": 60, "max_session_s": 600, )"
                             R"("origin": "https://..."}; avatar is required)");
  const std::string origin = text_of(body, "origin");
  if (!origin.empty()) {
    const auto canonical = canonical_origin(origin);
    if (!canonical)
      throw Error(Code::usage, "origin is that of a page, such as https://example.org");
    token.origin = *canonical;
  }
  token.max_session = std::chrono::seconds(whole(body, "max_session_s", 0, k_longest_session_s));
  return token;
}

Response refused_token(std::string_view message) {
  Response refusal = error_response(401, "unauthorised", message);
  refusal.headers.emplace_back("WWW-Authenticate", "Bearer");
  return refusal;
}

}  // namespace

asio::awaitable<Response> Access::make_token(const Request& request) {
  const nlohmann::json body = json_body(request);
  ClientToken token = wanted_token(body);
  const std::chrono::seconds ttl(whole(body, "ttl_s", k_ttl_s, k_longest_ttl_s));
  if (keys_required()) {
    const Judged judged = co_await authenticate(request);
    if (const auto* refusal = std::get_if<Response>(&judged)) co_return *refusal;
    const auto& who = std::get<Principal>(judged);
    if (who.key.empty()) {
      co_return error_response(403, "forbidden",
                               "a browser token belongs to a tenant: ask with one of its API keys, "
                               "not with the operator key");
    }
    token.tenant = who.tenant;
    token.key = who.key;
  }
  token.id = random_id();
  token.expires_at = ring_.now() + ttl;
  Response answer =
      json_response(201, {{"token", signer_.sign(token)},
                          {"expires_at", rfc3339(std::chrono::system_clock::now() + ttl)}});
  answer.headers.emplace_back("Cache-Control", "no-store");
  co_return answer;
}

std::variant<SessionPermit, Response> Access::permit_of_token(const Request& request,
                                                              const OfferedToken& offered) {
  const std::optional<ClientToken> token = signer_.verify(offered.text);
  const auto refuse = [this](Response response) -> std::variant<SessionPermit, Response> {
    ++counters_.refused_tokens;
    return response;
  };
  if (!token || keys_ == nullptr)
    return refuse(refused_token("the browser token is not one of this pool"));
  // A token from before the pool's first key, or of a key that counts no more.
  const bool by_key = !token->key.empty();
  if (by_key != keys_required() ||
      (by_key && ring_.judge_id(token->key) != KeyRing::Verdict::valid)) {
    return refuse(refused_token("the API key of this browser token is not valid any more"));
  }
  const auto origin = request.header("origin");
  if (!token->origin.empty() && (!origin || canonical_origin(*origin) != token->origin))
    return refuse(error_response(403, "forbidden", "the browser token belongs to another page"));
  SessionPermit permit;
  permit.who.tenant = token->tenant;
  permit.who.key = token->key;
  permit.begin = [this, token = *token] { return take_token(token); };
  permit.avatar = token->avatar;
  permit.max_session = token->max_session;
  permit.revoked = revocation_of(permit.who);
  if (!offered.protocol.empty())
    permit.answer.emplace_back("Sec-WebSocket-Protocol", offered.protocol);
  return seated(std::move(permit));
}

asio::awaitable<std::optional<StartRefusal>> Access::take_token(const ClientToken& token) {
  Redemption redemption = Redemption::expired;
  std::string problem;
  if (ring_.now() < token.expires_at) {
    try {
      redemption = co_await threads_.run(
          [this, &token] { return keys_->redeem(token.id, token.expires_at); });
    } catch (const Error& error) {
      problem = error.what();
    }
  }
  if (!problem.empty()) {
    log::warn("a browser token could not be taken", {{"error", problem}});
    co_return StartRefusal{"store_unavailable",
                           "the pool's store cannot be reached, so that no token can be checked"};
  }
  if (redemption == Redemption::taken) co_return std::nullopt;
  ++counters_.refused_tokens;
  co_return StartRefusal{"unauthorised", redemption == Redemption::expired
                                             ? "the browser token has expired"
                                             : "the browser token was used before"};
}

}  // namespace navtalk::server
