// One job that a gateway has this worker render: its files come over the connection, a process of its own
// renders them, and each finished segment goes back at once. Of the I/O thread; the socket outlives it.
//
//   job.start, audio, finished segments ──► the renderer ──► job.measured, job.progress, job.segment ...
//   job.recorded, for each segment ───────────────┘     └──► job.result, or job.failed
//
// The gateway ends it by closing the connection: the renderer is killed then.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/files/temporary_folder.h"
#include "server/http/blocking_threads.h"
#include "server/http/signal.h"
#include "server/http/socket/web_socket.h"
#include "server/protocol/job_frame.h"
#include "server/worker/job/renderers.h"
#include "server/worker/session/slot_holder.h"

namespace navtalk::server {

class WorkerJob : public SlotHolder {
 public:
  WorkerJob(WebSocket& socket, std::shared_ptr<Renderers::Place> place, BlockingThreads& files);

  boost::asio::awaitable<void> run() override;
  void end(std::string_view code, std::string_view message) override;
  void offer(Frame frame) override { socket_.offer(std::move(frame)); }

 private:
  template <class T>
  using Awaitable = boost::asio::awaitable<T>;

  Awaitable<void> render();
  Awaitable<JobStart> receive_start();
  // From binary frames. False: the connection ended.
  Awaitable<bool> receive_file(const std::filesystem::path& file, std::uint64_t bytes);
  Awaitable<bool> receive_files(const JobStart& start);
  void order(const JobStart& start);
  Awaitable<void> follow();
  void on_frame(const Frame& frame);
  // False: it was the last one.
  Awaitable<bool> on_event(const std::string& line);
  // Adds the size to the frame.
  Awaitable<bool> send_file(nlohmann::json& frame, const std::filesystem::path& file);
  Awaitable<bool> send(const nlohmann::json& frame);
  std::filesystem::path segment(int index) const;

  WebSocket& socket_;
  const std::shared_ptr<Renderers::Place> place_;
  BlockingThreads& files_;
  TemporaryFolder folder_;
  std::filesystem::path output_{};
  std::string job_{};  // its id, for logs
};

}  // namespace navtalk::server
