// A confined process stays so, so that each claim has a child of its own.
#include "core/process/confine.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <functional>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "core/process/run.h"
#include "tests/core/files/scratch_folder.h"
#include "tests/core/memory_limit.h"
#include "tests/core/process/child.h"

using namespace navtalk;
using namespace navtalk::test;
using namespace std::chrono_literals;

namespace {

constexpr int k_not_confined = 99;

int confined(const Confinement& confinement, const std::function<int()>& work) {
  return status_of([&] {
    try {
      confine(confinement);
    } catch (const Error&) {
      return k_not_confined;
    }
    return work();
  });
}

// 0 when the call did what it was asked to.
int error_of(long result) { return result >= 0 ? 0 : errno; }

struct Call {
  std::string name;
  std::function<int()> make;  // errno, or 0
};

std::vector<Call> forbidden_to_readers(const std::string& file) {
  return {
      {"socket of the internet", [] { return error_of(::socket(AF_INET, SOCK_STREAM, 0)); }},
      {"socket of this machine", [] { return error_of(::socket(AF_UNIX, SOCK_STREAM, 0)); }},
      {"open to read", [] { return error_of(::open("/dev/null", O_RDONLY)); }},
      {"open to write",
       [file] { return error_of(::open(file.c_str(), O_WRONLY | O_CREAT, 0600)); }},
      {"remove", [file] { return error_of(::unlink(file.c_str())); }},
      {"look up a name", [] { return error_of(::access("/dev/null", F_OK)); }},
      {"file in memory", [] { return error_of(::memfd_create("test", 0)); }},
      {"new process",
       [] {
         const pid_t child = ::fork();
         if (child == 0) ::_exit(0);
         return error_of(child);
       }},
      {"execute",
       [] {
         const std::array<char*, 1> none{nullptr};
         ::execve("/dev/null/none", none.data(), none.data());
         return errno == ENOTDIR ? 0 : errno;
       }},
      {"signal another", [] { return error_of(::kill(::getppid(), 0)); }},
      {"trace", [] { return error_of(::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr)); }},
      {"executable memory",
       [] {
         void* const at =
             ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
         return at == MAP_FAILED ? errno : 0;
       }},
      {"more processor time",
       [] {
         const rlimit bounds{1, 1};
         return error_of(::setrlimit(RLIMIT_CPU, &bounds));
       }},
  };
}

}  // namespace

TEST_CASE("a reader opens no file, starts nothing and speaks to nobody") {
  const ScratchFolder folder;
  const std::string file = (folder.path() / "made").native();
  for (const Call& call : forbidden_to_readers(file)) {
    INFO(call.name);
    // Otherwise the filter would not be what forbids it. What is to be removed is made by the call before.
    CHECK(status_of(call.make) == 0);
    // Nor would it be where another user is forbidden the same.
    CHECK(confined({.give_up_root = false}, call.make) == EPERM);
  }
  CHECK_FALSE(std::filesystem::exists(file));
}

TEST_CASE("a reader reads what is open, takes memory and answers") {
  const UniqueFd file = memory_file("what a stranger sent");
  const UniqueFd answer = memory_file();
  const int status = confined({.memory = 64 << 20, .processor = 5s, .written = 1024}, [&] {
    std::array<char, 64> bytes{};
    const ssize_t length = ::read(file.value(), bytes.data(), bytes.size());
    const std::vector<char> taken(32 << 20, 'x');
    if (taken.back() != 'x') return 1;
    return ::write(answer.value(), bytes.data(), static_cast<std::size_t>(length)) == length ? 7
                                                                                             : 1;
  });
  CHECK(status == 7);
  CHECK(content_of(answer) == "what a stranger sent");
}

TEST_CASE("what exceeds a limit of memory, processor time or output ends there") {
  if (k_limits_memory) {
    CHECK(confined({.memory = 64 << 20}, [] {
            const void* at = ::mmap(nullptr, 256 << 20, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            return at == MAP_FAILED ? errno : 0;
          }) == ENOMEM);
  }
  CHECK(confined({.processor = 1s}, [] {
          while (::getpid() != 0) {
          }
          return 0;
        }) == k_signalled + SIGXCPU);
  const UniqueFd answer = memory_file();
  CHECK(confined({.written = 16}, [&] {
          const std::string text(17, 'x');
          for (int i = 0; i < 2; ++i) (void)!::write(answer.value(), text.data(), text.size());
          return 0;
        }) == k_signalled + SIGXFSZ);
  CHECK(content_of(answer).size() == 16);
}

TEST_CASE("a confined process leaves no memory image, gains no rights and is not root") {
  CHECK(confined({.calls = SystemCalls::of_renderer}, [] {
          rlimit core{1, 1};
          ::getrlimit(RLIMIT_CORE, &core);
          const bool nobody = ::getuid() != 0 && ::geteuid() != 0 && ::getegid() != 0;
          return core.rlim_max == 0 && ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 && nobody ? 7
                                                                                               : 1;
        }) == 7);
  if (::geteuid() == 0)
    CHECK(confined({.calls = SystemCalls::of_renderer, .give_up_root = false},
                   [] { return ::geteuid() == 0 ? 7 : 1; }) == 7);
}

TEST_CASE("a thread that was there before is confined too") {
  const int status = status_of([] {
    std::promise<void> confined;
    int refused = 0;
    std::thread thread([&] {
      confined.get_future().wait();
      refused = error_of(::socket(AF_UNIX, SOCK_STREAM, 0));
    });
    confine({});
    confined.set_value();
    thread.join();
    return refused;
  });
  CHECK(status == EPERM);
}

TEST_CASE("a renderer makes the sockets that it needs") {
  const auto of = [](Sockets sockets, int family) {
    return confined({.calls = SystemCalls::of_renderer, .sockets = sockets, .give_up_root = false},
                    [family] { return error_of(::socket(family, SOCK_STREAM, 0)); });
  };
  CHECK(of(Sockets::none, AF_UNIX) == EPERM);
  CHECK(of(Sockets::none, AF_INET) == EPERM);
  CHECK(of(Sockets::local, AF_UNIX) == 0);
  CHECK(of(Sockets::local, AF_INET) == EPERM);
  CHECK(of(Sockets::internet, AF_UNIX) == 0);
  CHECK(of(Sockets::internet, AF_INET) == 0);
  CHECK(of(Sockets::internet, AF_ALG) == EPERM);
}

TEST_CASE("a renderer traces nobody, and still has threads and programs") {
  const Confinement renderer{.calls = SystemCalls::of_renderer, .give_up_root = false};
  const std::vector<Call> forbidden = {
      {"trace", [] { return error_of(::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr)); }},
      {"read another's memory",
       [] {
         return error_of(::syscall(SYS_process_vm_readv, ::getpid(), nullptr, 0, nullptr, 0, 0));
       }},
      {"namespaces", [] { return error_of(::unshare(CLONE_NEWUSER)); }},
      {"calls that no filter sees",
       [] {
         std::array<char, 256> parameters{};
         return error_of(::syscall(SYS_io_uring_setup, 1, parameters.data()));
       }},
  };
  for (const Call& call : forbidden) {
    INFO(call.name);
    CHECK(confined(renderer, call.make) == EPERM);
  }
  const int status = confined(renderer, [] {
    int found = 0;
    std::thread([&found] { found = 7; }).join();
    const auto ran = run_program({.command = {"/bin/true"}}, {});
    return ran && ran->exit_status == 0 ? found : 1;
  });
  CHECK(status == 7);
}

TEST_CASE("where the system filters no calls, a reader ends and a renderer goes on with the rest") {
  const auto without_filter = [](const Confinement& confinement) {
    return status_of([&] {
      if (!forbid(SYS_seccomp, EPERM)) return 1;
      try {
        const auto unfiltered = confine(confinement);
        rlimit core{1, 1};
        ::getrlimit(RLIMIT_CORE, &core);
        int signal = 0;
        ::prctl(PR_GET_PDEATHSIG, &signal);
        return unfiltered && core.rlim_max == 0 && signal == SIGKILL ? 7 : 2;
      } catch (const Error&) {
        return k_not_confined;
      }
    });
  };
  CHECK(without_filter({}) == k_not_confined);
  CHECK(without_filter({.calls = SystemCalls::of_renderer, .give_up_root = false}) ==
        k_not_confined);
  CHECK(without_filter(
            {.calls = SystemCalls::of_renderer, .filter_required = false, .give_up_root = false}) ==
        7);
  // Where it does, nothing is to be told.
  CHECK(status_of([] {
          return confine({.calls = SystemCalls::of_renderer, .filter_required = false}) ? 1 : 7;
        }) == 7);
}
