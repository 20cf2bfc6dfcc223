// Every key of the configuration, in the order of the example file.
#include "core/config/keys.h"

namespace navtalk {

// NOLINTNEXTLINE(readability-function-size): a table
const std::vector<ConfigKey>& config_keys() {
  static const std::vector<ConfigKey> keys = {
      {.section = "store",
       .name = "url",
       .meaning = "The database of the pool: sqlite:PATH, or postgresql://USER@HOST/DATABASE for "
                  "several gateways.\n"
                  "Empty: SQLite in the state directory. Put a password into ~/.pgpass, not here.",
       .member = [](Config& config) -> ConfigMember { return &config.store.url; }},
      {.section = "pool",
       .name = "name",
       .meaning = "The pool's name, which is part of the names of its pods: letters, digits and "
                  "hyphens.",
       .member = [](Config& config) -> ConfigMember { return &config.pool.name; }},
      {.section = "pool",
       .name = "min_running_gpu",
       .meaning = "Minimum number of free slots, including starting ones. Also: MIN_RUNNING_GPU.",
       .member = [](Config& config) -> ConfigMember { return &config.pool.min_running_gpu; },
       .most = 10000,
       .alias = "MIN_RUNNING_GPU",
       .live = true},
      {.section = "pool",
       .name = "free_running_gpu",
       .meaning = "Free slots above this number are released after hold_down_s, cloud GPUs first.\n"
                  "Also: FREE_RUNNING_GPU.",
       .member = [](Config& config) -> ConfigMember { return &config.pool.free_running_gpu; },
       .most = 10000,
       .alias = "FREE_RUNNING_GPU",
       .live = true},
      {.section = "pool",
       .name = "policy",
       .meaning = "static: free slots between the two numbers above. adaptive: as many as "
                  "wait_probability requires,\n"
                  "with min_running_gpu as a floor, and free_running_gpu as a ceiling only if "
                  "it is set.",
       .member = [](Config& config) -> ConfigMember { return &config.pool.policy; },
       .choices = {"static", "adaptive"},
       .live = true},
      {.section = "pool",
       .name = "shadow",
       .meaning = "A second policy that is computed and recorded, but not acted on.",
       .member = [](Config& config) -> ConfigMember { return &config.pool.shadow; },
       .choices = {"off", "static", "adaptive"}},
      {.section = "pool",
       .name = "wait_probability",
       .meaning = "adaptive: the share of users who may have to wait; 0.01 is one in a hundred.",
       .member = [](Config& config) -> ConfigMember { return &config.pool.wait_probability; },
       .least = 0.0001,
       .most = 0.5,
       .live = true},
      {.section = "pool",
       .name = "cloud",
       .meaning = "off: local GPUs only. on: cloud GPUs when all local ones are in use. auto: "
                  "switched on when local\n"
                  "GPUs cannot keep wait_probability, and off again after a quiet period.",
       .member = [](Config& config) -> ConfigMember { return &config.pool.cloud; },
       .choices = {"off", "on", "auto"}},
      {.section = "pool",
       .name = "cloud_first",
       .meaning =
           "Which cloud is asked first where both are configured; the other one is asked when it "
           "has\n"
           "no capacity or refuses. cheapest: the one whose next GPU is expected to cost less.",
       .member = [](Config& config) -> ConfigMember { return &config.pool.cloud_first; },
       .choices = {"kubernetes", "runpod", "cheapest"}},
      {.section = "pool",
       .name = "max_gpus",
       .meaning = "Maximum number of GPUs of the shared pool, in any state. 0: no limit.",
       .member = [](Config& config) -> ConfigMember { return &config.pool.max_gpus; },
       .most = 100000},
      {.section = "pool",
       .name = "max_creates_per_tick",
       .meaning = "Maximum number of GPUs that one tick of the scaler creates.",
       .member = [](Config& config) -> ConfigMember { return &config.pool.max_creates_per_tick; },
       .least = 1,
       .most = 1000},
      {.section = "pool",
       .name = "max_usd_per_hour",
       .meaning = "Maximum price of all cloud GPUs together, per hour. A pod that turns out to "
                  "exceed it is destroyed\n"
                  "again. 0: no limit.",
       .member = [](Config& config) -> ConfigMember { return &config.pool.max_usd_per_hour; },
       .most = 1e6},
      {.section = "pool",
       .name = "budget_usd_per_day",
       .meaning =
           "Budget of cloud GPUs for a day (UTC). A warning and an event tell when 50, 80 and "
           "100 % are spent;\n"
           "nothing is stopped. 0: none.",
       .member = [](Config& config) -> ConfigMember { return &config.pool.budget_usd_per_day; },
       .most = 1e9},
      {.section = "pool",
       .name = "budget_usd_per_month",
       .meaning = "The same for a calendar month (UTC).",
       .member = [](Config& config) -> ConfigMember { return &config.pool.budget_usd_per_month; },
       .most = 1e9},
      {.section = "pool",
       .name = "tick_s",
       .meaning = "Seconds between two ticks of the scaler.",
       .member = [](Config& config) -> ConfigMember { return &config.pool.tick_s; },
       .least = 1,
       .most = 3600},
      {.section = "pool",
       .name = "queue_limit",
       .meaning = "Maximum number of users who wait for a slot. 0: no queue; a user without a slot "
                  "is refused, unless a\njob has one, which it gives back.",
       .member = [](Config& config) -> ConfigMember { return &config.pool.queue_limit; },
       .most = 100000},
      {.section = "pool",
       .name = "queue_timeout_s",
       .meaning = "Seconds after which a waiting user is told that there is no GPU.",
       .member = [](Config& config) -> ConfigMember { return &config.pool.queue_timeout_s; },
       .least = 1,
       .most = 86400},
      {.section = "pool",
       .name = "hold_down_s",
       .meaning = "Seconds for which a GPU is kept after it is not needed any more.",
       .member = [](Config& config) -> ConfigMember { return &config.pool.hold_down_s; },
       .most = 86400},
      {.section = "pool",
       .name = "failed_hold_s",
       .meaning =
           "Seconds before a failed GPU is destroyed and may be replaced, so that a crash "
           "loop does not\n"
           "create GPUs without pause. A local worker that was ready and whose process ended is "
           "replaced\n"
           "without that, after a pause that grows with each crash.",
       .member = [](Config& config) -> ConfigMember { return &config.pool.failed_hold_s; },
       .most = 86400},
      {.section = "pool",
       .name = "lease_s",
       .meaning = "Seconds after which the lease of a session's slot, or of a place in the queue, "
                  "expires if it is\n"
                  "not renewed.",
       .member = [](Config& config) -> ConfigMember { return &config.pool.lease_s; },
       .least = 3,
       .most = 3600},
      {.section = "pool",
       .name = "worker_token_file",
       .meaning = "File with the secret from which each worker's token is derived. Empty: created "
                  "in the state\n"
                  "directory at first use. "
                  "The variable NAVTALK_WORKER_TOKEN overrides the file.",
       .member = [](Config& config) -> ConfigMember { return &config.pool.worker_token_file; }},
      {.section = "pool",
       .name = "allow_http_workers",
       .meaning = "Whether workers may be registered by http:// beyond this machine, in a network "
                  "that you trust: their\n"
                  "tokens travel in clear text there.",
       .member = [](Config& config) -> ConfigMember { return &config.pool.allow_http_workers; }},
      {.section = "local",
       .name = "devices",
       .meaning =
           "GPUs of this machine: \"cpu\", \"cuda:0\". Empty: each CUDA device, else the CPU.\n"
           "[\"none\"]: no local workers on this machine.",
       .member = [](Config& config) -> ConfigMember { return &config.local.devices; }},
      {.section = "local",
       .name = "slots_per_device",
       .meaning = "Sessions that one local GPU holds at once.",
       .member = [](Config& config) -> ConfigMember { return &config.local.slots_per_device; },
       .least = 1,
       .most = 1000},
      {.section = "local",
       .name = "start_timeout_s",
       .meaning = "Maximum time in seconds for a local worker to load its models.",
       .member = [](Config& config) -> ConfigMember { return &config.local.start_timeout_s; },
       .least = 1,
       .most = 86400},
      {.section = "runpod",
       .name = "api_url",
       .meaning = "Runpod's REST API, version 2.",
       .member = [](Config& config) -> ConfigMember { return &config.runpod.api_url; }},
      {.section = "runpod",
       .name = "api_key_file",
       .meaning = "File with the API key, readable only by navtalk. Empty: the variable "
                  "RUNPOD_API_KEY.",
       .member = [](Config& config) -> ConfigMember { return &config.runpod.api_key_file; }},
      {.section = "runpod",
       .name = "proxy_url",
       .meaning = "URL of a pod; {pod} and {port} are replaced.",
       .member = [](Config& config) -> ConfigMember { return &config.runpod.proxy_url; }},
      {.section = "runpod",
       .name = "image",
       .meaning = "Container image of the worker, preferably pinned by digest. Required for "
                  "cloud GPUs.",
       .member = [](Config& config) -> ConfigMember { return &config.runpod.image; }},
      {.section = "runpod",
       .name = "gpu_types",
       .meaning = "GPU types, preferred first, as Runpod names them. At least one is required for "
                  "cloud GPUs.",
       .member = [](Config& config) -> ConfigMember { return &config.runpod.gpu_types; }},
      {.section = "runpod",
       .name = "data_centers",
       .meaning = "Allowed data centres. Empty: all.",
       .member = [](Config& config) -> ConfigMember { return &config.runpod.data_centers; }},
      {.section = "runpod",
       .name = "clouds",
       .meaning = "SECURE, COMMUNITY, or both, preferred first.",
       .member = [](Config& config) -> ConfigMember { return &config.runpod.clouds; }},
      {.section = "runpod",
       .name = "allow_unknown_price",
       .meaning = "GPU types that may be created although Runpod's catalog has no price for them. "
                  "Others are refused\n"
                  "while pool.max_usd_per_hour is set.",
       .member = [](Config& config) -> ConfigMember { return &config.runpod.allow_unknown_price; }},
      {.section = "runpod",
       .name = "max_usd_per_type",
       .meaning = "Maximum prices per hour by GPU type, by cloud, or by both: \"RTX 4090=0.80\", "
                  "\"COMMUNITY=0.50\",\n"
                  "\"RTX 4090, SECURE=0.90\". What costs more, or has no price in the catalog, is "
                  "not created.",
       .member = [](Config& config) -> ConfigMember { return &config.runpod.max_usd_per_type; }},
      {.section = "runpod",
       .name = "min_cuda",
       .meaning = "Minimum CUDA version of the host's driver, such as 13.0. Empty: any.",
       .member = [](Config& config) -> ConfigMember { return &config.runpod.min_cuda; }},
      {.section = "runpod",
       .name = "registry",
       .meaning = "Id of the credentials for a private image, which Runpod keeps. Empty: the image "
                  "is public.",
       .member = [](Config& config) -> ConfigMember { return &config.runpod.registry; }},
      {.section = "runpod",
       .name = "volume",
       .meaning = "Id of a network volume that every pod mounts. It is in one data centre, which "
                  "data_centers has to name\n"
                  "alone. Empty: none.",
       .member = [](Config& config) -> ConfigMember { return &config.runpod.volume; }},
      {.section = "runpod",
       .name = "volume_path",
       .meaning = "Where pods mount that volume.",
       .member = [](Config& config) -> ConfigMember { return &config.runpod.volume_path; }},
      {.section = "runpod",
       .name = "slots",
       .meaning = "Sessions that one cloud GPU holds at once.",
       .member = [](Config& config) -> ConfigMember { return &config.runpod.slots; },
       .least = 1,
       .most = 1000},
      {.section = "runpod",
       .name = "disk_gb",
       .meaning = "Container disk in GB.",
       .member = [](Config& config) -> ConfigMember { return &config.runpod.disk_gb; },
       .least = 1,
       .most = 10000},
      {.section = "runpod",
       .name = "ready_timeout_s",
       .meaning =
           "Maximum time in seconds until a pod's worker answers; then the pod is destroyed.",
       .member = [](Config& config) -> ConfigMember { return &config.runpod.ready_timeout_s; },
       .least = 10,
       .most = 86400},
      {.section = "runpod",
       .name = "max_age_h",
       .meaning = "Hours after which a pod takes no new sessions and is replaced, one pod at a "
                  "time. 0: never.",
       .member = [](Config& config) -> ConfigMember { return &config.runpod.max_age_h; },
       .most = 100000},
      {.section = "runpod",
       .name = "max_paused",
       .meaning = "Maximum number of unneeded pods that are stopped instead of deleted, so that "
                  "they can be woken.\n"
                  "A stopped pod costs its disk, and its GPU may be in use by another customer "
                  "when it is woken.",
       .member = [](Config& config) -> ConfigMember { return &config.runpod.max_paused; },
       .most = 1000},
      {.section = "runpod",
       .name = "settle_s",
       .meaning = "Seconds for which a pod may be missing from Runpod's lists after a create with "
                  "unknown outcome.",
       .member = [](Config& config) -> ConfigMember { return &config.runpod.settle_s; },
       .most = 600},
      {.section = "runpod",
       .name = "name_prefix",
       .meaning = "Prefix of the names of pods.",
       .member = [](Config& config) -> ConfigMember { return &config.runpod.name_prefix; }},
      {.section = "kubernetes",
       .name = "api_url",
       .meaning = "URL of the API server. Empty: that of kubeconfig, else the cluster that navtalk "
                  "runs in, by the service account\n"
                  "of its pod.",
       .member = [](Config& config) -> ConfigMember { return &config.kubernetes.api_url; }},
      {.section = "kubernetes",
       .name = "kubeconfig",
       .meaning = "File that names server, certificates, credentials and namespace, as kubectl "
                  "reads it. Programs that make\n"
                  "credentials (exec) are refused. Empty: without api_url the file of the variable "
                  "KUBECONFIG, where it is set.",
       .member = [](Config& config) -> ConfigMember { return &config.kubernetes.kubeconfig; }},
      {.section = "kubernetes",
       .name = "context",
       .meaning = "Context of the kubeconfig. Empty: its current one.",
       .member = [](Config& config) -> ConfigMember { return &config.kubernetes.context; }},
      {.section = "kubernetes",
       .name = "token_file",
       .meaning = "File with a bearer token, which is read before every request. Empty: the "
                  "service account's token in that\n"
                  "cluster, else none.",
       .member = [](Config& config) -> ConfigMember { return &config.kubernetes.token_file; }},
      {.section = "kubernetes",
       .name = "ca_file",
       .meaning = "Certificates (PEM) by which the server is known. Empty: the service "
                  "account's in that cluster, else the system's.",
       .member = [](Config& config) -> ConfigMember { return &config.kubernetes.ca_file; }},
      {.section = "kubernetes",
       .name = "certificate_file",
       .meaning = "Client certificate (PEM), where the cluster asks for one.",
       .member = [](Config& config) -> ConfigMember {
         return &config.kubernetes.certificate_file;
       }},
      {.section = "kubernetes",
       .name = "key_file",
       .meaning = "Private key of that certificate (PEM).",
       .member = [](Config& config) -> ConfigMember { return &config.kubernetes.key_file; }},
      {.section = "kubernetes",
       .name = "namespace",
       .meaning =
           "Namespace of the pods. Empty: that of the kubeconfig or the service account, else "
           "\"default\".",
       .member = [](Config& config) -> ConfigMember { return &config.kubernetes.name_space; }},
      {.section = "kubernetes",
       .name = "worker_url",
       .meaning = "URL of a pod's worker; {ip}, {port}, {pod} and {namespace} are replaced.",
       .member = [](Config& config) -> ConfigMember { return &config.kubernetes.worker_url; }},
      {.section = "kubernetes",
       .name = "image",
       .meaning = "Container image of the worker, preferably pinned by digest. Not empty: "
                  "the pool takes GPUs\n"
                  "from this cluster.",
       .member = [](Config& config) -> ConfigMember { return &config.kubernetes.image; }},
      {.section = "kubernetes",
       .name = "gpu_resource",
       .meaning = "The resource that a GPU is in this cluster.",
       .member = [](Config& config) -> ConfigMember { return &config.kubernetes.gpu_resource; }},
      {.section = "kubernetes",
       .name = "gpus",
       .meaning = "How many of it one pod has.",
       .member = [](Config& config) -> ConfigMember { return &config.kubernetes.gpus; },
       .most = 64},
      {.section = "kubernetes",
       .name = "node_selector",
       .meaning = "Labels of the nodes that pods may run on, as KEY=VALUE.",
       .member = [](Config& config) -> ConfigMember { return &config.kubernetes.node_selector; }},
      {.section = "kubernetes",
       .name = "tolerations",
       .meaning = "Taints that pods tolerate, as KEY, KEY=VALUE, KEY:EFFECT or "
                  "KEY=VALUE:EFFECT.",
       .member = [](Config& config) -> ConfigMember { return &config.kubernetes.tolerations; }},
      {.section = "kubernetes",
       .name = "image_pull_secrets",
       .meaning = "Secrets in the namespace with which the image is pulled.",
       .member = [](Config& config) -> ConfigMember {
         return &config.kubernetes.image_pull_secrets;
       }},
      {.section = "kubernetes",
       .name = "priority_class",
       .meaning = "Priority class of the pods. Empty: the cluster's default.",
       .member = [](Config& config) -> ConfigMember { return &config.kubernetes.priority_class; }},
      {.section = "kubernetes",
       .name = "runtime_class",
       .meaning = "Runtime class of the pods. Empty: the cluster's default.",
       .member = [](Config& config) -> ConfigMember { return &config.kubernetes.runtime_class; }},
      {.section = "kubernetes",
       .name = "owner",
       .meaning = "What owns the pods, as KIND/NAME in their namespace, such as "
                  "\"Deployment/navtalk\": deleting it deletes\n"
                  "them. A ConfigMap, DaemonSet, Deployment, ReplicaSet, Secret, Service, "
                  "ServiceAccount or StatefulSet.\n"
                  "Empty: nothing does.",
       .member = [](Config& config) -> ConfigMember { return &config.kubernetes.owner; }},
      {.section = "kubernetes",
       .name = "usd_per_hour",
       .meaning = "What an hour of one pod counts, in the ledger, in budgets and for "
                  "pool.max_usd_per_hour.",
       .member = [](Config& config) -> ConfigMember { return &config.kubernetes.usd_per_hour; },
       .least = 0.0001,
       .most = 10000},
      {.section = "kubernetes",
       .name = "slots",
       .meaning = "Sessions that one pod holds at once.",
       .member = [](Config& config) -> ConfigMember { return &config.kubernetes.slots; },
       .least = 1,
       .most = 1000},
      {.section = "kubernetes",
       .name = "schedule_s",
       .meaning = "Seconds for which a pod may wait for a node, which an autoscaler may "
                  "have to start. After that it is deleted:\n"
                  "no capacity.",
       .member = [](Config& config) -> ConfigMember { return &config.kubernetes.schedule_s; },
       .most = 100},
      {.section = "kubernetes",
       .name = "ready_timeout_s",
       .meaning = "Maximum time in seconds until a pod's worker answers; then the pod is "
                  "deleted.",
       .member = [](Config& config) -> ConfigMember { return &config.kubernetes.ready_timeout_s; },
       .least = 10,
       .most = 86400},
      {.section = "kubernetes",
       .name = "max_age_h",
       .meaning = "Hours after which a pod takes no new sessions and is replaced, one pod "
                  "at a time. 0: never.",
       .member = [](Config& config) -> ConfigMember { return &config.kubernetes.max_age_h; },
       .most = 100000},
      {.section = "kubernetes",
       .name = "settle_s",
       .meaning = "Seconds for which a create with unknown outcome may still show up as a "
                  "pod.",
       .member = [](Config& config) -> ConfigMember { return &config.kubernetes.settle_s; },
       .most = 600},
      {.section = "server",
       .name = "listen",
       .meaning = "Address and port of the gateway. Loopback only, until there are API keys "
                  "(navtalk key "
                  "create).",
       .member = [](Config& config) -> ConfigMember { return &config.server.listen; }},
      {.section = "server",
       .name = "admin_listen",
       .meaning = "Another address and port, for /v1/pool, /metrics and the operator's page, which "
                  "the first one lacks\n"
                  "then. Loopback only, until there are API keys. Empty: all are on one port.",
       .member = [](Config& config) -> ConfigMember { return &config.server.admin_listen; }},
      {.section = "server",
       .name = "operator_key_file",
       .meaning = "File with the key that requests under /v1/pool need. Empty: created in the "
                  "state directory at\n"
                  "first use. The variable NAVTALK_OPERATOR_KEY overrides the file.",
       .member = [](Config& config) -> ConfigMember { return &config.server.operator_key_file; },
       .live = true},
      {.section = "server",
       .name = "tls_certificate_file",
       .meaning =
           "PEM file with the certificate of the gateway, and those between it and its root. "
           "Empty: no TLS.",
       .member = [](Config& config) -> ConfigMember { return &config.server.tls_certificate_file; },
       .live = true},
      {.section = "server",
       .name = "tls_key_file",
       .meaning = "PEM file with the private key of that certificate, readable only by navtalk.",
       .member = [](Config& config) -> ConfigMember { return &config.server.tls_key_file; },
       .live = true},
      {.section = "server",
       .name = "allow_http",
       .meaning =
           "Whether the gateway may listen beyond this machine without TLS, in a network that "
           "you trust: API\n"
           "keys and speech travel in clear text there.",
       .member = [](Config& config) -> ConfigMember { return &config.server.allow_http; }},
      {.section = "server",
       .name = "allow_origins",
       .meaning =
           "Origins of pages that may use the gateway, such as \"https://example.org\", besides "
           "its own.\n"
           "\"*\": all. Only a gateway with API keys serves pages of other machines.",
       .member = [](Config& config) -> ConfigMember { return &config.server.allow_origins; },
       .live = true},
      {.section = "server",
       .name = "trusted_proxies",
       .meaning = "Addresses of reverse proxies on other machines whose X-Forwarded-For names the "
                  "client.",
       .member = [](Config& config) -> ConfigMember { return &config.server.trusted_proxies; }},
      {.section = "server",
       .name = "max_connections_per_address",
       .meaning =
           "Maximum number of connections from one address of another machine (IPv6: one /64 "
           "network). 0: no\n"
           "limit of its own.",
       .member = [](Config& config) -> ConfigMember {
         return &config.server.max_connections_per_address;
       },
       .most = 100000},
      {.section = "server",
       .name = "resume_s",
       .meaning = "Seconds for which a session keeps its slot when its client's connection drops.",
       .member = [](Config& config) -> ConfigMember { return &config.server.resume_s; },
       .most = 3600},
      {.section = "jobs",
       .name = "folder",
       .meaning = "Folder of the speech that was sent with jobs, and of their videos. Empty: jobs "
                  "in the state\n"
                  "directory.",
       .member = [](Config& config) -> ConfigMember { return &config.jobs.folder; }},
      {.section = "jobs",
       .name = "bucket",
       .meaning = "Bucket (s3://BUCKET/PREFIX) of finished videos and segments and of speech, the "
                  "same on all gateways of\n"
                  "a pool, which then need no common folder. Empty: they stay in the folder.",
       .member = [](Config& config) -> ConfigMember { return &config.jobs.bucket; }},
      {.section = "jobs",
       .name = "max_upload_mb",
       .meaning =
           "Maximum size of a job's speech, in MiB. Four of that size may be under way at once.",
       .member = [](Config& config) -> ConfigMember { return &config.jobs.max_upload_mb; },
       .least = 1,
       .most = 1000},
      {.section = "jobs",
       .name = "max_gpus",
       .meaning = "Maximum number of slots that are started for jobs, beside those for users. Jobs "
                  "use slots that\n"
                  "users leave free in any case. 0: none are started for jobs.",
       .member = [](Config& config) -> ConfigMember { return &config.jobs.max_gpus; },
       .most = 10000},
      {.section = "jobs",
       .name = "keep_free",
       .meaning =
           "Slots that stay free for users while jobs wait: the next users then wait for no job. "
           "Jobs give slots\n"
           "back until so many are free again. 0: jobs may have all slots that users leave.",
       .member = [](Config& config) -> ConfigMember { return &config.jobs.keep_free; },
       .most = 10000},
      {.section = "jobs",
       .name = "moderation_url",
       .meaning = "HTTP endpoint that judges each text of a job before it is accepted, and may "
                  "replace it. Without\n"
                  "an answer the job is refused. Empty: none.",
       .member = [](Config& config) -> ConfigMember { return &config.jobs.moderation_url; }},
      {.section = "jobs",
       .name = "blocked_words_file",
       .meaning =
           "File of words and phrases, one a line, that no text of a job may have. Empty: none.",
       .member = [](Config& config) -> ConfigMember { return &config.jobs.blocked_words_file; }},
      {.section = "jobs",
       .name = "allow_private",
       .meaning =
           "Fetch speech (audio_url) also from addresses of this machine and of private networks.",
       .member = [](Config& config) -> ConfigMember { return &config.jobs.allow_private; }},
      {.section = "jobs",
       .name = "keep_days",
       .meaning = "Days for which jobs that are over are kept, with their videos. 0: for ever.",
       .member = [](Config& config) -> ConfigMember { return &config.jobs.keep_days; },
       .most = 3650},
      {.section = "models",
       .name = "path",
       .meaning =
           "MuseTalk's checkpoint folder, as the Python project downloads it (models/ there).\n"
           "Empty: the demo model of navtalk.",
       .member = [](Config& config) -> ConfigMember { return &config.models.path; }},
      {.section = "models",
       .name = "source",
       .meaning = "Where models and avatars are fetched from that are not on this machine: "
                  "s3://BUCKET/PREFIX,\n"
                  "https://HOST/PATH or a folder; several, separated by blanks, are asked in this "
                  "order. models.path\n"
                  "then may be a name in the store. Empty: nothing is fetched.",
       .member = [](Config& config) -> ConfigMember { return &config.models.source; }},
      {.section = "models",
       .name = "cache_bytes",
       .meaning =
           "Maximum size of what was fetched, in the cache directory, in bytes. What was not "
           "used for the\n"
           "longest time goes first. 0: no limit.",
       .member = [](Config& config) -> ConfigMember { return &config.models.cache_bytes; },
       .most = 1e15},
      {.section = "models",
       .name = "peers",
       .meaning = "Gateways and workers (their models.listen) that are asked for the content of "
                  "models and avatars\n"
                  "before a source is: http://HOST:PORT or https://HOST/PATH, several separated by "
                  "blanks. The same\n"
                  "list on every machine, which may be in it. Empty: none.",
       .member = [](Config& config) -> ConfigMember { return &config.models.peers; }},
      {.section = "models",
       .name = "listen",
       .meaning =
           "Address (ADDR:PORT) at which a gateway or a worker gives content of its cache to "
           "other machines,\n"
           "and fetches from models.source what they lack. Beyond this machine only with a "
           "token. Empty: none.",
       .member = [](Config& config) -> ConfigMember { return &config.models.listen; }},
      {.section = "models",
       .name = "peer_token_file",
       .meaning = "File with the secret that peers ask of each other, the same on all of them. The "
                  "variable\n"
                  "NAVTALK_PEER_TOKEN overrides the file. Empty: no token.",
       .member = [](Config& config) -> ConfigMember { return &config.models.peer_token_file; }},
      {.section = "avatars",
       .name = "path",
       .meaning = "The folder in which avatars are looked up by id. Empty: the demo avatars.",
       .member = [](Config& config) -> ConfigMember { return &config.avatars.path; }},
      {.section = "webhook",
       .name = "url",
       .meaning =
           "Where events of the pool are posted to, as JSON with a signature. Empty: nowhere.",
       .member = [](Config& config) -> ConfigMember { return &config.webhook.url; }},
      {.section = "webhook",
       .name = "secret_file",
       .meaning = "A file with the secret that signs them. Needed with a url.",
       .member = [](Config& config) -> ConfigMember { return &config.webhook.secret_file; }},
      {.section = "webhook",
       .name = "events",
       .meaning = "Of gpu.failed, budget.reached, cloud.refused, outage.begun, outage.over, "
                  "sessions.break. Empty: all.",
       .member = [](Config& config) -> ConfigMember { return &config.webhook.events; }},
      {.section = "webhook",
       .name = "allow_private",
       .meaning = "Whether the url may lead to this machine or a private network.",
       .member = [](Config& config) -> ConfigMember { return &config.webhook.allow_private; }},
      {.section = "trace",
       .name = "url",
       .meaning =
           "Where the gateway posts traces of sessions and jobs, as OTLP in JSON: the URL of an "
           "OpenTelemetry\n"
           "collector, such as http://127.0.0.1:4318/v1/traces. Empty: there are none.",
       .member = [](Config& config) -> ConfigMember { return &config.trace.url; }},
      {.section = "trace",
       .name = "authorization_file",
       .meaning = "File with the value of the header Authorization, readable only by navtalk. "
                  "Empty: none.\n"
                  "The variable NAVTALK_TRACE_AUTHORIZATION overrides the file.",
       .member = [](Config& config) -> ConfigMember { return &config.trace.authorization_file; }},
      {.section = "trace",
       .name = "share",
       .meaning = "The share of the sessions and jobs that are traced; 0.01 is one in a hundred.",
       .member = [](Config& config) -> ConfigMember { return &config.trace.share; },
       .most = 1},
      {.section = "media",
       .name = "max_megapixels",
       .meaning = "Maximum size of a picture or a video frame that is read, also of an avatar's, "
                  "in millions\n"
                  "of pixels.",
       .member = [](Config& config) -> ConfigMember { return &config.media.max_megapixels; },
       .least = 1,
       .most = 1000},
      {.section = "media",
       .name = "max_duration_s",
       .meaning = "Maximum length of a recording or a video that is read, also of an avatar's, in "
                  "seconds.",
       .member = [](Config& config) -> ConfigMember { return &config.media.max_duration_s; },
       .least = 1,
       .most = 86400},
      {.section = "log",
       .name = "level",
       .meaning = "Messages of this level and above are logged on standard error.",
       .member = [](Config& config) -> ConfigMember { return &config.log.level; },
       .choices = {"trace", "debug", "info", "warn", "error", "off"},
       .live = true},
      {.section = "log",
       .name = "format",
       .meaning = "auto: text on a terminal, one JSON object per line otherwise.",
       .member = [](Config& config) -> ConfigMember { return &config.log.format; },
       .choices = {"auto", "text", "json"}},
  };
  return keys;
}

}  // namespace navtalk
