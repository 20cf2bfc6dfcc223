// The routes under /v1/jobs: a tenant submits its jobs, sees them, cancels them and fetches their videos.
// Access judges who asks. Of the I/O thread; the store's calls and the disk on blocking threads.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>

#include "scheduler/jobs/job_store.h"
#include "scheduler/jobs/shares/tenant_store.h"
#include "server/gateway/access/access.h"
#include "server/gateway/jobs/job_admission.h"
#include "server/gateway/jobs/job_dispatcher.h"
#include "server/gateway/jobs/job_files.h"
#include "server/gateway/jobs/job_request.h"
#include "server/gateway/jobs/speech/speech_keeper.h"
#include "server/gateway/pages/avatar_api.h"
#include "server/http/router.h"

namespace navtalk::server {

class JobApi {
 public:
  struct Parts {
    JobStore& store;
    TenantStore& tenants;
    JobDispatcher& dispatcher;
    const JobFiles& files;
    Access& access;
    BlockingThreads& store_threads;
    BlockingThreads& file_threads;
    BlockingThreads& bucket_threads;  // wait for the bucket of speech and results
    JobAdmission::Parts admission;
    std::string webhook_secret{};  // the pool's; empty: jobs may have no webhook
    std::string link_secret{};     // empty: results have no links
    AvatarList avatars{};          // that workers of this host have; an empty list says nothing
    std::uint64_t max_upload = 0;  // bytes of one request
    std::stop_token stop{};        // nothing waits for the bucket after this
  };
  explicit JobApi(Parts parts)
      : parts_(std::move(parts)),
        admission_(parts_.admission),
        keeper_({.files = parts_.files,
                 .file_threads = parts_.file_threads,
                 .bucket_threads = parts_.bucket_threads,
                 .stop = parts_.stop}) {}
  JobApi(const JobApi&) = delete;
  JobApi& operator=(const JobApi&) = delete;

  // The routes refer to this object.
  void add_routes(Router& router);

 private:
  template <class T>
  using Awaitable = boost::asio::awaitable<T>;
  using Answer = Awaitable<Response>;

  Answer submit(const Request& request);
  Answer list(const Request& request);
  Answer show(const Request& request);
  Answer cancel(const Request& request);
  Answer result(const Request& request);
  Answer webhook_secret(const Request& request);
  // Error{invalid}: messages could not be signed.
  void refuse_unsigned() const;
  // The video from the bucket.
  Answer shared_video(const Request& request, const Job& job, const std::string& type);
  Answer events(const Request& request);
  // As JSON, without those to come.
  Answer events_so_far(JobId id, std::int64_t after);
  // The job that the same request made before under its key; sets NewJob::request.
  Awaitable<std::optional<Job>> asked_before(JobRequest& asked);
  // Its end, unless that was promised. Calls the store.
  void promise(const Job& job, TimePoint now);
  Answer accepted(const Job& job);
  Awaitable<std::variant<Job, Response>> linked(const Request& request);
  // The tenant's own job that the request names, or why there is none.
  Awaitable<std::variant<Job, Response>> named(const Request& request);
  Awaitable<std::variant<TenantId, Response>> tenant_of(const Request& request);
  // The tenant's name.
  Awaitable<std::variant<std::string, Response>> owner_of(const Request& request);
  // With what is known of its end. Calls the store.
  Awaitable<nlohmann::ordered_json> with_outlook(const Job& job, CountFrom from);
  nlohmann::ordered_json as_json(const Job& job) const;

  const Parts parts_;
  JobAdmission admission_;
  SpeechKeeper keeper_;
};

}  // namespace navtalk::server
