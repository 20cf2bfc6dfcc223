#include "scheduler/provision/local/local_provider.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <nlohmann/json.hpp>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/log/log.h"
#include "scheduler/health/worker_client.h"

namespace navtalk {
namespace {

using local::Waited;
using std::chrono::steady_clock;

constexpr std::size_t k_longest_address = 4096;  // bytes
// A list asks every worker how it is; one that is stuck must not hold up the others.
constexpr WorkerClientOptions k_quick = {.connect_timeout = std::chrono::milliseconds(500),
                                         .timeout = std::chrono::milliseconds(1000)};
constexpr std::string_view k_token = "NAVTALK_WORKER_TOKEN=";
// Variables that are not passed on: those set here, and secrets that workers do not need (the cloud's
// key, the store's URL, the operator's key, the secret that signs webhooks).
constexpr std::array<std::string_view, 8> k_not_passed_on = {k_token,
                                                             k_started_by,
                                                             "RUNPOD_API_KEY=",
                                                             "PG",
                                                             "NAVTALK_STORE_URL=",
                                                             "NAVTALK_OPERATOR_KEY=",
                                                             "NAVTALK_SIGNING_SECRET=",
                                                             "NAVTALK_TRACE_AUTHORIZATION="};

std::string seconds_text(std::chrono::milliseconds duration) {
  return std::to_string(duration.count() / 1000) + " s";
}

// The URL in a worker's first line; "" when there is none.
std::string address_in(const std::string& line) {
  const auto object = nlohmann::json::parse(line, nullptr, false);
  if (!object.is_object() || !object.contains("url") || !object["url"].is_string()) return "";
  return object["url"].get<std::string>();
}

Outcome outcome_of(const std::optional<WorkerFault>& fault) {
  if (!fault) return Done{};
  const bool not_asked = fault->kind == WorkerFault::Kind::shortage;
  if (fault->kind == WorkerFault::Kind::stopped || not_asked) return UnknownOutcome{fault->message};
  return Failure{fault->message};
}

// A word of a command line with the option that it belongs to: "--slots 2"; "nothing" at its end.
std::string phrase(const std::vector<std::string>& words,
                   std::vector<std::string>::const_iterator at) {
  if (at == words.end()) return "nothing";
  const bool value = at != words.begin() && !at->starts_with("--") && at[-1].starts_with("--");
  return value ? at[-1] + " " + *at : *at;
}

// As its arguments name it; "" without.
std::string device_of(const local::WorkerProcess& process) {
  const auto& words = process.arguments;
  const auto option = std::find(words.begin(), words.end(), "--device");
  return option == words.end() || option + 1 == words.end() ? "" : option[1];
}

}  // namespace

LocalProvider::LocalProvider(LocalProviderOptions options)
    : options_(std::move(options)),
      children_([this](const local::EndedChild& child) { on_end(child); }) {}

std::vector<std::string> LocalProvider::arguments(const Gpu& gpu, const std::string& device) const {
  const std::string silence = std::to_string(options_.gateway_timeout.count());
  return {options_.program.native(), "serve", "--worker", "--listen", "127.0.0.1:0", "--name",
          gpu.name, "--slots", std::to_string(gpu.slots), "--device", device, "--gateway-silence-s",
          silence,
          // The gateway that starts it is there already.
          "--first-contact-s", silence};
}

local::ChildCommand LocalProvider::command(const Gpu& gpu, const std::string& device) const {
  local::ChildCommand command{
      .name = gpu.name, .arguments = arguments(gpu, device), .environment = {}};
  command.arguments.insert(command.arguments.end(), options_.arguments.begin(),
                           options_.arguments.end());
  const auto named = [](std::string_view variable) {
    return [name = variable.substr(0, variable.find('=') + 1)](std::string_view other) {
      return other.starts_with(name);
    };
  };
  for (std::string& variable : environment_without(k_not_passed_on)) {
    const auto& ours = options_.environment;
    if (std::none_of(ours.begin(), ours.end(), named(variable)))
      command.environment.push_back(std::move(variable));
  }
  command.environment.insert(command.environment.end(), options_.environment.begin(),
                             options_.environment.end());
  command.environment.insert(command.environment.end(), options_.secrets.begin(),
                             options_.secrets.end());
  command.environment.push_back(std::string(k_started_by) + "=" + options_.owner);
  const std::string token = options_.tokens.of_worker(gpu.name);
  if (!token.empty()) command.environment.push_back(std::string(k_token) + token);
  return command;
}

std::string LocalProvider::why_blind() const {
  try {
    return options_.blind ? options_.blind() : "";
  } catch (const Error& error) {
    return error.message();
  }
}

Outcome LocalProvider::create(const Gpu& gpu, const std::stop_token& stop) {
  if (const std::string why = why_blind(); !why.empty()) return NoCapacity{why};
  const std::string device = !gpu.device.empty()        ? gpu.device
                             : options_.devices.empty() ? "cpu"
                                                        : options_.devices.front();
  const auto backoff = crashes_.with(
      [&](const auto& crashes) { return crashes.backoff(device, local::Children::now()); });
  if (backoff) {
    const std::string what =
        backoff->crashes < local::k_loop ? "a worker crashed" : "workers crash again and again";
    return NoCapacity{what + " on " + device + " (" + std::to_string(backoff->crashes) +
                          " in a row), the last one with " + backoff->last,
                      backoff->left};
  }
  devices_.with([&](auto& devices) { devices[gpu.name] = device; });
  try {
    const local::Children::Started child = children_.start(command(gpu, device));
    return address_of(gpu, device, child, stop);
  } catch (const Error& error) {
    return Failure{error.message()};
  }
}

Outcome LocalProvider::address_of(const Gpu& gpu, const std::string& device,
                                  const local::Children::Started& child,
                                  const std::stop_token& stop) {
  const auto until = steady_clock::now() + options_.address_timeout;
  std::string line;
  while (line.find('\n') == std::string::npos) {
    std::size_t which = 0;
    const Waited waited = local::wait_readable({child.output.value()}, until, stop, which);
    // The worker goes on, and the next list finds it by its name.
    if (waited == Waited::stopped) return UnknownOutcome{"stopped while the worker started"};
    if (waited == Waited::late)
      return give_up(child,
                     "did not print its address within " + seconds_text(options_.address_timeout));
    char bytes[512];
    const ssize_t size = ::read(child.output.value(), bytes, sizeof bytes);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) {
      const auto ended = children_.ended(child.id);
      if (!ended) return give_up(child, "closed its output without printing its address");
      return Failure{"the worker on " + device + " ended at its start with " + ended->how};
    }
    line.append(bytes, static_cast<std::size_t>(size));
    if (line.size() > k_longest_address)
      return give_up(child, "printed something else than its address");
  }
  const std::string url = address_in(line.substr(0, line.find('\n')));
  if (url.empty()) return give_up(child, "printed something else than its address");
  log::info("a worker started", {{"gpu", gpu.id.text}, {"worker", gpu.name}, {"url", url}});
  return Done{Instance{.provider_id = text(child.id),
                       .name = gpu.name,
                       .status = Instance::Status::starting,
                       .url = url,
                       .device = device}};
}

Outcome LocalProvider::give_up(const local::Children::Started& child, const std::string& why) {
  children_.expect_end(child.id);
  if (const UniqueFd watched = local::watch(child.id)) local::send_signal(watched, SIGKILL);
  const auto ended = children_.ended(child.id);
  children_.forget(child.id);
  return Failure{"the worker " + why + (ended ? " (" + ended->how + ")" : "")};
}

std::optional<ProcessId> LocalProvider::process_of(const Gpu& gpu) const {
  if (!gpu.provider_id.empty()) {
    const auto id = parse_process_id(gpu.provider_id);
    return id && identify(id->pid) == id ? id : std::nullopt;
  }
  for (const local::WorkerProcess& process : local::worker_processes()) {
    if (process.name == gpu.name) return process.id;
  }
  return std::nullopt;
}

Outcome LocalProvider::wake(const Gpu& gpu, const std::stop_token& stop) {
  if (const std::string why = why_blind(); !why.empty()) return UnknownOutcome{why};
  if (!process_of(gpu)) return Failure{"the worker's process is gone"};
  return outcome_of(WorkerClient(options_.tokens.of(gpu)).wake(gpu.url, stop));
}

Outcome LocalProvider::pause(const Gpu& gpu, const std::stop_token& stop) {
  if (const std::string why = why_blind(); !why.empty()) return UnknownOutcome{why};
  if (!process_of(gpu)) return Failure{"the worker's process is gone"};
  return outcome_of(WorkerClient(options_.tokens.of(gpu)).pause(gpu.url, stop));
}

Outcome LocalProvider::destroy(const Gpu& gpu, const std::stop_token& stop) {
  if (const std::string why = why_blind(); !why.empty()) return UnknownOutcome{why};
  const auto id = process_of(gpu);
  if (id) {
    children_.expect_end(*id);
    const UniqueFd watched = local::watch(*id);
    std::size_t which = 0;
    for (const int signal : {SIGTERM, SIGKILL}) {
      if (!watched) break;
      local::send_signal(watched, signal);
      const Waited waited = local::wait_readable(
          {watched.value()}, steady_clock::now() + options_.stop_timeout, stop, which);
      if (waited == Waited::ready) break;
      if (waited == Waited::stopped) return UnknownOutcome{"stopped while the worker ended"};
      if (signal == SIGKILL) return Failure{"process " + text(*id) + " does not end"};
    }
    children_.ended(*id);  // reaped, if it was ours
  }
  // How it ended does not matter any more.
  if (const auto known = parse_process_id(gpu.provider_id)) children_.forget(*known);
  devices_.with([&](auto& devices) { devices.erase(gpu.name); });
  return Done{};
}

// Whoever started it runs no more, or is not known.
bool LocalProvider::is_orphaned(const local::WorkerProcess& process) const {
  const auto variables = local::environment_of(process.id);
  const std::string mark = std::string(k_started_by) + "=";
  const auto owner =
      std::find_if(variables.begin(), variables.end(),
                   [&](const std::string& variable) { return variable.starts_with(mark); });
  return owner == variables.end() || is_dead(owner->substr(mark.size()));
}

// How a worker of a dead gateway differs from one that would be started now; "" when it does not.
// Workers of living gateways are as those want them; our own too, because the configuration is read
// once.
std::string LocalProvider::outdated(const local::WorkerProcess& process) const {
  const auto& words = process.arguments;
  const std::string device = device_of(process);
  const auto& devices = options_.devices;
  if (std::find(devices.begin(), devices.end(), device) == devices.end())
    return "its device '" + device + "' does not belong to this gateway";
  if (!local::runs(process.id, options_.program)) return "its program was replaced";
  // The program may have another path, and the arguments behind these configure logging.
  const auto wanted = arguments({.name = process.name, .slots = options_.slots}, device);
  const auto [was, is] =
      std::mismatch(words.begin() + 1, words.end(), wanted.begin() + 1, wanted.end());
  if (is != wanted.end())
    return "it was started with " + phrase(words, was) + ", now with " + phrase(wanted, is);
  const auto variables = local::environment_of(process.id);
  for (const std::string& variable : options_.environment) {
    if (std::find(variables.begin(), variables.end(), variable) == variables.end())
      return "it was started without " + variable;
  }
  return "";
}

// Without a descriptor left the next list tries again.
void LocalProvider::adopt(const local::WorkerProcess& process) {
  try {
    children_.adopt(process.name, process.id);
  } catch (const Error&) {
  }
}

Instance LocalProvider::instance_of(const local::WorkerProcess& process, bool orphaned,
                                    const std::stop_token& stop) const {
  using Status = Instance::Status;
  Instance instance{.provider_id = text(process.id),
                    .name = process.name,
                    .status = Status::unknown,
                    .url = local::listening_url(process.id),
                    .outdated = orphaned ? outdated(process) : ""};
  if (instance.url.empty()) {
    instance.status = Status::starting;
    return instance;
  }
  WorkerClient client(options_.tokens.of_worker(process.name), k_quick);
  const WorkerAnswer answer = client.health(instance.url, stop);
  if (const auto* health = std::get_if<WorkerHealth>(&answer)) {
    instance.status = health->state == "paused" ? Status::stopped : Status::running;
    instance.device = health->device;
    instance.detail = health->state;
  } else {
    instance.detail = std::get<WorkerFault>(answer).message;
  }
  return instance;
}

Listing LocalProvider::list(const std::stop_token& stop) {
  if (const std::string why = why_blind(); !why.empty()) return {.complete = false, .message = why};
  Listing listing{.complete = true};
  try {
    for (const local::WorkerProcess& process : local::worker_processes()) {
      if (stop.stop_requested()) return {.complete = false, .message = "stopped"};
      const bool orphaned = is_orphaned(process);
      if (orphaned) adopt(process);
      listing.instances.push_back(instance_of(process, orphaned, stop));
    }
  } catch (const Error& error) {
    return {.complete = false, .message = error.message()};
  }
  for (Instance& instance : crashed()) listing.instances.push_back(std::move(instance));
  return listing;
}

// Children that ended by themselves and were not destroyed yet. Adopted ones may belong to another pool.
std::vector<Instance> LocalProvider::crashed() const {
  std::vector<Instance> instances;
  for (const local::EndedChild& child : children_.ended()) {
    if (child.expected || child.adopted) continue;
    instances.push_back({.provider_id = text(child.id),
                         .name = child.name,
                         .status = Instance::Status::failed,
                         .detail = "the worker ended with " + child.how});
  }
  return instances;
}

Lookup LocalProvider::find(const Gpu& gpu, const std::stop_token& stop) {
  if (const std::string why = why_blind(); !why.empty()) return NoAnswer{why};
  try {
    for (const local::WorkerProcess& process : local::worker_processes()) {
      if (text(process.id) == gpu.provider_id)
        return instance_of(process, is_orphaned(process), stop);
    }
  } catch (const Error& error) {
    return NoAnswer{error.message()};
  }
  for (const Instance& instance : crashed()) {
    if (instance.provider_id == gpu.provider_id) return instance;
  }
  return NotFound{};
}

bool LocalProvider::replaceable(const Gpu& gpu, bool sole) {
  const auto id = parse_process_id(gpu.provider_id);
  if (!id || identify(id->pid) == id || !why_blind().empty()) return false;
  if (devices_.with([&](const auto& devices) { return devices.contains(gpu.name); })) return false;
  const auto children = children_.ended();
  const bool ours = std::any_of(children.begin(), children.end(),
                                [&](const local::EndedChild& child) { return child.id == *id; });
  if (!ours && !sole) return false;
  return !crashes_.with(
      [&](const auto& crashes) { return crashes.backoff(gpu.device, local::Children::now()); });
}

int LocalProvider::creatable(const std::vector<Gpu>& existing) const {
  const auto used = [&](const std::string& device) {
    return std::any_of(existing.begin(), existing.end(), [&](const Gpu& gpu) {
      return gpu.source == Source::local && gpu.host == options_.host && gpu.device == device;
    });
  };
  return static_cast<int>(std::count_if(options_.devices.begin(), options_.devices.end(),
                                        [&](const auto& device) { return !used(device); }));
}

void LocalProvider::on_end(const local::EndedChild& child) {
  if (child.expected) return;  // destroy() or give_up() forgets it
  if (child.adopted) {
    // It may be another pool's, or another gateway has ended it: what crashed is for the store to say, and no device backs off.
    if (options_.on_crash) options_.on_crash(child.name, child.how);
    return;
  }
  const std::string device = devices_.with([&](const auto& devices) {
    const auto found = devices.find(child.name);
    return found == devices.end() ? std::string("cpu") : found->second;
  });
  crashes_.with(
      [&](auto& crashes) { crashes.crashed(device, child.started, child.ended, child.how); });
  devices_.with([&](auto& devices) { devices.erase(child.name); });
  log::warn("a worker ended by itself", {{"worker", child.name}, {"how", child.how}});
  if (options_.on_crash) options_.on_crash(child.name, child.how);
}

}  // namespace navtalk
