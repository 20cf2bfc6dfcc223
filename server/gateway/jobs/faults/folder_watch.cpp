#include "server/gateway/jobs/faults/folder_watch.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <exception>
#include <utility>

#include "core/log/log.h"

namespace navtalk::server {
namespace asio = boost::asio;

namespace {

constexpr auto k_folder_look_every = std::chrono::seconds(5);
constexpr auto k_folder_answers_within = std::chrono::seconds(10);

}  // namespace

void FolderWatch::look_if_due(Signal& changed) {
  const auto now = Clock::now();
  if (looks_) {
    if (now - begun_ > k_folder_answers_within)
      say("the disk of the folder does not answer", changed);
    return;
  }
  if (now < next_) return;
  looks_ = true;
  begun_ = now;
  next_ = now + k_folder_look_every;
  asio::co_spawn(executor_, look(changed), asio::detached);
}

asio::awaitable<void> FolderWatch::look(Signal& changed) {
  auto work = [&files = files_]() -> std::string {
    try {
      files.check_folder();
    } catch (const std::exception& error) {
      return error.what();
    }
    return {};
  };
  std::string problem = co_await threads_.run(work);
  looks_ = false;
  say(std::move(problem), changed);
}

void FolderWatch::say(std::string problem, Signal& changed) {
  if (problem == problem_) return;
  if (problem.empty()) {
    log::info("jobs' files can be kept again");
  } else {
    log::error("jobs wait: their files cannot be kept (jobs.folder)", {{"error", problem}});
  }
  problem_ = std::move(problem);
  changed.notify();
}

}  // namespace navtalk::server
