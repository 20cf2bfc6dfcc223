#include "server/worker/job/renderer_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <utility>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/base/unique_fd.h"
#include "core/files/whole_file.h"
#include "core/process/memory.h"
#include "core/process/pipe.h"
#include "core/process/spawn_words.h"
#include "core/process/wait_child.h"

namespace navtalk::server {
namespace asio = boost::asio;

namespace {

constexpr std::size_t k_longest_line = 1 << 20;  // bytes
// Of the store, which whoever breaks a decoder is not to find. The other secrets have been withdrawn from the environment.
constexpr std::array<std::string_view, 2> k_not_passed_on = {"NAVTALK_STORE_URL=", "PG"};

// Where the child finds the socket on which it asks for faces.
constexpr int k_faces_descriptor = 3;

struct SocketPair {
  UniqueFd ours, theirs;
};

// Sockets, so that writing to a process that has ended raises no signal.
SocketPair make_sockets(const char* what) {
  std::array<int, 2> pair{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0)
    throw Error(Code::failed, std::string(what) + " cannot be made: " + system_message(errno));
  return {UniqueFd(pair[0]), UniqueFd(pair[1])};
}

// Descriptors and signals of the child: it inherits nothing else but standard error.
class Spawn {
 public:
  Spawn() {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
    sigset_t none, defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) sigaddset(&defaults, signal);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &defaults);
    // A group of its own: Ctrl-C in a terminal is for the worker, which ends all of it.
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~Spawn() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  Spawn(const Spawn&) = delete;
  Spawn& operator=(const Spawn&) = delete;

  // `faces`: negative where there is none.
  pid_t run(const std::vector<std::string>& command, int input, int output, int faces) {
    ::posix_spawn_file_actions_adddup2(&actions_, input, STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    if (faces >= 0) ::posix_spawn_file_actions_adddup2(&actions_, faces, k_faces_descriptor);
    // Asio's sockets are not closed on exec: the child would keep connections open that the worker has closed.
    const int own = faces >= 0 ? k_faces_descriptor + 1 : STDERR_FILENO + 1;
    ::posix_spawn_file_actions_addclosefrom_np(&actions_, own);
    std::vector<std::string> words = command;
    std::vector<std::string> variables = environment_without(k_not_passed_on);
    const std::vector<char*> arguments = pointers_to(words);
    pid_t child = 0;
    const int rc = ::posix_spawn(&child, arguments[0], &actions_, &attributes_, arguments.data(),
                                 pointers_to(variables).data());
    if (rc != 0)
      throw Error(Code::failed, command[0] + " cannot be started: " + system_message(rc));
    return child;
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

// With the programs that it waits for, such as espeak-ng. The leader is not reaped yet, so the group cannot be another one's.
void kill_group(pid_t leader) { ::kill(-leader, SIGKILL); }

}  // namespace

RendererProcess::RendererProcess(const asio::any_io_executor& executor, BlockingThreads& reapers,
                                 std::vector<std::string> command, std::optional<FaceService> faces)
    : reapers_(reapers) {
  SocketPair input = make_sockets("the renderer's input");
  SocketPair asking;
  if (faces) {
    asking = make_sockets("the socket for faces");
    command.insert(command.end(), {"--faces", std::to_string(k_faces_descriptor)});
  }
  Pipe output = make_pipe();
  child_ = Spawn().run(command, input.theirs.value(), output.write.value(), asking.theirs.value());
  if (faces)
    faces_ = std::make_unique<FaceChannel>(executor, std::move(asking.ours), faces->engine,
                                           std::move(faces->model), faces->job);
  state_ = std::make_shared<State>(
      asio::posix::stream_descriptor(executor, output.read.release()),
      State::Socket(executor, asio::local::stream_protocol(), input.ours.release()));
  read(state_);
}

RendererProcess::~RendererProcess() {
  faces_.reset();
  state_->callback = {};
  boost::system::error_code ignored;
  state_->output.close(ignored);
  state_->input.close(ignored);
  kill_group(child_);
  // The device's memory is free when it has ended.
  reapers_.post([child = child_, device = std::move(device_)] { wait_child(child); });
}

std::uint64_t RendererProcess::resident() const { return resident_bytes(child_).value_or(0); }

void RendererProcess::end(std::string why) {
  why_ended_ = std::move(why);
  kill_group(child_);  // not reaped before this object ends
}

void RendererProcess::order(const std::string& line) {
  state_->unsent += line;
  if (state_->sending.empty()) write(state_);
}

// A process that has ended is noticed by its output.
void RendererProcess::write(const std::shared_ptr<State>& state) {
  state->sending = std::exchange(state->unsent, std::string());
  if (state->sending.empty()) return;
  asio::async_write(state->input, asio::buffer(state->sending),
                    [state](const boost::system::error_code& gone, std::size_t) {
                      if (!gone) write(state);
                    });
}

bool RendererProcess::poll(std::string& line) {
  if (state_->lines.empty()) return false;
  line = std::move(state_->lines.front());
  state_->lines.pop_front();
  return true;
}

void RendererProcess::read(const std::shared_ptr<State>& state) {
  const auto piece = std::make_shared<std::array<char, 4096>>();
  state->output.async_read_some(
      asio::buffer(*piece),
      [state, piece](const boost::system::error_code& gone, std::size_t size) {
        state->buffer.append(piece->data(), size);
        for (std::size_t end = 0; (end = state->buffer.find('\n')) != std::string::npos;) {
          state->lines.push_back(state->buffer.substr(0, end));
          state->buffer.erase(0, end + 1);
        }
        if (gone || state->buffer.size() > k_longest_line) {
          state->ended = true;
        } else {
          read(state);
        }
        // It may replace itself.
        const std::function<void()> callback = state->callback;
        if (callback) callback();
      });
}

}  // namespace navtalk::server
