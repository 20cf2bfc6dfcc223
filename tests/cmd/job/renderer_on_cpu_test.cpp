// Videos of jobs, with the CPU behind a GPU without memory: renderers of the test's own.
#include "cmd/job/renderer_on_cpu.h"

#include <catch2/catch.hpp>

#include "core/base/out_of_memory.h"

using namespace navtalk;
using namespace navtalk::cmd;

namespace {

constexpr const char* k_of_cpu = R"({"first":0,"device":"cpu"})";
constexpr const char* k_of_gpu = R"({"first":0,"device":"cuda"})";

// What the two renderers do, and what was done.
struct Machine {
  bool has_gpu = true;
  bool room_to_load = true, room_to_render = true;  // of the GPU
  int segments_before_it_is_full = 0;
  std::string done{}, told{};

  VideoRenderer made(bool on_cpu) {
    done += on_cpu ? "+cpu " : "+gpu ";
    return {.open = [](const InferOptions&) {},
            .speech_s = [](const InferOptions&) { return 1.0; },
            .load = [this, on_cpu] { load(on_cpu); },
            .device = [this, on_cpu] { return on_cpu || !has_gpu ? "cpu" : "cuda"; },
            .render = [this, on_cpu](
                          const InferOptions&,
                          const VideoRenderer::Steps& steps) { return rendered(on_cpu, steps); }};
  }
  void load(bool on_cpu) {
    if (!on_cpu && !room_to_load) throw OutOfMemory("no room for nets");
    done += "loaded ";
  }
  FinishedVideo rendered(bool on_cpu, const VideoRenderer::Steps& steps) {
    if (!on_cpu && !room_to_render) {
      for (int i = 0; i < segments_before_it_is_full; ++i) steps.segments->finished({.index = i});
      throw OutOfMemory("no room for faces");
    }
    done += on_cpu ? "by-cpu " : "by-gpu ";
    return {.frames = 1};
  }
  VideoRenderer renderer() {
    return with_cpu_behind({.make = [this](bool on_cpu) { return made(on_cpu); },
                            .on_cpu = [this](const std::string& why) { told += why + "; "; }});
  }
};

VideoRenderer::Steps steps_with(std::vector<std::string> records) {
  return {.progress = {},
          .segments =
              SegmentWork{.records = std::move(records), .finished = [](const FinishedSegment&) {}},
          .before_commit = {}};
}

}  // namespace

TEST_CASE(
    "a video without finished segments is rendered whole by a CPU where the GPU has no memory") {
  Machine machine;
  VideoRenderer renderer = machine.renderer();
  SECTION("for the nets") {
    machine.room_to_load = false;
    renderer.load();
    CHECK(renderer.render({}, steps_with({})).frames == 1);
    CHECK(machine.done == "+gpu +cpu loaded by-cpu ");
    CHECK(machine.told == "no room for nets; ");
  }
  SECTION("for its faces") {
    machine.room_to_render = false;
    renderer.load();
    CHECK(renderer.render({}, steps_with({})).frames == 1);
    CHECK(machine.done == "+gpu loaded +cpu by-cpu ");
    CHECK(machine.told == "no room for faces; ");
  }
  // The next one gets the GPU, if there is room again.
  machine.room_to_load = machine.room_to_render = true;
  machine.done.clear();
  renderer.load();
  renderer.render({}, steps_with({}));
  CHECK(machine.done == "+gpu loaded by-gpu ");
}

TEST_CASE("a video of which the GPU finished segments waits for a GPU") {
  Machine machine;
  VideoRenderer renderer = machine.renderer();
  std::vector<std::string> records;
  SECTION("without room for the nets") {
    machine.room_to_load = false;
    records = {k_of_gpu};
  }
  SECTION("without room for faces") {
    machine.room_to_render = false;
    records = {k_of_gpu};
  }
  SECTION("full behind its first segment") {
    machine.room_to_render = false;
    machine.segments_before_it_is_full = 1;
  }
  renderer.load();
  CHECK_THROWS_AS(renderer.render({}, steps_with(records)), OutOfMemory);
  CHECK(machine.told.empty());
  CHECK(machine.done.find("by-cpu") == std::string::npos);
}

TEST_CASE("a video of which the CPU finished segments stays with it") {
  Machine machine;
  VideoRenderer renderer = machine.renderer();
  renderer.load();
  renderer.render({}, steps_with({k_of_cpu, k_of_gpu}));
  CHECK(machine.done == "+gpu loaded +cpu by-cpu ");
  CHECK(machine.told.empty());
  machine.done.clear();
  renderer.load();
  renderer.render({}, steps_with({k_of_gpu}));
  CHECK(machine.done == "+gpu loaded by-gpu ");
}

TEST_CASE(
    "where there is no GPU, nets are not loaded anew for a video of which the CPU finished "
    "segments") {
  Machine machine{.has_gpu = false};
  VideoRenderer renderer = machine.renderer();
  renderer.load();
  renderer.render({}, steps_with({k_of_cpu}));
  CHECK(machine.done == "+gpu loaded by-gpu ");
}

TEST_CASE("records of segments say which device rendered them, and without a name it was a CPU") {
  CHECK(device_of_segments({}).empty());
  CHECK(device_of_segments({"broken"}).empty());
  CHECK(device_of_segments({R"({"first":0})"}) == "cpu");
  CHECK(device_of_segments({R"({"device":7})"}) == "cpu");
  CHECK(device_of_segments({k_of_gpu, k_of_gpu}) == "cuda");
  CHECK(device_of_segments({k_of_gpu, k_of_cpu, k_of_gpu}) == "cpu");
}

TEST_CASE("on the CPU all nets run there, in a format that it has") {
  InferOptions options;
  options.device = "cuda:1";
  options.precision = "fp16";
  options.placement.decoder_device = "cuda:2";
  const InferOptions there = on_the_cpu(options);
  CHECK(there.device == "cpu");
  CHECK(there.precision == "auto");
  CHECK(there.placement.decoder_device == "auto");
  options.precision = "fp32";
  CHECK(on_the_cpu(options).precision == "fp32");
}
