#include "server/gateway/jobs/job_api.h"

#include <algorithm>
#include <exception>
#include <nlohmann/json.hpp>
#include <span>

#include "core/log/log.h"
#include "core/text/number.h"
#include "core/text/printable.h"
#include "core/text/rfc3339.h"
#include "scheduler/jobs/idempotency_conflict.h"
#include "scheduler/pool/tenant_name.h"
#include "server/gateway/jobs/faults/on_store.h"
#include "server/gateway/jobs/faults/own_fault.h"
#include "server/gateway/jobs/job_events.h"
#include "server/gateway/jobs/job_link.h"
#include "server/gateway/jobs/job_request.h"
#include "server/gateway/jobs/job_webhooks.h"
#include "server/gateway/jobs/shared_result.h"
#include "server/gateway/pages/served_file.h"

namespace navtalk::server {
namespace asio = boost::asio;
using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t k_default_page = 100, k_longest_page = 1000;
constexpr std::uint64_t k_relayed_piece = std::uint64_t{1} << 20;  // bytes in memory
constexpr std::size_t k_parsed_at_once = 64 << 10;                 // bytes, on the I/O thread
constexpr int k_uploads_in_memory = 4;                             // of the largest size

// Whoever asks without a key, and the operator.
const TenantId k_nobodys{std::string(k_keyless_tenant)};
constexpr const char* k_event_stream = "text/event-stream";

std::int64_t seconds_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

std::string time_text(TimePoint time) {
  return rfc3339(std::chrono::time_point_cast<std::chrono::system_clock::duration>(time));
}

std::string content_type(const std::string& format) {
  if (format == "mov") return "video/quicktime";
  if (format == "mkv") return "video/x-matroska";
  if (format == "webm") return "video/webm";
  if (format == "gif" || format == "webp") return "image/" + format;
  return "video/mp4";
}

Response no_such_job() { return error_response(404, "not_found", "there is no such job"); }

// The answer of `work`, also where it failed: without the words of the store or of this gateway's files.
asio::awaitable<Response> answered(asio::awaitable<Response> work) {
  std::string failed;
  bool away = false;
  try {
    Response answer = co_await std::move(work);
    co_return answer;
  } catch (const StoreFault& error) {
    away = true;
    failed = error.message();
  } catch (const IdempotencyConflict& error) {
    co_return error_response(http_status(error.code()), "idempotency_conflict", error.message());
  } catch (const Error& error) {
    if (error.code() != Code::failed) throw;
    failed = error.message();
  }
  log::error("a request about jobs failed", {{"error", failed}});
  if (!away) co_return error_response(500, "failed", "internal error; the log says more");
  Response later = error_response(503, "store_unavailable",
                                  "the pool's store cannot be reached; try again later");
  later.headers.emplace_back("Retry-After", "5");
  co_return later;
}

template <class Number>
Number bounded(const Request& request, const char* name, Number fallback, Number least,
               Number most) {
  const auto text = request.parameter(name);
  if (!text) return fallback;
  const auto number = parse_number<Number>(*text);
  if (!number || *number < least || *number > most)
    throw Error(Code::usage, std::string(name) + " is a number from " + std::to_string(least) +
                                 " to " + std::to_string(most));
  return *number;
}

}  // namespace

void JobApi::add_routes(Router& router) {
  const auto on = [this, &router](const char* method, const char* pattern,
                                  Answer (JobApi::*handler)(const Request&)) {
    router.on(method, pattern, [this, handler](const Request& request) {
      return answered((this->*handler)(request));
    });
  };
  on("POST", "/v1/jobs", &JobApi::submit);
  const auto room = std::make_shared<BodyRoom>(k_uploads_in_memory * parts_.max_upload);
  router.take_long_bodies("POST", "/v1/jobs",
                          {.bytes = parts_.max_upload,
                           .room = room,
                           .owner = [this](const Request& request) { return owner_of(request); }});
  on("GET", "/v1/jobs", &JobApi::list);
  on("GET", "/v1/jobs/{id}", &JobApi::show);
  on("DELETE", "/v1/jobs/{id}", &JobApi::cancel);
  on("GET", "/v1/jobs/{id}/events", &JobApi::events);
  on("GET", "/v1/jobs/{id}/result", &JobApi::result);
  on("GET", "/v1/webhook-secret", &JobApi::webhook_secret);
}

asio::awaitable<std::variant<TenantId, Response>> JobApi::tenant_of(const Request& request) {
  auto who = co_await parts_.access.principal_of(request);
  if (auto* refusal = std::get_if<Response>(&who)) co_return std::move(*refusal);
  const auto& [tenant, role, key] = std::get<Principal>(who);
  // A key that an earlier version made. An operator's may see what the operator has.
  if (tenant == k_nobodys && role != Role::admin)
    co_return error_response(403, "forbidden",
                             "the tenant name '" + tenant.text +
                                 "' is reserved for jobs that come without a key: ask for a key of "
                                 "another tenant");
  co_return tenant.empty() ? k_nobodys : tenant;
}

asio::awaitable<std::variant<std::string, Response>> JobApi::owner_of(const Request& request) {
  auto tenant = co_await tenant_of(request);
  if (auto* refusal = std::get_if<Response>(&tenant)) co_return std::move(*refusal);
  co_return std::move(std::get<TenantId>(tenant).text);
}

Json JobApi::as_json(const Job& job) const {
  const double done = job.work.count() > 0 ? job.finished.count() / job.work.count() : 0;
  double progress = job.state == JobState::done ? 1 : std::min(1.0, done);
  if (const auto running = parts_.dispatcher.progress(job.id))
    progress = std::max(progress, *running);
  const std::string& error = shown_error(job);
  Json object = {{"id", job.id.text},
                 {"state", name(job.state)},
                 {"avatar", job.spec.avatar},
                 {"video_minutes", job.work.count()},
                 {"estimated", job.estimated},
                 {"priority", job.spec.priority},
                 {"progress", progress},
                 {"attempts", job.attempts},
                 {"submitted_at", time_text(job.submitted_at)},
                 {"changed_at", time_text(job.changed_at)},
                 {"error", error.empty() ? Json(nullptr) : Json(error)},
                 {"result", nullptr}};
  if (job.state == JobState::done) {
    const Json result = Json::parse(job.result);
    object["result"] = {{"url", "/v1/jobs/" + job.id.text + "/result"},
                        {"bytes", result.at("bytes")},
                        {"frames", result.at("frames")},
                        {"duration_s", result.at("duration_s")}};
    const std::string link =
        result_link(parts_.link_secret, job.id, seconds_now() + k_link_lasts_s);
    object["result"]["link"] = link.empty() ? Json(nullptr) : Json(link);
  }
  return object;
}

asio::awaitable<Json> JobApi::with_outlook(const Job& job, CountFrom from) {
  JobOutlook outlook;
  // The store's time may be a question to its server.
  auto look = [&] { outlook = parts_.tenants.outlook_of(job.id, from, parts_.store.now()); };
  co_await parts_.store_threads.run(on_store(look));
  Json object = as_json(job);
  const bool promised = outlook.promise.has_value();
  object["promised_at"] = promised ? Json(time_text(outlook.promise->promised_at)) : Json(nullptr);
  object["first_promised_at"] =
      promised ? Json(time_text(outlook.promise->first_at)) : Json(nullptr);
  object["eta_s"] = outlook.estimate ? Json(in_seconds(outlook.estimate->eta)) : Json(nullptr);
  object["position"] = outlook.position ? Json(*outlook.position) : Json(nullptr);
  co_return object;
}

asio::awaitable<std::optional<Job>> JobApi::asked_before(JobRequest& asked) {
  if (asked.job.key.empty()) co_return std::nullopt;
  auto find = [&] {
    asked.job.request = request_digest(asked);
    const auto before = parts_.store.asked_before(asked.job);
    if (before) promise(*before, parts_.store.now());
    return before;
  };
  co_return co_await parts_.store_threads.run(on_store(find));
}

// One that was there may lack its promise, since its gateway was killed before that.
void JobApi::promise(const Job& job, TimePoint now) {
  if (is_final(job.state) || parts_.tenants.promise_of(job.id)) return;
  parts_.tenants.promise(std::span(&job.id, 1), now);
}

asio::awaitable<Response> JobApi::accepted(const Job& job) {
  parts_.dispatcher.note_submission();
  const Json object = co_await with_outlook(job, CountFrom::end);
  Response response = json_response(202, object);
  response.headers.emplace_back("Location", "/v1/jobs/" + job.id.text);
  co_return response;
}

void JobApi::refuse_unsigned() const {
  if (!parts_.webhook_secret.empty()) return;
  throw Error(Code::invalid,
              "this gateway signs no webhooks: its operator sets webhook.secret_file");
}

asio::awaitable<Response> JobApi::webhook_secret(const Request& request) {
  auto tenant = co_await tenant_of(request);
  if (auto* refusal = std::get_if<Response>(&tenant)) co_return std::move(*refusal);
  refuse_unsigned();
  Response response = json_response(
      200, {{"secret", webhook_secret_of(std::get<TenantId>(tenant), parts_.webhook_secret)}});
  response.headers.emplace_back("Cache-Control", "no-store");
  co_return response;
}

asio::awaitable<Response> JobApi::submit(const Request& request) {
  auto tenant = co_await tenant_of(request);
  if (auto* refusal = std::get_if<Response>(&tenant)) co_return std::move(*refusal);
  JobRequest asked;
  const auto parse = [&] { asked = parse_job_request(request); };
  if (request.body.size() > k_parsed_at_once) {
    co_await parts_.file_threads.run(parse);
  } else {
    parse();
  }
  asked.job.spec.tenant = std::get<TenantId>(tenant);
  if (!asked.job.spec.webhook.empty()) refuse_unsigned();
  // Whoever asks again is not judged again, and what was to be fetched may be gone or have changed.
  const std::optional<Job> before = co_await asked_before(asked);
  if (before) co_return co_await accepted(*before);
  if (!parts_.dispatcher.folder_problem().empty())
    co_return unavailable("this gateway cannot keep the files of jobs now: try again later");
  std::optional<Response> refusal = co_await admission_.refusal_of(asked);
  if (refusal) co_return std::move(*refusal);
  const TenantId owner = asked.job.spec.tenant;
  auto has_avatar_and_room = [&] {
    const std::vector<ServedAvatar> avatars =
        parts_.avatars ? parts_.avatars() : std::vector<ServedAvatar>{};
    const auto is_it = [&](const ServedAvatar& one) { return one.id == asked.job.spec.avatar; };
    if (!avatars.empty() && std::ranges::none_of(avatars, is_it)) return false;
    const bool known = !asked.job.key.empty() && parts_.store.find(owner, asked.job.key);
    // Before its speech is kept; and once more where nobody else submits at the same time.
    if (!known) parts_.tenants.check_queue(owner, asked.job.work);
    return true;
  };
  auto record = [&] {
    const TimePoint now = parts_.store.now();
    Submission made = parts_.store.submit(asked.job, {"tenant " + owner.text, "submitted"}, now,
                                          parts_.tenants.queue_rule());
    promise(made.job, now);
    return made;
  };
  std::optional<Submission> submission;
  std::string problem, unkept;
  bool ends = false;
  try {
    const bool there = co_await parts_.store_threads.run(on_store(has_avatar_and_room));
    if (!there)
      co_return error_response(404, "not_found",
                               "there is no avatar '" + printable_start(asked.job.spec.avatar, 64) +
                                   "': see /v1/avatars");
    if (!asked.audio.empty()) asked.job.spec.audio = co_await keeper_.keep(asked.audio);
    submission = co_await parts_.store_threads.run(on_store(record));
  } catch (const StoreFault&) {
    throw;
  } catch (const OwnFault& error) {
    unkept = error.message();
  } catch (const Error& error) {
    ends = error.code() == Code::failed && parts_.stop.stop_requested();
    if (error.code() != Code::no_capacity && !ends) throw;
    problem = error.message();
  }
  if (!unkept.empty()) {
    log::error("a job's speech cannot be kept", {{"error", unkept}});
    co_return unavailable("the speech cannot be kept now: try again later");
  }
  if (ends) co_return unavailable(problem + ": try again");
  if (!problem.empty()) co_return error_response(429, "quota", problem);
  keeper_.ensure_shared(asked.job.spec.audio);
  co_return co_await accepted(submission->job);
}

asio::awaitable<Response> JobApi::list(const Request& request) {
  auto tenant = co_await tenant_of(request);
  if (auto* refusal = std::get_if<Response>(&tenant)) co_return std::move(*refusal);
  JobQuery query{.tenant = std::get<TenantId>(tenant),
                 .after = bounded<std::int64_t>(request, "cursor", 0, 0,
                                                std::numeric_limits<std::int64_t>::max()),
                 .limit = bounded<std::size_t>(request, "limit", k_default_page, 1, k_longest_page),
                 .texts = JobTexts::left_out};
  if (const auto state = request.parameter("state")) {
    query.state = parse_job_state(*state);
    if (!query.state)
      throw Error(Code::usage, "there is no state '" + printable_start(*state, 32) + "'");
  }
  auto read = [&] { return parts_.store.list(query); };
  const JobPage page = co_await parts_.store_threads.run(on_store(read));
  Json jobs = Json::array();
  for (const Job& job : page.jobs) jobs.push_back(as_json(job));
  co_return json_response(200, {{"jobs", std::move(jobs)},
                                {"next_cursor", page.next ? Json(*page.next) : Json(nullptr)}});
}

asio::awaitable<std::variant<Job, Response>> JobApi::named(const Request& request) {
  auto tenant = co_await tenant_of(request);
  if (auto* refusal = std::get_if<Response>(&tenant)) co_return std::move(*refusal);
  const JobId id{request.capture("id")};
  auto read = [&] { return parts_.store.find(id); };
  std::optional<Job> job = co_await parts_.store_threads.run(on_store(read));
  if (!job || job->spec.tenant != std::get<TenantId>(tenant)) co_return no_such_job();
  co_return std::move(*job);
}

asio::awaitable<Response> JobApi::show(const Request& request) {
  auto job = co_await named(request);
  if (auto* refusal = std::get_if<Response>(&job)) co_return std::move(*refusal);
  const Json object = co_await with_outlook(std::get<Job>(job), CountFrom::front);
  co_return json_response(200, object);
}

asio::awaitable<Response> JobApi::cancel(const Request& request) {
  auto job = co_await named(request);
  if (auto* refusal = std::get_if<Response>(&job)) co_return std::move(*refusal);
  const JobId id = std::get<Job>(job).id;
  auto work = [&] {
    auto after = parts_.store.cancel(id, {"tenant", "cancelled over HTTP"}, parts_.store.now());
    if (after && after->state == JobState::cancelled) parts_.files.remove(id);
    return after;
  };
  const std::optional<Job> after = co_await parts_.store_threads.run(on_store(work));
  if (!after) co_return no_such_job();
  co_await parts_.dispatcher.cancel(id);
  co_return json_response(200, as_json(*after));
}

asio::awaitable<std::variant<Job, Response>> JobApi::linked(const Request& request) {
  const JobId id{request.capture("id")};
  const LinkCheck link = check_link(parts_.link_secret, request, id, seconds_now());
  if (link == LinkCheck::none) co_return co_await named(request);
  if (link == LinkCheck::forged)
    co_return error_response(403, "forbidden", "this link is not one of this gateway's");
  if (link == LinkCheck::expired)
    co_return error_response(403, "expired", "this link has expired: ask for the job again");
  auto read = [&] { return parts_.store.find(id); };
  std::optional<Job> job = co_await parts_.store_threads.run(on_store(read));
  if (!job) co_return no_such_job();
  co_return std::move(*job);
}

asio::awaitable<Response> JobApi::events_so_far(JobId id, std::int64_t after) {
  auto look = [&] { return parts_.store.history(id, after); };
  const std::vector<JobHistory> history = co_await parts_.store_threads.run(on_store(look));
  Json events = Json::array();
  for (const JobHistory& entry : history) {
    Json event = event_json(entry);
    event["id"] = entry.number;
    events.push_back(std::move(event));
  }
  co_return json_response(200, {{"events", std::move(events)}});
}

asio::awaitable<Response> JobApi::events(const Request& request) {
  auto found = co_await named(request);
  if (auto* refusal = std::get_if<Response>(&found)) co_return std::move(*refusal);
  const Job& job = std::get<Job>(found);
  const std::int64_t after =
      parse_number<std::int64_t>(request.header("last-event-id").value_or("0")).value_or(0);
  if (request.header("accept").value_or("").find("application/json") != std::string::npos)
    co_return co_await events_so_far(job.id, after);
  const auto events = std::make_shared<JobEvents>(JobEvents::Parts{.store = parts_.store,
                                                                   .dispatcher = parts_.dispatcher,
                                                                   .threads = parts_.store_threads,
                                                                   .access = parts_.access,
                                                                   .asked = request},
                                                  job.id, after);
  Response response{.content_type = k_event_stream};
  response.headers.emplace_back("Cache-Control", "no-store");
  if (is_final(job.state)) {
    response.body = co_await events->rest();
    // What makes EventSource connect no more.
    if (response.body.empty()) response.status = 204;
    co_return response;
  }
  const auto next = [events] { return events->next(); };
  response.long_body = LongBody{.bytes = std::nullopt, .next = next};
  co_return response;
}

asio::awaitable<Response> JobApi::result(const Request& request) {
  auto found = co_await linked(request);
  if (auto* refusal = std::get_if<Response>(&found)) co_return std::move(*refusal);
  const Job& job = std::get<Job>(found);
  if (job.state != JobState::done)
    co_return error_response(409, "not_done",
                             "the job has no result: it is " + std::string(name(job.state)));
  const std::string format = video_choice(job.spec).format;
  const std::uint64_t bytes = Json::parse(job.result).at("bytes");
  auto look = [&] { return served_size(parts_.files.result(job.id, format)); };
  const std::optional<std::uint64_t> here = co_await parts_.file_threads.run(look);
  const std::string type = content_type(format);
  if (here && *here != bytes)
    log::error("a job's video on the disk has another size than it had", {{"job", job.id.text}});
  if (here != bytes && parts_.files.bucket() != nullptr && shared_result(job))
    co_return co_await shared_video(request, job, type);
  if (here && *here != bytes)
    co_return error_response(404, "not_found",
                             "the video of this job is gone: its file is damaged. Submit the job "
                             "again");
  auto open = [&] {
    return served_file(request, parts_.files.result(job.id, format),
                       {.content_type = type, .missing = "the video of this job is gone"},
                       parts_.file_threads);
  };
  co_return co_await parts_.file_threads.run(open);
}

// Relayed and not redirected to: clients of a gateway need not reach the bucket, nor learn where it is.
asio::awaitable<Response> JobApi::shared_video(const Request& request, const Job& job,
                                               const std::string& type) {
  const JobBucket& bucket = *parts_.files.bucket();
  const SharedResult result = *shared_result(job);
  std::uint64_t bytes = 0;
  auto look = [&] { return bucket.size(result.key, bytes, parts_.stop); };
  const JobBucket::Found found = co_await parts_.bucket_threads.run(look);
  if (found == JobBucket::Found::unreachable)
    co_return unavailable("the video cannot be had now: try again");
  if (found == JobBucket::Found::missing || bytes != result.bytes)
    co_return error_response(404, "not_found", "the video of this job is gone");
  const auto pieces = [&threads = parts_.bucket_threads, &bucket, stop = parts_.stop,
                       key = result.key](ByteRange range) {
    const auto at = std::make_shared<std::uint64_t>(range.first);
    return [&threads, &bucket, stop, key, at,
            end = range.last + 1]() -> asio::awaitable<std::string> {
      auto read = [&] { return bucket.read(key, *at, std::min(k_relayed_piece, end - *at), stop); };
      const std::optional<std::string> piece = co_await threads.run(read);
      if (!piece) co_return "";
      *at += piece->size();
      co_return *piece;
    };
  };
  co_return served_bytes(
      request,
      {.content_type = type, .etag = "\"" + result.key + "\"", .size = bytes, .pieces = pieces});
}

}  // namespace navtalk::server
