// What an operator sets: the file (TOML), over it NAVTALK_<SECTION>_<KEY> variables, over them
// flags. A plain value; components get their own Options made from it, never the whole.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace navtalk {

struct TenantConfig {
  std::string name;
  int plan = 0;                   // higher is served first
  double weight = 1;              // share among tenants of one plan
  int max_sessions = 0;           // 0: no bound
  int max_waiting = -1;           // below 0: no bound
  int max_connections = 0;        // of one gateway; 0: no bound
  double max_messages_per_s = 0;  // of one gateway; 0: no bound
  // Of offline rendering; 0: no bound.
  double max_job_rate = 0;        // video-minutes a minute
  double max_queued_minutes = 0;  // video-minutes
  int max_running_jobs = 0;

  friend bool operator==(const TenantConfig&, const TenantConfig&) = default;
};

// Values that hold at some times instead of those of [pool].
struct ScheduleConfig {
  std::string name;
  std::string time_zone = "UTC";
  std::string start, end;  // core/calendar/cron_times.h
  // Below 0, empty: as in [pool].
  int min_running_gpu = -1, free_running_gpu = -1, max_gpus = -1;
  std::string policy;

  friend bool operator==(const ScheduleConfig&, const ScheduleConfig&) = default;
};

// When GPUs take no sessions.
struct MaintenanceConfig {
  std::string name;
  std::string time_zone = "UTC";
  std::string start, end;              // core/calendar/cron_times.h
  int drain_ahead_min = 30;            // before the start
  std::vector<std::string> providers;  // empty: all, or local ones where hosts are named
  std::vector<std::string> hosts;      // of local GPUs; empty: all

  friend bool operator==(const MaintenanceConfig&, const MaintenanceConfig&) = default;
};

// A new member here gets its row in the table of table.cpp; reading, `config show`, the
// example file and the tests of the manual follow from that row.
struct Config {
  struct {
    std::filesystem::path path;             // MuseTalk's checkpoint folder; empty: the demo model
    std::string source;                     // of what is not here: several are separated by blanks
    double cache_bytes = 100e9;             // of what was fetched; 0: no bound
    std::string peers;                      // that hold content; several are separated by blanks
    std::string listen;                     // where others are given content; empty: nowhere
    std::filesystem::path peer_token_file;  // empty: no token
  } models;
  struct {
    std::filesystem::path path;  // where avatars are looked for by id; empty: the demo avatars
  } avatars;
  struct {
    std::string url;  // sqlite:PATH or postgresql://...; empty: SQLite in the state directory
  } store;
  struct {
    std::string name = "default";
    int min_running_gpu = 1;
    int free_running_gpu = 2;
    std::string policy = "static";  // static, adaptive
    std::string shadow = "off";     // off, static, adaptive: decided and recorded, not acted on
    double wait_probability = 0.01;
    std::string cloud = "off";               // off, on, auto
    std::string cloud_first = "kubernetes";  // kubernetes, runpod, cheapest
    int max_gpus = 16;                       // rows of the shared pool; 0: no cap
    int max_creates_per_tick = 8;
    double max_usd_per_hour = 10;                             // 0: no cap
    double budget_usd_per_day = 0, budget_usd_per_month = 0;  // warned of, not enforced; 0: none
    int tick_s = 5;
    int queue_limit = 100;  // 0: no queue
    int queue_timeout_s = 300;
    int hold_down_s = 60;
    int failed_hold_s = 60;
    int lease_s = 30;
    std::filesystem::path worker_token_file;  // empty: made in the state directory at first use
    bool allow_http_workers = false;          // beyond loopback
  } pool;
  struct {
    std::vector<std::string> devices;  // empty: each CUDA device, else the CPU; {"none"}: none
    int slots_per_device = 1;
    int start_timeout_s = 120;
  } local;
  struct {
    std::string api_url = "https://api.runpod.io/v2";
    std::filesystem::path api_key_file;  // empty: RUNPOD_API_KEY
    std::string proxy_url = "https://{pod}-{port}.proxy.runpod.net";
    std::string image;
    std::vector<std::string> gpu_types;
    std::vector<std::string> data_centers;
    std::vector<std::string> clouds = {"SECURE"};
    std::vector<std::string> allow_unknown_price;  // GPU types, although max_usd_per_hour is set
    std::vector<std::string> max_usd_per_type;     // "RTX 4090=0.80"
    std::string min_cuda;                          // of the host's driver; empty: any
    std::string registry;  // id of credentials kept at Runpod; empty: a public image
    std::string volume, volume_path = "/models";  // a network volume's id; empty: none
    int slots = 1;
    int disk_gb = 40;
    int ready_timeout_s = 1200;
    int max_age_h = 168;  // 0: no bound
    int max_paused = 0;
    int settle_s = 90;
    std::string name_prefix = "navtalk";
  } runpod;
  struct {
    std::string api_url;  // empty: the kubeconfig's, else the cluster that navtalk runs in
    std::filesystem::path kubeconfig;           // empty: the variable KUBECONFIG
    std::string context;                        // of the kubeconfig; empty: its current one
    std::filesystem::path token_file, ca_file;  // empty: the service account's, in that cluster
    std::filesystem::path certificate_file, key_file;  // of a client; both or none
    std::string name_space;  // empty: the service account's, else "default"
    std::string worker_url = "http://{ip}:{port}";
    std::string image;  // empty: no GPUs from Kubernetes
    std::string gpu_resource = "nvidia.com/gpu";
    int gpus = 1;
    std::vector<std::string> node_selector;  // "KEY=VALUE"
    std::vector<std::string> tolerations;    // "KEY=VALUE:EFFECT"
    std::vector<std::string> image_pull_secrets;
    std::string priority_class, runtime_class;  // empty: the cluster's default
    std::string owner;                          // "KIND/NAME"; empty: none
    double usd_per_hour = 1;
    int slots = 1;
    int schedule_s = 60;
    int ready_timeout_s = 1200;
    int max_age_h = 168;  // 0: no bound
    int settle_s = 30;
  } kubernetes;
  struct {
    std::string url;                           // of an OpenTelemetry collector; empty: no traces
    std::filesystem::path authorization_file;  // empty: none
    double share = 1;                          // of the sessions
  } trace;
  struct {
    std::string listen = "127.0.0.1:2160";
    std::string admin_listen;  // for /v1/pool and /metrics; empty: they are with the others
    std::filesystem::path operator_key_file;  // empty: made in the state directory at first use
    std::filesystem::path tls_certificate_file, tls_key_file;  // both or none
    bool allow_http = false;                                   // beyond loopback
    std::vector<std::string> allow_origins;                    // of pages; "*": all
    std::vector<std::string> trusted_proxies;                  // whose X-Forwarded-For counts
    int max_connections_per_address = 100;                     // beyond loopback; 0: no bound
    int resume_s = 30;
  } server;
  struct {
    std::filesystem::path folder;  // empty: jobs in the state directory
    std::string bucket;            // the bucket that gateways share; empty: the folder alone
    int max_upload_mb = 100;
    int max_gpus = 1;
    int keep_free = 0;                         // slots that are not lent
    std::string moderation_url;                // empty: none
    std::filesystem::path blocked_words_file;  // empty: none
    bool allow_private = false;
    int keep_days = 30;
  } jobs;
  struct {
    std::string url;  // empty: none
    std::filesystem::path secret_file;
    std::vector<std::string> events;  // empty: all
    bool allow_private = false;
  } webhook;
  struct {
    int max_megapixels = 25;  // of one picture or video frame
    int max_duration_s = 3600;
  } media;
  struct {
    std::string level = "warn";   // trace, debug, info, warn, error, off
    std::string format = "auto";  // auto (text on a terminal, JSON otherwise), text, json
  } log;
  // Lists of blocks; names are unique in each.
  std::vector<TenantConfig> tenants;           // [[tenant]]
  std::vector<ScheduleConfig> schedules;       // [[pool.schedule]]; the first one under way holds
  std::vector<MaintenanceConfig> maintenance;  // [[pool.maintenance]]
};

// A configuration and where each value of it comes from.
struct ConfigReading {
  Config config;
  std::optional<std::filesystem::path> file;  // the file that was read
  // One for each of config_keys(): "default", "navtalk.toml:3", "NAVTALK_LOG_LEVEL", "--log-level".
  std::vector<std::string> origins;
  // Variables that look like ours but name no key: of one of our sections, or a slip away from one
  // that does.
  std::vector<std::string> unknown_variables;
};

struct ConfigOptions {
  std::optional<std::filesystem::path>
      file;                              // must exist when given; else k_config_file if it does
  std::vector<std::string> environment;  // "NAME=value"; see process_environment()
};
inline constexpr const char* k_config_file = "/etc/navtalk/navtalk.toml";

// Error{not_found} for a named file that is missing; Error{invalid} with every fault of the file
// and of the variables, one a line, each with file, line, column and key, or the variable's name.
// Relative paths in the file are meant from the file's folder; an empty variable is as good as
// none.
ConfigReading read_config(const ConfigOptions& options);

std::vector<std::string> process_environment();
// About one of ConfigReading's unknown variables: that it has no effect, and what was perhaps
// meant.
std::string about_unknown_variable(const std::string& variable);

}  // namespace navtalk
