// A provider whose places live in memory and whose next answers are written by the test.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "scheduler/provision/provider.h"

namespace navtalk::tests {

class ScriptedProvider : public Provider {
 public:
  explicit ScriptedProvider(Source source) : source_(source) {}

  // What the next call of that kind answers instead of doing its work. `made`: a create makes the
  // place all the same (a 500 after the fact).
  struct Answer {
    Outcome outcome;
    bool made = false;
  };
  void answer(Operation operation, Answer answer) {
    const std::lock_guard lock(mutex_);
    answers_.emplace_back(operation, std::move(answer));
  }
  // Runs inside every call, before it has an effect: to hold it, or to change the world under it.
  void during(std::function<void(Operation)> hook) { hook_ = std::move(hook); }
  void list_fails(bool fails) {
    const std::lock_guard lock(mutex_);
    list_fails_ = fails;
  }

  // Lists succeed without these, and find() knows them.
  void unlist(const std::set<std::string>& provider_ids) {
    const std::lock_guard lock(mutex_);
    unlisted_ = provider_ids;
  }
  // Runs inside every list(), before it looks.
  void during_list(std::function<void()> hook) { list_hook_ = std::move(hook); }
  // Runs inside every find().
  void during_lookup(std::function<void()> hook) { lookup_hook_ = std::move(hook); }
  // find() of these answers nothing.
  void mute(const std::set<std::string>& provider_ids) {
    const std::lock_guard lock(mutex_);
    mute_ = provider_ids;
  }
  // The ids that find() was asked for.
  std::vector<std::string> lookups() const {
    const std::lock_guard lock(mutex_);
    return lookups_;
  }

  std::vector<Instance> instances() const {
    const std::lock_guard lock(mutex_);
    return instances_;
  }
  void put(Instance instance) {
    const std::lock_guard lock(mutex_);
    std::erase_if(instances_,
                  [&](const Instance& other) { return other.provider_id == instance.provider_id; });
    instances_.push_back(std::move(instance));
  }
  void lose(const std::string& provider_id) {
    const std::lock_guard lock(mutex_);
    std::erase_if(instances_,
                  [&](const Instance& other) { return other.provider_id == provider_id; });
  }
  int calls(Operation operation) const {
    const std::lock_guard lock(mutex_);
    return static_cast<int>(std::count(calls_.begin(), calls_.end(), operation));
  }

  Source source() const override { return source_; }
  Outcome create(const Gpu& gpu, const std::stop_token&) override {
    return call(Operation::create, gpu, [&]() -> Outcome { return Done{make(gpu)}; });
  }
  Outcome wake(const Gpu& gpu, const std::stop_token&) override {
    return call(Operation::wake, gpu,
                [&]() -> Outcome { return set(gpu, Instance::Status::running); });
  }
  Outcome pause(const Gpu& gpu, const std::stop_token&) override {
    return call(Operation::pause, gpu,
                [&]() -> Outcome { return set(gpu, Instance::Status::stopped); });
  }
  Outcome destroy(const Gpu& gpu, const std::stop_token&) override {
    return call(Operation::destroy, gpu, [&]() -> Outcome {
      std::erase_if(instances_,
                    [&](const Instance& other) { return other.provider_id == gpu.provider_id; });
      return Done{};
    });
  }
  Listing list(const std::stop_token&) override {
    if (list_hook_) list_hook_();
    const std::lock_guard lock(mutex_);
    if (list_fails_) return {.instances = {}, .complete = false, .message = "no answer"};
    Listing listing{.instances = instances_, .complete = true};
    std::erase_if(listing.instances,
                  [&](const Instance& one) { return unlisted_.contains(one.provider_id); });
    return listing;
  }
  Lookup find(const Gpu& gpu, const std::stop_token&) override {
    if (lookup_hook_) lookup_hook_();
    const std::lock_guard lock(mutex_);
    lookups_.push_back(gpu.provider_id);
    if (mute_.contains(gpu.provider_id)) return NoAnswer{"no answer"};
    for (const Instance& instance : instances_) {
      if (instance.provider_id == gpu.provider_id) return instance;
    }
    return NotFound{};
  }
  int creatable(const std::vector<Gpu>&) const override { return 100; }
  double expected_usd_per_hour() const override { return 0.5; }

 private:
  template <class Work>
  Outcome call(Operation operation, const Gpu& gpu, const Work& work) {
    if (hook_) hook_(operation);
    const std::lock_guard lock(mutex_);
    calls_.push_back(operation);
    const auto scripted = std::find_if(answers_.begin(), answers_.end(), [&](const auto& answer) {
      return answer.first == operation;
    });
    if (scripted == answers_.end()) return work();
    const Answer answer = scripted->second;
    answers_.erase(scripted);
    if (answer.made) make(gpu);
    return answer.outcome;
  }
  Instance make(const Gpu& gpu) {
    const Instance made = {.provider_id = "pod-" + std::to_string(++made_),
                           .name = gpu.name,
                           .status = Instance::Status::running,
                           .url = "http://127.0.0.1:9/" + std::to_string(made_),
                           .device = "NVIDIA L4",
                           .usd_per_hour = 0.5};
    instances_.push_back(made);
    return made;
  }
  Outcome set(const Gpu& gpu, Instance::Status status) {
    for (Instance& instance : instances_) {
      if (instance.provider_id != gpu.provider_id) continue;
      instance.status = status;
      return Done{instance};
    }
    return Failure{"there is no " + gpu.provider_id};
  }

  const Source source_;
  mutable std::mutex mutex_;
  std::vector<Instance> instances_;
  std::deque<std::pair<Operation, Answer>> answers_;
  std::vector<Operation> calls_;
  std::set<std::string> unlisted_, mute_;
  std::vector<std::string> lookups_;
  std::function<void(Operation)> hook_;
  std::function<void()> list_hook_, lookup_hook_;
  bool list_fails_ = false;
  int made_ = 0;
};

}  // namespace navtalk::tests
