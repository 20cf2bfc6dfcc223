#include "server/gateway/access/access.h"

#include "server/http/bearer.h"
#include "server/http/local_only.h"

namespace navtalk::server {
namespace asio = boost::asio;

namespace {

enum class Need : std::uint8_t { nothing, own_check, key, admin };

bool is_below(std::string_view path, std::string_view base) {
  return path == base || (path.starts_with(base) && path.substr(base.size()).starts_with('/'));
}

// Whether the route of results judges the request by its link, which stands for a key.
bool is_result_link(const Request& request) {
  constexpr std::string_view k_jobs = "/v1/jobs/", k_result = "/result";
  const std::string_view path = request.path;
  if (!path.starts_with(k_jobs) || !path.ends_with(k_result)) return false;
  if (path.size() <= k_jobs.size() + k_result.size()) return false;
  const std::string_view id =
      path.substr(k_jobs.size(), path.size() - k_jobs.size() - k_result.size());
  return id.find('/') == std::string_view::npos &&
         (request.method == "GET" || request.method == "HEAD") && request.parameter("signature");
}

Need need_of(const Request& request) {
  if (is_for_operators(request)) return Need::admin;
  if (request.path == "/v1/realtime" || is_result_link(request)) return Need::own_check;
  return is_below(request.path, "/v1") ? Need::key : Need::nothing;
}

Response unauthorised(std::string_view message) {
  Response refusal = error_response(401, "unauthorised", message);
  refusal.headers.emplace_back("WWW-Authenticate", "Bearer");
  return refusal;
}

Response refusal_of(KeyRing::Verdict verdict) {
  using enum KeyRing::Verdict;
  if (verdict == expired) return unauthorised("the API key has expired");
  if (verdict == revoked) return unauthorised("the API key was revoked");
  if (verdict == unreachable) {
    Response refusal =
        error_response(503, "store_unavailable",
                       "the pool's store cannot be reached, so that no key can be checked");
    refusal.headers.emplace_back("Retry-After", "10");
    return refusal;
  }
  return unauthorised("the API key is not one of this pool");
}

}  // namespace

bool is_for_operators(const Request& request) {
  return request.path == "/metrics" || is_below(request.path, "/v1/pool");
}

Access::Access(asio::any_io_executor executor, BlockingThreads& threads, AccessOptions options)
    : threads_(threads),
      keys_(options.keys),
      signer_(options.token_secret.empty() ? random_id() : std::move(options.token_secret)),
      ring_(std::move(executor), options.keys, threads),
      operator_key_(options.rules.operator_key),
      tenants_(options.rules.tenants),
      origins_(options.rules.allow_origins) {}

void Access::replace(const AccessRules& rules) {
  origins_ = Origins(rules.allow_origins);
  if (operator_key_ != rules.operator_key) ++operator_keys_;
  operator_key_ = rules.operator_key;
  tenants_.replace(rules.tenants);
  ring_.refresh_now();
  if (on_revocation_) on_revocation_();
}

void Access::on_revocation(std::function<void()> look) {
  on_revocation_ = look;
  ring_.on_read(std::move(look));
}

std::function<bool()> Access::revocation_of(const Principal& who) const {
  if (!who.key.empty()) return [this, key = who.key] { return ring_.is_revoked(key); };
  if (who.role == Role::admin)
    return [this, then = operator_keys_] { return operator_keys_ != then; };
  return [] { return false; };
}

void Access::add_guards(Router& router) {
  router.guard([this](const Request& request) { return guard(request); });
  router.finish(
      [this](const Request& request, Response& response) { origins_.admit(request, response); });
}

void Access::add_routes(Router& router) {
  if (keys_ == nullptr) return;  // no store to tell which tokens were used
  router.on("POST", "/v1/client-tokens",
            [this](const Request& request) { return make_token(request); });
}

asio::awaitable<std::optional<Response>> Access::guard(const Request& request) {
  const std::optional<Response> machine = guard_machine(request);
  if (machine) co_return machine;
  const Need need = need_of(request);
  const bool open = need == Need::nothing || need == Need::own_check ||
                    (!keys_required() && !is_below(request.path, "/v1/pool"));
  if (open) co_return std::nullopt;
  const Judged judged = co_await authenticate(request);
  if (const auto* refusal = std::get_if<Response>(&judged)) {
    ++counters_.refused_keys;
    co_return *refusal;
  }
  if (need == Need::admin && std::get<Principal>(judged).role != Role::admin) {
    ++counters_.refused_keys;
    co_return error_response(403, "forbidden",
                             request.path + " needs an API key of role admin, or the operator key");
  }
  co_return std::nullopt;
}

// What needs no key to be judged: where a page comes from, and what kind of body it sends.
std::optional<Response> Access::guard_machine(const Request& request) {
  std::optional<Response> refusal =
      keys_required() ? origins_.refuse(request) : refuse_foreign(request);
  if (refusal) {
    ++counters_.refused_origins;
    return refusal;
  }
  if (auto answer = Origins::preflight(request)) return answer;
  return refuse_untyped_body(request);
}

asio::awaitable<Access::Judged> Access::authenticate(const Request& request) {
  const std::optional<std::string> given = bearer(request);
  if (!given) {
    co_return unauthorised(is_below(request.path, "/v1/pool")
                               ? request.path +
                                     " needs the gateway's operator key, or an API key of "
                                     "role admin: Authorization: Bearer KEY"
                               : request.path + " needs an API key: Authorization: Bearer KEY");
  }
  if (!operator_key_.empty() && has_token(request, operator_key_))
    co_return Principal{.role = Role::admin};
  const KeyRing::Answer answer = co_await ring_.judge(*given);
  if (answer.verdict != KeyRing::Verdict::valid) co_return refusal_of(answer.verdict);
  co_return Principal{.tenant = answer.key.tenant, .role = answer.key.role, .key = answer.key.id};
}

asio::awaitable<std::variant<Principal, Response>> Access::principal_of(const Request& request) {
  if (!keys_required() && !bearer(request)) co_return Principal{};
  co_return co_await authenticate(request);
}

asio::awaitable<std::variant<SessionPermit, Response>> Access::permit_session(
    const Request& request) {
  if (bearer(request)) {
    Judged judged = co_await authenticate(request);
    if (auto* refusal = std::get_if<Response>(&judged)) {
      ++counters_.refused_keys;
      co_return std::move(*refusal);
    }
    SessionPermit permit{.who = std::get<Principal>(std::move(judged))};
    permit.revoked = revocation_of(permit.who);
    co_return seated(std::move(permit));
  }
  if (const auto offered = offered_token(request)) co_return permit_of_token(request, *offered);
  if (!keys_required()) co_return seated({});
  ++counters_.refused_keys;
  co_return unauthorised(
      "/v1/realtime needs an API key (Authorization: Bearer KEY) or a browser token");
}

std::variant<SessionPermit, Response> Access::seated(SessionPermit permit) {
  permit.limits = tenants_.limits_of(permit.who.tenant);
  const TenantId& tenant = permit.who.tenant;
  permit.seat = tenants_.take_seat(tenant);
  if (!permit.seat) permit.seat = tenants_.take_surplus_seat(tenant);
  permit.take_seat = [this, tenant] { return take_late_seat(tenant); };
  if (permit.seat) return permit;
  ++counters_.tenant_limits;
  Response refusal =
      error_response(429, "tenant_limit",
                     "tenant '" + permit.who.tenant.text + "' has as many connections (" +
                         std::to_string(permit.limits.max_connections) + ") as it may");
  refusal.headers.emplace_back("Retry-After", "10");
  return refusal;
}

std::shared_ptr<TenantSeat> Access::take_late_seat(const TenantId& tenant) {
  std::shared_ptr<TenantSeat> seat = tenants_.take_seat(tenant);
  if (!seat) ++counters_.tenant_limits;
  return seat;
}

}  // namespace navtalk::server
