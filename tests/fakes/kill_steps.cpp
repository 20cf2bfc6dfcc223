// A kill, or a halt, at a chosen step of a process: a library for LD_PRELOAD that counts what a gateway, a worker and
// a renderer do durably and what they tell each other, writes each step to the file KILL_STEPS_JOURNAL, and at one of
// them sends SIGKILL to its own process or waits. The file KILL_STEPS_PAGE, which all processes map, says at which.
//
// A step stands for the moment before it is taken, or, where something was read, before it was looked at:
//
//   transaction   SQLite's lock of writers is taken (the byte 120 of -shm)
//   fsync, rename, unlink, begin (a file NAME.partial is opened to be written)
//   spawn         a process is started
//   send, read    on the connection of a job between gateway and worker; the answer to a submission, a webhook, an
//                 order to a renderer, and what goes to PostgreSQL. Of reads in a row the 1st, 2nd, 4th, 8th
//                 and so on are steps, because a file comes in many.
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace {

enum Role : std::uint32_t { nobody, gateway, worker, renderer, k_roles };
enum Action : std::uint32_t { kill_it, hold_it };

// The same as in tests/survival/kill_steps.py.
struct Page {
  std::atomic<std::uint32_t> armed, role, action, held;  // armed: steps are counted
  std::atomic<std::uint64_t> target;                     // the step of that role, from 1; 0: none
  std::atomic<std::uint32_t> fired, pid;                 // once: the process that was at the step
  std::array<std::atomic<std::uint64_t>, k_roles> count;
};

template <class Function>
Function* next_of(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

Page* mapped() {
  const char* file = std::getenv("KILL_STEPS_PAGE");
  static const auto k_open = next_of<int(const char*, int, ...)>("open");
  const int fd = file == nullptr ? -1 : k_open(file, O_RDWR | O_CLOEXEC);
  if (fd < 0) return nullptr;
  void* memory = ::mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  return memory == MAP_FAILED ? nullptr : static_cast<Page*>(memory);
}

// By its command line.
Role own_role() {
  static const auto k_open = next_of<int(const char*, int, ...)>("open");
  const int fd = k_open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  std::array<char, 4096> words{};
  const ssize_t size = ::read(fd, words.data(), words.size());
  ::close(fd);
  const std::string_view line(words.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  const auto has = [line](std::string_view word) {
    return line.find(std::string("\0", 1) + std::string(word) + std::string("\0", 1)) !=
           std::string_view::npos;
  };
  if (has("job") && has("render")) return renderer;
  if (has("serve")) return has("--worker") ? worker : gateway;
  return nobody;
}

Page* page() {
  static Page* const k_page = mapped();
  return k_page;
}

Role role() {
  static const Role k_role = own_role();
  return k_role;
}

bool counts() { return page() != nullptr && page()->armed != 0 && role() != nobody; }

void write_line(const std::string& line) {
  static const auto k_open = next_of<int(const char*, int, ...)>("open");
  static const int k_fd = [] {
    const char* file = std::getenv("KILL_STEPS_JOURNAL");
    return file == nullptr ? -1 : k_open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  }();
  if (k_fd >= 0 && ::write(k_fd, line.data(), line.size()) < 0) ::abort();
}

std::atomic<std::uint64_t> g_reads_in_a_row{0};

// Only once in all processes.
void act() {
  if (page()->fired.exchange(1) != 0) return;
  page()->pid = static_cast<std::uint32_t>(::getpid());
  if (page()->action == kill_it) ::kill(::getpid(), SIGKILL);
  while (page()->held != 0 && page()->armed != 0) ::usleep(1000);
}

void step(std::string_view kind, std::string_view what) {
  if (!counts()) return;
  const std::uint64_t reads = kind == "read" ? ++g_reads_in_a_row : (g_reads_in_a_row = 0);
  if (!std::has_single_bit(std::max<std::uint64_t>(reads, 1))) return;
  const int saved = errno;
  static constexpr std::array<const char*, k_roles> k_names = {"nobody", "gateway", "worker",
                                                               "renderer"};
  const std::uint64_t number = ++page()->count[role()];
  const bool mine = page()->role == role() && page()->target == number;
  std::string line = std::string(k_names[role()]) + " " + std::to_string(number) + " " +
                     std::to_string(::getpid()) + (mine ? " x " : " - ");
  line.append(kind).append(" ").append(what).append("\n");
  write_line(line);
  if (mine) act();
  errno = saved;
}

std::string_view last_part(std::string_view path) {
  return path.substr(path.find_last_of('/') + 1);
}

// The last part of the name of what is open there.
std::string name_of(int fd) {
  std::array<char, PATH_MAX> target{};
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t size = ::readlink(link.c_str(), target.data(), target.size());
  return std::string(
      last_part({target.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))}));
}

// What a connection is for, by what was first sent or read on it.
std::array<std::atomic<std::uint8_t>, 65536> g_purposes{};
constexpr std::uint8_t k_job = 1, k_submission = 2;

std::atomic<std::uint8_t>* purpose(int fd) {
  return fd >= 0 && static_cast<std::size_t>(fd) < g_purposes.size()
             ? &g_purposes[static_cast<std::size_t>(fd)]
             : nullptr;
}

bool is_local(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  return ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0 &&
         address.ss_family == AF_UNIX;
}

bool is_postgres(int fd) {
  static const bool k_asked = std::getenv("KILL_STEPS_POSTGRES") != nullptr;
  return k_asked && role() == gateway && is_local(fd);
}

void about_to_send(int fd, std::string_view bytes) {
  if (!counts()) return;
  auto* const use = purpose(fd);
  if (use == nullptr) return;
  if (bytes.starts_with("GET /v1/job?")) *use = k_job;
  if (*use == k_job) return step("send", "job");
  if (*use == k_submission) return step("send", "answer");
  if (role() == gateway && bytes.starts_with("POST /hook")) return step("send", "webhook");
  if (role() == worker && bytes.starts_with("{")) return step("send", "order");
  if (is_postgres(fd)) step("send", "postgres");
}

void was_read(int fd, std::string_view bytes) {
  if (!counts()) return;
  auto* const use = purpose(fd);
  if (use == nullptr) return;
  if (bytes.starts_with("GET /v1/job?")) *use = k_job;
  if (bytes.starts_with("POST /v1/jobs")) {
    *use = k_submission;
    return step("read", "submission");
  }
  if (*use == k_job) step("read", "job");
}

bool is_writer_lock(int fd, int command, const struct flock* lock) {
  if (command != F_SETLK && command != F_SETLKW) return false;
  return lock->l_type == F_WRLCK && lock->l_start == 120 && lock->l_len == 1 &&
         name_of(fd).ends_with("-shm");
}

template <class Next>
int locking(Next* next, int fd, int command, void* argument) {
  if (counts() && (command == F_SETLK || command == F_SETLKW) &&
      is_writer_lock(fd, command, static_cast<const struct flock*>(argument)))
    step("transaction", "sqlite");
  return next(fd, command, argument);
}

void opening(const char* path, int flags) {
  if (!counts() || (flags & (O_WRONLY | O_RDWR)) == 0) return;
  const std::string_view name = last_part(path);
  if (name.ends_with(".partial")) step("begin", name);
}

// The first of `size` bytes; a request comes in many parts.
std::string beginning_of(const msghdr* message, std::size_t size = SIZE_MAX) {
  constexpr std::size_t k_enough = 32;
  std::string first;
  for (std::size_t i = 0; i < message->msg_iovlen && first.size() < k_enough; ++i) {
    const iovec& part = message->msg_iov[i];
    first.append(static_cast<const char*>(part.iov_base), std::min(part.iov_len, k_enough));
  }
  first.resize(std::min({first.size(), size, k_enough}));
  return first;
}

mode_t mode_of(int flags, va_list words) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(words, mode_t) : mode_t{0};
}

}  // namespace

extern "C" {

int fcntl(int fd, int command, ...) {
  static const auto k_next = next_of<int(int, int, ...)>("fcntl");
  va_list words;
  va_start(words, command);
  void* const argument = va_arg(words, void*);
  va_end(words);
  return locking(k_next, fd, command, argument);
}

int fcntl64(int fd, int command, ...) {
  static const auto k_next = next_of<int(int, int, ...)>("fcntl64");
  va_list words;
  va_start(words, command);
  void* const argument = va_arg(words, void*);
  va_end(words);
  return locking(k_next, fd, command, argument);
}

int openat(int folder, const char* path, int flags, ...) {
  static const auto k_next = next_of<int(int, const char*, int, ...)>("openat");
  va_list words;
  va_start(words, flags);
  const mode_t mode = mode_of(flags, words);
  va_end(words);
  opening(path, flags);
  return k_next(folder, path, flags, mode);
}

int openat64(int folder, const char* path, int flags, ...) {
  static const auto k_next = next_of<int(int, const char*, int, ...)>("openat64");
  va_list words;
  va_start(words, flags);
  const mode_t mode = mode_of(flags, words);
  va_end(words);
  opening(path, flags);
  return k_next(folder, path, flags, mode);
}

int fsync(int fd) {
  static const auto k_next = next_of<int(int)>("fsync");
  if (counts()) step("fsync", name_of(fd));
  return k_next(fd);
}

int fdatasync(int fd) {
  static const auto k_next = next_of<int(int)>("fdatasync");
  if (counts()) step("fsync", name_of(fd));
  return k_next(fd);
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to,
              unsigned flags) noexcept {
  static const auto k_next =
      next_of<int(int, const char*, int, const char*, unsigned)>("renameat2");
  step("rename", last_part(to));
  return k_next(from_folder, from, to_folder, to, flags);
}

int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  static const auto k_next = next_of<int(int, const char*, int, const char*)>("renameat");
  step("rename", last_part(to));
  return k_next(from_folder, from, to_folder, to);
}

int rename(const char* from, const char* to) noexcept {
  static const auto k_next = next_of<int(const char*, const char*)>("rename");
  step("rename", last_part(to));
  return k_next(from, to);
}

int unlinkat(int folder, const char* path, int flags) noexcept {
  static const auto k_next = next_of<int(int, const char*, int)>("unlinkat");
  step("unlink", last_part(path));
  return k_next(folder, path, flags);
}

int unlink(const char* path) noexcept {
  static const auto k_next = next_of<int(const char*)>("unlink");
  step("unlink", last_part(path));
  return k_next(path);
}

int posix_spawn(pid_t* child, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const* arguments,
                char* const* environment) {
  static const auto k_next = next_of<decltype(::posix_spawn)>("posix_spawn");
  step("spawn", last_part(path));
  return k_next(child, path, actions, attributes, arguments, environment);
}

ssize_t send(int fd, const void* bytes, size_t size, int flags) {
  static const auto k_next = next_of<ssize_t(int, const void*, size_t, int)>("send");
  about_to_send(fd, {static_cast<const char*>(bytes), size});
  return k_next(fd, bytes, size, flags);
}

ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  static const auto k_next = next_of<ssize_t(int, const msghdr*, int)>("sendmsg");
  if (counts()) about_to_send(fd, beginning_of(message));
  return k_next(fd, message, flags);
}

ssize_t recv(int fd, void* bytes, size_t size, int flags) {
  static const auto k_next = next_of<ssize_t(int, void*, size_t, int)>("recv");
  const ssize_t count = k_next(fd, bytes, size, flags);
  if (count > 0) was_read(fd, {static_cast<const char*>(bytes), static_cast<size_t>(count)});
  return count;
}

ssize_t recvmsg(int fd, msghdr* message, int flags) {
  static const auto k_next = next_of<ssize_t(int, msghdr*, int)>("recvmsg");
  const ssize_t count = k_next(fd, message, flags);
  if (count > 0 && counts()) was_read(fd, beginning_of(message, static_cast<std::size_t>(count)));
  return count;
}

int close(int fd) {
  static const auto k_next = next_of<int(int)>("close");
  if (auto* const use = purpose(fd)) *use = 0;
  return k_next(fd);
}

}  // extern "C"
