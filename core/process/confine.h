// What a process gives up, for good, before it reads what strangers have sent. Linux only.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace navtalk {

// Which system calls stay. All others fail with EPERM.
enum class SystemCalls {
  // All but those that no renderer makes: tracing and reading other processes, mounts, namespaces, kernel modules and
  // keys, io_uring, BPF, listening.
  of_renderer,
  // Those that decode a file which is open already. No file is opened, no process, socket or executable memory is made,
  // and no other process is signalled.
  of_reader,
};

// Which sockets a renderer may make. A reader makes none.
enum class Sockets { none, local, internet };

struct Confinement {
  SystemCalls calls = SystemCalls::of_reader;
  Sockets sockets = Sockets::none;
  // Limits; 0: none. Memory and processor time are counted from the call on.
  std::uint64_t memory = 0;           // bytes of address space
  std::chrono::seconds processor{0};  // SIGXCPU, and SIGKILL a second later
  std::uint64_t written = 0;          // bytes of any one file
  // Without: where the system filters no calls, the process goes on with all that is left.
  bool filter_required = true;
  // A process of root goes on as nobody (65534), where the system lets it.
  bool give_up_root = true;
};

// Of all threads of this process, and of the processes that it starts. They gain no rights any more, leave no memory
// image, and this process ends with the thread that started it. Error{failed} where the system does not filter its
// calls or takes no limit: it is then half confined, and should end. Returns why the calls are not filtered although
// no filter was required; nullopt: they are.
std::optional<std::string> confine(const Confinement& confinement);

}  // namespace navtalk
