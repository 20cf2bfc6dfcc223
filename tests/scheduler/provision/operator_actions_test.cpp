#include "scheduler/provision/operator_actions.h"

#include <catch2/catch.hpp>

#include "tests/core/expect_error.h"
#include "tests/scheduler/small_pool.h"

using namespace navtalk;
using namespace navtalk::tests;

namespace {

constexpr const char* k_who = "operator me";

Gpu put(SmallPool& pool, Source source, State state) {
  Gpu gpu = new_gpu(pool.identity, source);
  gpu.state = state;
  return pool.add(gpu);
}

}  // namespace

TEST_CASE("a registered worker starts, and is registered once") {
  SmallPool pool;
  const Gpu gpu =
      register_gpu(*pool.store, pool.identity, {"http://127.0.0.1:2160", 4, {"acme"}}, k_who);
  CHECK(gpu.source == Source::external);
  CHECK(gpu.state == State::starting);
  CHECK(gpu.slots == 4);
  CHECK(gpu.dedicated_to == TenantId{"acme"});
  test::expect_error(Code::invalid, {"http://127.0.0.1:2160", gpu.id.text}, [&] {
    register_gpu(*pool.store, pool.identity, {"http://127.0.0.1:2160"}, k_who);
  });
  for (const char* const same : {"http://127.0.0.1:2160/", "HTTP://127.0.0.1:2160//"}) {
    INFO(same);
    test::expect_error(Code::invalid, {"http://127.0.0.1:2160", gpu.id.text},
                       [&] { register_gpu(*pool.store, pool.identity, {same}, k_who); });
  }
  test::expect_error(Code::invalid, {"ftp"},
                     [&] { register_gpu(*pool.store, pool.identity, {"ftp://127.0.0.1"}, k_who); });
}

TEST_CASE("a worker beyond loopback is registered by https, or by http where that is allowed") {
  SmallPool pool;
  const Registration clear{.url = "http://10.0.0.7:2160"};
  test::expect_error(Code::invalid, {"http://10.0.0.7:2160", "pool.allow_http_workers"},
                     [&] { register_gpu(*pool.store, pool.identity, clear, k_who); });
  CHECK(pool.store->view().gpus.empty());
  register_gpu(*pool.store, pool.identity, {.url = "https://10.0.0.7:2160"}, k_who);
  register_gpu(*pool.store, pool.identity, {.url = clear.url, .allow_http = true}, k_who);
  CHECK(pool.store->view().gpus.size() == 2);
}

TEST_CASE("a GPU is dedicated to a name, not to any text") {
  SmallPool pool;
  for (const std::string& name : {std::string("a\nb\x1b[31m"), std::string("a b"), std::string("ä"),
                                  std::string("a\0b", 3), std::string(65, 'a')}) {
    test::expect_error(Code::invalid, {"not a valid tenant", "letters"}, [&] {
      register_gpu(*pool.store, pool.identity, {"http://127.0.0.1:2160", 1, {name}}, k_who);
    });
  }
  CHECK(pool.store->view().gpus.empty());
  const std::string fine = "Acme-2_b." + std::string(55, 'x');
  CHECK(register_gpu(*pool.store, pool.identity, {"http://127.0.0.1:2160", 1, {fine}}, k_who)
            .dedicated_to.text == fine);
}

TEST_CASE("a GPU is named by its id or a unique beginning of it") {
  SmallPool pool;
  const Gpu gpu = put(pool, Source::external, State::idle);
  CHECK(drain_gpu(*pool.store, gpu.id.text.substr(0, 12), k_drain_notice, k_who).draining);
  put(pool, Source::external, State::idle);
  test::expect_error(Code::not_found, {"several"},
                     [&] { drain_gpu(*pool.store, "external-", k_drain_notice, k_who); });
  test::expect_error(Code::not_found, {"nowhere"},
                     [&] { drain_gpu(*pool.store, "nowhere", k_drain_notice, k_who); });
  test::expect_error(Code::not_found, {},
                     [&] { drain_gpu(*pool.store, "", k_drain_notice, k_who); });
}

TEST_CASE("a drained GPU takes no new sessions until that is undone") {
  SmallPool pool;
  const Gpu gpu = put(pool, Source::external, State::idle);
  drain_gpu(*pool.store, gpu.id.text, k_drain_notice, k_who);
  CHECK(!pool.claim("a"));
  undrain_gpu(*pool.store, gpu.id.text, k_who);
  CHECK(pool.claim("a"));
}

TEST_CASE("a drained GPU is woken only when the drain is undone") {
  SmallPool pool;
  const Gpu gpu = put(pool, Source::local, State::paused);
  drain_gpu(*pool.store, gpu.id.text, k_drain_notice, k_who);
  test::expect_error(Code::failed, {gpu.id.text, "drained", "undo"},
                     [&] { wake_gpu(*pool.store, gpu.id.text, k_who); });
  undrain_gpu(*pool.store, gpu.id.text, k_who);
  CHECK(wake_gpu(*pool.store, gpu.id.text, k_who).state == State::starting);
}

TEST_CASE("pausing, waking and removing write the intent where the state allows it") {
  SmallPool pool;
  const Gpu idle = put(pool, Source::local, State::idle);
  const Gpu paused = put(pool, Source::cloud, State::paused);
  CHECK(pause_gpu(*pool.store, idle.id.text, k_who).intent.operation == Operation::pause);
  CHECK(wake_gpu(*pool.store, paused.id.text, k_who).intent.operation == Operation::wake);
  test::expect_error(Code::failed, {idle.id.text, "stopping", "only an idle GPU"},
                     [&] { pause_gpu(*pool.store, idle.id.text, k_who); });
  test::expect_error(Code::failed, {paused.id.text, "starting", "only a paused GPU"},
                     [&] { wake_gpu(*pool.store, paused.id.text, k_who); });
  const Gpu removed = remove_gpu(*pool.store, paused.id.text, k_who);
  CHECK(removed.state == State::stopping);
  CHECK(removed.intent.operation == Operation::destroy);
  CHECK(removed.intent.number == 2);
  CHECK(remove_gpu(*pool.store, paused.id.text, k_who).intent.number == 2);
}

TEST_CASE("a GPU with sessions is not removed, a registered one without is removed at once") {
  SmallPool pool;
  const Gpu gpu = put(pool, Source::external, State::idle);
  const auto lease = pool.claim("a");
  REQUIRE(lease);
  test::expect_error(Code::failed, {gpu.id.text, "1 session"},
                     [&] { remove_gpu(*pool.store, gpu.id.text, k_who); });
  pool.store->release(lease->id, lease->epoch);
  remove_gpu(*pool.store, gpu.id.text, k_who);
  CHECK(pool.store->view().gpus.empty());
}
