// What the sanitizers are told in every program of the presets asan, tsan and fuzz, whoever starts it. Variables of the environment
// (ASAN_OPTIONS and the like) come on top.

#define NAVTALK_ASKED_BY_SANITIZER                                                                 \
  extern "C" __attribute__((visibility("default"), no_sanitize("address", "thread", "undefined"))) \
  const char*

#ifdef NAVTALK_SANITIZE_ADDRESS

// The exit status is none of navtalk's, so that no test takes a report for a refusal. The runtime must not look at __tls_get_addr: it
// takes thread-local storage at byte 16 of a page for that of glibc 2.19, reads two numbers in front of it as an address and a
// length, and LeakSanitizer dies where it scans them ("Tracer caught signal 11"). The storage counts as reachable without that,
// since the dynamic linker allocated it.
NAVTALK_ASKED_BY_SANITIZER __asan_default_options();
const char* __asan_default_options() { return "exitcode=99:intercept_tls_get_addr=0"; }

// Debian's libpqxx 6.4 does not free libpq's result when the connection is cut in the middle of a pipeline; the tests cut
// connections on purpose (tests/scheduler/store/postgres_store_test.cpp).
NAVTALK_ASKED_BY_SANITIZER __lsan_default_suppressions();
const char* __lsan_default_suppressions() { return "leak:libpqxx-6.4.so\n"; }

#endif

#ifdef NAVTALK_SANITIZE_THREAD

// Libraries that are not instrumented: ThreadSanitizer cannot see how they synchronise. Of libspdlog it does not see the guard with
// which it makes its default logger at first use. pthread_mutex_timedlock that takes over from a dead holder (EOWNERDEAD) has the
// mutex; ThreadSanitizer believes that it has not.
NAVTALK_ASKED_BY_SANITIZER __tsan_default_suppressions();
const char* __tsan_default_suppressions() {
  return "race:libavcodec.so\n"
         "race:libavformat.so\n"
         "race:libavutil.so\n"
         "race:spdlog::logger::\n"
         "mutex:navtalk::WriteLock::\n";
}

#endif
