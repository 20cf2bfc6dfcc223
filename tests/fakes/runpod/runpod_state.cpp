#include "tests/fakes/runpod/runpod_state.h"

#include <algorithm>

namespace navtalk::tests {
namespace {

using nlohmann::json;

std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts;
  std::size_t at = 1;
  while (at <= path.size()) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    parts.push_back(path.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

FakeAnswer problem(int status, const std::string& detail,
                   const std::vector<std::string>& errors = {}) {
  return {status, problem_body(status, detail, errors), "application/problem+json"};
}

FakeAnswer success(const json& body, int status = 200) { return {status, body.dump()}; }

json parsed(const std::string& text) { return json::parse(text, nullptr, false); }

// The template of a path in the OpenAPI document.
std::string template_of(const std::string& call, const std::string& path) {
  if (call == "create" || call == "list") return "/v2/pods";
  if (call == "get" || call == "delete") return "/v2/pods/{id}";
  if (call == "catalog") return "/v2/catalog/gpus";
  if (call == "bill") return "/v2/billing/pods";
  return call.empty() ? path : "/v2/pods/{id}/action";
}

const std::set<std::string> k_create_fields = {
    "name",         "image",           "gpu",   "cpu", "cloud",    "dataCenterIds", "disk",
    "args",         "mounts",          "ports", "env", "registry", "templateId",    "startSsh",
    "startJupyter", "globalNetworking"};

}  // namespace

RunpodState::RunpodState(RunpodServerOptions given) : options(std::move(given)) {}

FakeTime RunpodState::now() const {
  return std::chrono::duration_cast<FakeTime>(std::chrono::steady_clock::now() - born) + advanced;
}

FakePod* RunpodState::find(const std::string& id) {
  const auto found =
      std::find_if(pods.begin(), pods.end(), [&](const FakePod& pod) { return pod.id == id; });
  return found == pods.end() ? nullptr : &*found;
}

FakePod& RunpodState::make(const json& order) {
  FakePod pod{.id = "pod" + std::to_string(++serial), .order = order, .life = life};
  pod.usd_per_hour = options.usd_per_hour;
  pod.created = pod.started = now();
  if (options.workers != RunpodServerOptions::Workers::none) attach_worker(pod);
  return pods.emplace_back(std::move(pod));
}

// The worker's port becomes the pod's id.
void RunpodState::attach_worker(FakePod& pod) {
  auto id = std::make_shared<std::string>();
  auto worker = std::make_shared<PodWorker>([this, id] {
    const std::lock_guard lock(mutex);
    const FakePod* const mine = find(*id);
    return mine != nullptr && mine->serves(now());
  });
  pod.id = *id = std::to_string(worker->port());
  if (options.workers == RunpodServerOptions::Workers::command) {
    worker->run(nullptr);
  } else {
    const auto env = environment_of(pod);
    const auto token = env.find("NAVTALK_WORKER_TOKEN");
    const std::string args = pod.order.value("args", "");
    const std::size_t slots = args.find("--slots ");
    worker->fake().set(
        {.token = token == env.end() ? "" : token->second,
         .gpu = pod.life.gpu,
         .slots = slots == std::string::npos ? 1 : std::atoi(args.c_str() + slots + 8)});
  }
  workers[pod.id] = worker;
}

std::map<std::string, std::string> RunpodState::environment_of(const FakePod& pod) const {
  std::map<std::string, std::string> result{
      {"RUNPOD_POD_ID", pod.id}, {"RUNPOD_API_KEY", options.key}, {"RUNPOD_GPU_COUNT", "1"}};
  const json env = pod.order.value("env", json::object());
  for (const auto& [name, value] : env.items()) {
    result[name] = value.get<std::string>();
  }
  return result;
}

// Runs the pods' processes: one for each pod that serves, none for the others.
void RunpodState::keep(const std::stop_token& stop) {
  constexpr auto k_look = std::chrono::milliseconds(20);
  while (!stop.stop_requested()) {
    std::vector<std::shared_ptr<ChildProcess>> ending;  // ended outside the lock: it takes time
    std::unique_lock lock(mutex);
    if (options.workers == RunpodServerOptions::Workers::command) {
      for (const FakePod& pod : pods) {
        const auto& worker = workers.at(pod.id);
        const bool runs = pod.status(now()) == "RUNNING";
        const auto process = worker->process();
        if (runs && !process) {
          worker->run(std::make_shared<ChildProcess>(options.command, environment_of(pod)));
        } else if (!runs && process) {
          ending.push_back(process);
          worker->run(nullptr);
        }
      }
    }
    if (ending.empty()) keeper_woken_.wait_for(lock, stop, k_look, [] { return false; });
  }
}

std::optional<RunpodFault> RunpodState::take_fault(const std::string& call) {
  for (auto fault = faults.begin(); fault != faults.end(); ++fault) {
    if (fault->call != "*" && fault->call != call) continue;
    if (fault->skip > 0) {
      --fault->skip;
      continue;
    }
    RunpodFault taken = *fault;
    if (fault->times > 0 && --fault->times == 0) faults.erase(fault);
    return taken;
  }
  return std::nullopt;
}

std::string RunpodState::call_of(const ReceivedRequest& request) const {
  const std::vector<std::string> parts = parts_of(request.path);
  if (parts.size() < 2 || parts[0] != "v2") return "";
  if (request.path == "/v2/catalog/gpus" && request.method == "GET") return "catalog";
  if (request.path == "/v2/billing/pods" && request.method == "GET") return "bill";
  if (parts[1] != "pods") return "";
  if (parts.size() == 2) {
    return request.method == "POST" ? "create" : request.method == "GET" ? "list" : "";
  }
  if (parts.size() == 3) {
    return request.method == "GET" ? "get" : request.method == "DELETE" ? "delete" : "";
  }
  if (parts.size() != 4 || parts[3] != "action" || request.method != "POST") return "";
  const json body = parsed(request.body);
  const std::string action = body.is_object() ? body.value("action", "") : "";
  const bool known =
      action == "start" || action == "stop" || action == "restart" || action == "terminate";
  return known ? action : "";
}

bool RunpodState::lies() const {
  return std::any_of(pods.begin(), pods.end(), [](const FakePod& pod) {
    return pod.life.odd_form || !pod.life.status.empty();
  });
}

void RunpodState::handle(Connection& client, const ReceivedRequest& request) {
  if (request.path.starts_with("/_fake/")) return reply(client, script(request));
  std::string call;
  std::optional<RunpodFault> fault;
  {
    const std::lock_guard lock(mutex);
    call = call_of(request);
    requests.emplace_back(call, request);
    fault = take_fault(call);
  }
  if (fault && fault->delay.count() > 0) client.wait(fault->delay);
  FakeAnswer answer;
  {
    const std::lock_guard lock(mutex);
    if (!fault || fault->acts || fault->status == 0) answer = act(call, request);
    if (fault && fault->status != 0) answer = {fault->status, fault->body, fault->type};
    if (fault) answer.headers = fault->headers;
    note(call, request, answer, fault.has_value() || lies());
  }
  using How = RunpodFault::How;
  const How how = fault ? fault->how : How::answer;
  if (how == How::hang) return client.hold();
  if (how == How::reset) return client.reset();
  if (how == How::close) return client.close();
  if (how == How::garbage) {
    client.send("\x15garbage\r\n\r\n");
    return client.close();
  }
  reply(client, answer);
}

void RunpodState::reply(Connection& client, const FakeAnswer& answer) {
  std::vector<std::pair<std::string, std::string>> headers = answer.headers;
  const auto given = [&](const char* name) {
    return std::any_of(headers.begin(), headers.end(),
                       [&](const auto& h) { return h.first == name; });
  };
  {
    const std::lock_guard lock(mutex);
    if (!given("RateLimit")) headers.emplace_back("RateLimit", rate_header);
    headers.emplace_back("x-request-id", "request-" + std::to_string(++serial));
  }
  headers.emplace_back("Date", cloud_time_text("%a, %d %b %Y %H:%M:%S GMT"));
  if (answer.status != 204) headers.emplace_back("Content-Type", answer.type);
  client.answer(answer.status, answer.body, headers);
}

void RunpodState::note(const std::string& call, const ReceivedRequest& request,
                       const FakeAnswer& answer, bool scripted) {
  json query = json::object();
  for (const auto& [name, value] : request.query) query[name] = value;
  exchanges.push_back({{"method", request.method},
                       {"path", template_of(call, request.path)},
                       {"query", query},
                       {"request", request.body.empty() ? json() : parsed(request.body)},
                       {"status", answer.status},
                       {"answer", answer.body.empty() ? json() : parsed(answer.body)},
                       {"scripted", scripted}});
}

FakeAnswer RunpodState::act(const std::string& call, const ReceivedRequest& request) {
  if (request.header("user-agent").empty()) return {403, "error code: 1010", "text/plain"};
  if (request.header("authorization") != "Bearer " + options.key) {
    return problem(401, "missing or wrong bearer token");
  }
  if (call == "create") {
    try {
      return create(parsed(request.body));
    } catch (const json::exception& error) {
      return problem(422, "Request validation failed.", {error.what()});
    }
  }
  if (call == "list") return list(request);
  if (call == "catalog") return catalog(request);
  if (call == "bill") return bill();
  const std::vector<std::string> parts = parts_of(request.path);
  if (parts.size() < 3 || parts[1] != "pods") return problem(404, "resource not found");
  if (call.empty()) return problem(422, "no such action");
  FakePod* const pod = find(parts[2]);
  if (pod == nullptr || !pod->visible(now())) return problem(404, "resource not found");
  return on_pod(call, *pod);
}

bool RunpodState::is_full(const json& order) const {
  const std::string gpu = order["gpu"].value("id", ""), cloud = order.value("cloud", "SECURE");
  const json centers = order.value("dataCenterIds", json::array({"*"}));
  const std::string center = centers.at(0);
  for (const std::string& g : {gpu, std::string("*")}) {
    for (const std::string& c : {cloud, std::string("*")}) {
      for (const std::string& d : {center, std::string("*")}) {
        if (full.contains(g + "|" + c + "|" + d)) return true;
      }
    }
  }
  return false;
}

FakeAnswer RunpodState::create(const json& order) {
  if (!order.is_object())
    return problem(422, "Request validation failed.", {"body: not an object"});
  for (const auto& [field, unused] : order.items()) {
    if (!k_create_fields.contains(field)) {
      return problem(422, "Request validation failed.", {field + ": unknown field"});
    }
  }
  if (order.value("name", "").empty())
    return problem(422, "Request validation failed.", {"name: required"});
  if (order.contains("gpu") == order.contains("cpu"))
    return problem(422, "exactly one of gpu and cpu");
  const bool counted = order.contains("gpu") && order["gpu"].contains("count");
  if (!counted || is_full(order)) {
    const RunpodFault fault = fault_named("no-capacity", "create");
    return {fault.status, fault.body, fault.type};
  }
  const bool twice = life.twice;
  const std::string id = make(order).id;
  if (twice) make(order);
  return success(find(id)->shown(now()), 201);
}

FakeAnswer RunpodState::list(const ReceivedRequest& request) {
  const auto cursor = request.query.find("cursor");
  const std::size_t first =
      cursor == request.query.end() ? 0 : static_cast<std::size_t>(std::stoul(cursor->second));
  std::vector<json> shown;
  for (const FakePod& pod : pods) {
    if (pod.visible(now()) && !pod.life.unlisted) shown.push_back(pod.shown(now()));
  }
  json body = {{"pods", json::array()}};
  const std::size_t size = page_size > 0 ? static_cast<std::size_t>(page_size) : shown.size();
  for (std::size_t i = first; i < std::min(first + size, shown.size()); ++i) {
    body["pods"].push_back(shown[i]);
  }
  if (page_size > 0) {
    const bool more = first + size < shown.size();
    body["pagination"] = {{"nextCursor", more ? json(std::to_string(first + size)) : json()}};
  }
  return success(body);
}

FakeAnswer RunpodState::on_pod(const std::string& call, FakePod& pod) {
  const std::string status = pod.status(now());
  if (call == "get" && now() - pod.created < pod.life.unknown_id)
    return problem(404, "resource not found");
  if (call == "get") return success(pod.shown(now()));
  if (call == "delete" || call == "terminate") {
    pod.removed = now();
    return {204};
  }
  if (call == "start") return start(pod);
  if (call == "stop") {
    if (status == "EXITED" || status == "ERROR") return problem(409, "the pod does not run");
    pod.stopped = now();
    return success(pod.shown(now()));
  }
  return status == "RUNNING" ? success(pod.shown(now())) : problem(409, "the pod does not run");
}

FakeAnswer RunpodState::start(FakePod& pod) {
  const std::string status = pod.status(now());
  if (status != "EXITED" && status != "ERROR") return problem(409, "the pod is not stopped");
  if (pod.life.resume_refused) {
    const RunpodFault fault = fault_named("resume-refused", "start");
    return {fault.status, fault.body, fault.type};
  }
  pod.paid_before = pod.paid(now());
  pod.stopped.reset();
  pod.life.exits_after.reset();
  pod.started = now();
  ++pod.starts;
  return success(pod.shown(now()));
}

FakeAnswer RunpodState::catalog(const ReceivedRequest& request) const {
  if (!request.query.contains("product")) return problem(400, "product is required");
  json gpus = json::array();
  for (const auto& [id, price] : std::map<std::string, double>{{"RTX 4090", 0.44}, {"H100", 2.5}}) {
    const json centers = {{{"id", "EU-RO-1"}, {"name", "EU-RO-1"}, {"availability", "HIGH"}},
                          {{"id", "US-KS-2"}, {"name", "US-KS-2"}, {"availability", "LOW"}}};
    gpus.push_back({{"id", id},
                    {"name", id},
                    {"pool", nullptr},
                    {"manufacturer", "NVIDIA"},
                    {"memory", 24},
                    {"secure", true},
                    {"community", true},
                    {"price", {{"secure", price}, {"community", price / 2}}},
                    {"maxCount", {{"secure", 8}, {"community", 4}}},
                    {"availability", "HIGH"},
                    {"dataCenters", centers}});
  }
  return success({{"gpus", gpus}});
}

// One bucket that holds everything.
FakeAnswer RunpodState::bill() const {
  const auto amounts = [](double usd) {
    return json{{"totalAmount", usd}, {"gpuAmount", usd}, {"cpuAmount", 0}, {"diskAmount", 0}};
  };
  const json range = {{"startTime", "2026-06-01T00:00:00Z"}, {"endTime", "2026-06-02T00:00:00Z"}};
  json records = json::array();
  double total = 0;
  for (const FakePod& pod : pods) {
    const double usd = static_cast<double>(pod.paid(now()).count()) / 3.6e6 * pod.usd_per_hour;
    json record = amounts(usd);
    record.update(range);
    record["podId"] = pod.id;
    records.push_back(record);
    total += usd;
  }
  json query = range;
  query["bucketSize"] = "day";
  return success({{"records", records},
                  {"metadata",
                   {{"query", query},
                    {"recordCount", pods.size()},
                    {"uniquePodCount", pods.size()},
                    {"totals", amounts(total)}}}});
}

}  // namespace navtalk::tests
