// The renderer processes of one worker: one for each job that it renders, and one that has ended its job and
// keeps its model for the next. Of the I/O thread.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <string>
#include <vector>

#include "server/worker/job/renderer_process.h"

namespace navtalk::server {

class Renderers {
 public:
  // `command`: of a process; empty: this worker renders no jobs.
  Renderers(boost::asio::any_io_executor executor, std::vector<std::string> command)
      : executor_(std::move(executor)), command_(std::move(command)) {}

  bool available() const { return !command_.empty(); }
  // Error{failed} when none can be started.
  std::unique_ptr<RendererProcess> take() {
    if (idle_ && !idle_->ended()) return std::move(idle_);
    return std::make_unique<RendererProcess>(executor_, command_);
  }
  // One that has ended its job well.
  void give_back(std::unique_ptr<RendererProcess> process) {
    process->on_activity({});
    idle_ = std::move(process);
  }
  // Gives back the memory of one that waits.
  void drop_idle() { idle_.reset(); }

 private:
  const boost::asio::any_io_executor executor_;
  const std::vector<std::string> command_;
  std::unique_ptr<RendererProcess> idle_{};
};

}  // namespace navtalk::server
