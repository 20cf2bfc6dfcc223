// What a test asks the fake Runpod over HTTP: see runpod_server.h.
#include "tests/fakes/runpod/runpod_state.h"

namespace navtalk::tests {

using nlohmann::json;

namespace {

FakeAnswer script_answer(const json& body) { return {200, body.dump()}; }

FakeAnswer refused(int status, const std::string& detail) {
  return {status, problem_body(status, detail), "application/problem+json"};
}

}  // namespace

json RunpodState::script_pods() const {
  json all = json::array();
  for (const FakePod& pod : pods) {
    json entry = {{"id", pod.id},
                  {"name", pod.name()},
                  {"status", pod.status(now())},
                  {"created_ms", pod.created.count()},
                  {"now_ms", now().count()},
                  {"paid_ms", pod.paid(now()).count()},
                  {"starts", pod.starts},
                  {"usd_per_hour", pod.usd_per_hour},
                  {"order", pod.order}};
    entry["removed_ms"] = pod.removed ? json(pod.removed->count()) : json();
    const auto worker = workers.find(pod.id);
    const auto process = worker == workers.end() ? nullptr : worker->second->process();
    entry["pid"] = process ? json(process->pid()) : json();
    all.push_back(entry);
  }
  return all;
}

// Errors of a script are 400 with their text.
FakeAnswer RunpodState::script(const ReceivedRequest& request) {
  const std::string what = request.path.substr(std::string("/_fake/").size());
  const json body =
      request.body.empty() ? json::object() : json::parse(request.body, nullptr, false);
  const std::lock_guard lock(mutex);
  try {
    if (what == "pods" && request.method == "GET") return script_answer({{"pods", script_pods()}});
    if (what == "requests") {
      json calls = json::array();
      for (const auto& [call, one] : requests)
        calls.push_back({{"call", call}, {"target", one.target}});
      return script_answer({{"requests", calls}});
    }
    if (what == "faults") {
      for (const json& one : body.is_array() ? body : json::array({body})) {
        faults.push_back(fault_from_json(one));
      }
    } else if (what == "calm") {
      faults.clear();
      full.clear();
      life = {};
    } else if (what == "life") {
      life = life_from_json(body, life);
    } else if (what == "full") {
      full = body.at("places").get<std::set<std::string>>();
    } else if (what == "page_size") {
      page_size = body.at("pods");
    } else if (what == "advance") {
      advanced += FakeTime(body.at("ms"));
    } else if (what == "add") {
      return script_answer({{"id", make({{"name", body.at("name")},
                                         {"image", "image"},
                                         {"gpu", {{"id", "RTX 4090"}, {"count", 1}}}})
                                       .id}});
    } else if (what.starts_with("pods/") && find(what.substr(5)) != nullptr) {
      FakePod& pod = *find(what.substr(5));
      pod.life = life_from_json(body, pod.life);
      if (body.value("removed", false)) pod.removed = now();
    } else {
      return refused(404, "no such script: " + what);
    }
  } catch (const std::exception& error) {
    return refused(400, error.what());
  }
  return script_answer(json::object());
}

}  // namespace navtalk::tests
