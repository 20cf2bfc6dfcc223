#include "core/process/confine.h"

#include <grp.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string>

#include "core/base/error.h"
#include "core/files/whole_file.h"
#include "core/process/proc_file.h"

namespace navtalk {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool k_limits_memory = false;  // they reserve terabytes
#else
constexpr bool k_limits_memory = true;
#endif

[[noreturn]] void fail(const char* what, int error) {
  throw Error(Code::failed, std::string("this process cannot be confined: ") + what + ": " +
                                system_message(error));
}

void limit(int resource, rlim_t soft, rlim_t hard, const char* what) {
  const rlimit bounds{soft, hard};
  if (::setrlimit(static_cast<__rlimit_resource_t>(resource), &bounds) != 0) fail(what, errno);
}

// Bytes of address space that are taken now.
rlim_t taken_memory() {
  const auto text = read_proc_file("/proc/self/statm");
  unsigned long pages = 0;
  if (!text || std::sscanf(text->c_str(), "%lu", &pages) != 1)
    throw Error(Code::failed, "this process cannot be confined: its memory is not known");
  return rlim_t{pages} * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
}

rlim_t taken_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return static_cast<rlim_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec + 1);
}

void set_limits(const Confinement& confinement) {
  limit(RLIMIT_CORE, 0, 0, "no memory image");
  if (confinement.memory > 0 && k_limits_memory) {
    const rlim_t most = taken_memory() + confinement.memory;
    limit(RLIMIT_AS, most, most, "a limit of memory");
  }
  if (confinement.processor.count() > 0) {
    const rlim_t most = taken_seconds() + static_cast<rlim_t>(confinement.processor.count());
    limit(RLIMIT_CPU, most, most + 1, "a limit of processor time");
  }
  if (confinement.written > 0)
    limit(RLIMIT_FSIZE, confinement.written, confinement.written, "a limit of file sizes");
}

// In a container these may fail, which leaves the user as it is.
void become_nobody() {
  constexpr uid_t k_nobody = 65534;
  if (::geteuid() != 0) return;
  (void)!::setgroups(0, nullptr);
  (void)!::setresgid(k_nobody, k_nobody, k_nobody);
  (void)!::setresuid(k_nobody, k_nobody, k_nobody);
}

// What an argument of a call has to be; the library's own macros are C.
scmp_arg_cmp argument(unsigned int number, scmp_compare relation, scmp_datum_t value) {
  return {.arg = number, .op = relation, .datum_a = value, .datum_b = 0};
}
// The bits of `mask` have the value.
scmp_arg_cmp masked(unsigned int number, scmp_datum_t mask, scmp_datum_t value) {
  return {.arg = number, .op = SCMP_CMP_MASKED_EQ, .datum_a = mask, .datum_b = value};
}

// The rules of one process, of which the kernel gets a copy.
class Filter {
 public:
  Filter(std::uint32_t otherwise) : rules_(::seccomp_init(otherwise)) {
    if (!rules_) fail("its system calls", ENOMEM);
  }

  // What this architecture lacks is passed over.
  template <class... Arguments>
  void on(std::uint32_t action, const char* call, Arguments... arguments) {
    const int number = ::seccomp_syscall_resolve_name(call);
    if (number == __NR_SCMP_ERROR) return;
    const int rc =
        ::seccomp_rule_add(rules_.get(), action, number, sizeof...(arguments), arguments...);
    if (rc != 0) fail(call, -rc);
  }
  void load() {
    int rc = ::seccomp_attr_set(rules_.get(), SCMP_FLTATR_CTL_TSYNC, 1);  // of all threads
    if (rc == 0) rc = ::seccomp_load(rules_.get());
    if (rc != 0) fail("its system calls", -rc);
  }

 private:
  struct Release {
    void operator()(void* rules) const { ::seccomp_release(rules); }
  };
  std::unique_ptr<void, Release> rules_;
};

const std::uint32_t k_refuse = SCMP_ACT_ERRNO(EPERM);

void let_read() {
  Filter filter(k_refuse);
  for (const char* call : {"read",
                           "readv",
                           "pread64",
                           "write",
                           "writev",
                           "lseek",
                           "close",
                           "fstat",
                           "munmap",
                           "mremap",
                           "madvise",
                           "brk",
                           "futex",
                           "exit",
                           "exit_group",
                           "restart_syscall",
                           "rt_sigaction",
                           "rt_sigprocmask",
                           "rt_sigreturn",
                           "sigaltstack",
                           "poll",
                           "ppoll",
                           "clock_gettime",
                           "clock_getres",
                           "clock_nanosleep",
                           "nanosleep",
                           "gettimeofday",
                           "time",
                           "getpid",
                           "gettid",
                           "getuid",
                           "geteuid",
                           "getgid",
                           "getegid",
                           "getrandom",
                           "sched_yield",
                           "sched_getaffinity",
                           "getcpu",
                           "getrusage",
                           "getrlimit",
                           "sysinfo",
                           "uname",
                           "set_robust_list",
                           "rseq",
                           "membarrier"}) {
    filter.on(SCMP_ACT_ALLOW, call);
  }
  // fstat() is a newfstatat() of nothing; with a name it tells which files are there, and no more.
  filter.on(SCMP_ACT_ALLOW, "newfstatat", masked(3, 0x1000, 0x1000));
  for (const char* call : {"mmap", "mprotect"})
    filter.on(SCMP_ACT_ALLOW, call, masked(2, PROT_EXEC, 0));
  // abort() is a signal to itself.
  filter.on(SCMP_ACT_ALLOW, "tgkill",
            argument(0, SCMP_CMP_EQ, static_cast<scmp_datum_t>(::getpid())));
  filter.load();
}

void refuse_sockets(Filter& filter, Sockets allowed) {
  constexpr int k_last_of_internet = AF_NETLINK;  // name look-ups ask it for addresses
  if (allowed == Sockets::none) filter.on(k_refuse, "socket");
  if (allowed == Sockets::local) filter.on(k_refuse, "socket", argument(0, SCMP_CMP_NE, AF_UNIX));
  if (allowed == Sockets::internet)
    filter.on(k_refuse, "socket", argument(0, SCMP_CMP_GT, k_last_of_internet));
}

void let_render(Sockets sockets) {
  Filter filter(SCMP_ACT_ALLOW);
  for (const char* call : {"ptrace",
                           "process_vm_readv",
                           "process_vm_writev",
                           "process_madvise",
                           "pidfd_getfd",
                           "kcmp",
                           "bpf",
                           "perf_event_open",
                           "userfaultfd",
                           "io_uring_setup",
                           "io_uring_enter",
                           "io_uring_register",
                           "mount",
                           "umount2",
                           "move_mount",
                           "open_tree",
                           "mount_setattr",
                           "fsopen",
                           "fsconfig",
                           "fsmount",
                           "fspick",
                           "pivot_root",
                           "chroot",
                           "setns",
                           "unshare",
                           "add_key",
                           "keyctl",
                           "request_key",
                           "init_module",
                           "finit_module",
                           "delete_module",
                           "kexec_load",
                           "kexec_file_load",
                           "reboot",
                           "swapon",
                           "swapoff",
                           "syslog",
                           "acct",
                           "quotactl",
                           "quotactl_fd",
                           "open_by_handle_at",
                           "settimeofday",
                           "clock_settime",
                           "clock_adjtime",
                           "adjtimex",
                           "iopl",
                           "ioperm",
                           "fanotify_init",
                           "vhangup",
                           "listen"}) {
    filter.on(k_refuse, call);
  }
  for (const int space : {CLONE_NEWCGROUP, CLONE_NEWIPC, CLONE_NEWNET, CLONE_NEWNS, CLONE_NEWPID,
                          CLONE_NEWUSER, CLONE_NEWUTS}) {
    const auto flag = static_cast<scmp_datum_t>(static_cast<unsigned>(space));
    filter.on(k_refuse, "clone", masked(0, flag, flag));
  }
  // Its flags are in memory, where no filter sees them. glibc then calls clone().
  filter.on(SCMP_ACT_ERRNO(ENOSYS), "clone3");
  refuse_sockets(filter, sockets);
  filter.load();
}

void filter_calls(const Confinement& confinement) {
  if (confinement.calls == SystemCalls::of_reader) {
    let_read();
  } else {
    let_render(confinement.sockets);
  }
}

}  // namespace

std::optional<std::string> confine(const Confinement& confinement) {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail("no new rights", errno);
  set_limits(confinement);
  if (confinement.give_up_root) become_nobody();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // another user forgets it
  try {
    filter_calls(confinement);
  } catch (const Error& error) {
    if (confinement.filter_required) throw;
    return error.message();
  }
  return std::nullopt;
}

}  // namespace navtalk
