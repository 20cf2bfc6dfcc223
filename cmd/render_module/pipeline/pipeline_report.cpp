// How `bench pipeline` shows its rows.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cmd/render_module/pipeline/pipeline_bench.h"
#include "cmd/terminal/table.h"

namespace navtalk::cmd {
namespace {

using Json = nlohmann::ordered_json;

double ms(const StageTimes& times, std::chrono::duration<double> time) {
  return std::chrono::duration<double, std::milli>(time).count() / times.batch;
}

Json as_json(const PipelineRow& row) {
  const StageTimes& times = row.times;
  const Timing& timing = times.timing();
  Json object{{"name", times.stage},
              {"device", times.device},
              {"precision", row.precision},
              {"batch", times.batch},
              {"unit", times.unit},
              {"clock", times.events ? "events" : "host"},
              {"median", ms(times, timing.median)},
              {"p99", ms(times, timing.p99)},
              {"runs", timing.runs}};
  if (row.precision.empty()) object.erase("precision");
  if (times.events && times.host)
    object["host"] = {{"median", ms(times, times.host->median)},
                      {"p99", ms(times, times.host->p99)},
                      {"runs", times.host->runs}};
  if (row.roofline_percent) object["roofline_percent"] = *row.roofline_percent;
  if (row.cpu_over_gpu) object["cpu_over_gpu"] = *row.cpu_over_gpu;
  if (times.stage == "frame") object["frames_per_second"] = 1000.0 / ms(times, timing.median);
  return object;
}

Json as_json(const Closeness& one) {
  Json object{{"device", one.device}, {"precision", one.precision}, {"ssim", one.ssim}};
  // JSON has no infinity.
  object["psnr_db"] = std::isinf(one.psnr_db) ? Json() : Json(one.psnr_db);
  return object;
}

void print_json(const PipelineReport& report, const Machine& machine, Context& context) {
  auto rows = Json::array(), closeness = Json::array(), rates = Json::array();
  for (const PipelineRow& row : report.rows) rows.push_back(as_json(row));
  for (const Closeness& one : report.closeness) closeness.push_back(as_json(one));
  for (const auto& [device, rate] : report.rates)
    rates.push_back({{"device", device},
                     {"precision", rate.precision},
                     {"gflop_per_s", rate.flop_per_s / 1e9},
                     {"gb_per_s", rate.bytes_per_s / 1e9}});
  Json all{{"machine", machine_json(machine)},
           {"gpu", report.gpu.empty() ? Json{{"missing", report.missing_gpu}}
                                      : Json{{"name", report.gpu}}}};
  if (!report.missing_cpu.empty()) all["cpu"] = {{"missing", report.missing_cpu}};
  all["rates"] = rates;
  all["against_fp32"] = closeness;
  all["rows"] = rows;  // last: bench/gpu/run takes what follows for rows
  context.out.json(all);
}

std::string percent(const std::optional<double>& value) {
  return value ? fmt::format("{:.0f} %", *value) : "";
}

// Milliseconds: four digits that count, also of what takes microseconds.
std::string shown(double value) {
  return fmt::format("{:.{}f}", value, value < 1 ? 4 : value < 100 ? 2 : 1);
}

bool same_line(const PipelineRow& a, const PipelineRow& b) {
  return a.precision == b.precision && a.times.stage == b.times.stage &&
         a.times.batch == b.times.batch && a.times.unit == b.times.unit;
}

// The CPU's cells, then the GPU's; what one of them lacks stays empty.
std::vector<std::string> cells_of(const PipelineRow* cpu, const PipelineRow* gpu) {
  const PipelineRow& row = cpu != nullptr ? *cpu : *gpu;
  std::vector<std::string> cells{row.times.stage, row.precision, std::to_string(row.times.batch),
                                 row.times.unit};
  cells.resize(12);
  const auto put = [&](const PipelineRow& one, std::size_t at) {
    const Timing& timing = one.times.timing();
    cells[at] = shown(ms(one.times, timing.median));
    cells[at + 1] = shown(ms(one.times, timing.p99));
    cells[at + 2] = percent(one.roofline_percent);
  };
  if (cpu != nullptr) put(*cpu, 4);
  if (gpu != nullptr) {
    put(*gpu, 7);
    if (gpu->times.events && gpu->times.host)
      cells[10] = shown(ms(gpu->times, gpu->times.host->median));
    if (gpu->cpu_over_gpu) cells[11] = fmt::format("{:.1f}", *gpu->cpu_over_gpu);
  }
  return cells;
}

std::string frames_per_second(const PipelineRow* row) {
  if (row == nullptr || row->times.stage != "frame") return "";
  return fmt::format("{:.1f}", 1000.0 / ms(row->times, row->times.timing().median));
}

void print_rows(const PipelineReport& report, Context& context) {
  constexpr auto k_right = Column::Align::right;
  std::vector<std::vector<std::string>> cells;
  for (const PipelineRow& row : report.rows) {
    const auto other = std::ranges::find_if(report.rows, [&](const PipelineRow& one) {
      return one.on_gpu != row.on_gpu && same_line(one, row);
    });
    const PipelineRow* const partner = other == report.rows.end() ? nullptr : &*other;
    if (row.on_gpu && partner != nullptr) continue;
    const PipelineRow* const cpu = row.on_gpu ? nullptr : &row;
    const PipelineRow* const gpu = row.on_gpu ? &row : partner;
    cells.push_back(cells_of(cpu, gpu));
    cells.back().insert(cells.back().begin() + 7, frames_per_second(cpu));
    cells.back().insert(cells.back().begin() + 11, frames_per_second(gpu));
  }
  std::vector<Column> columns{
      {"stage"},           {"precision"},    {"batch", k_right},       {"unit"},
      {"median", k_right}, {"p99", k_right}, {"of roofline", k_right}, {"frames/s", k_right}};
  if (!report.gpu.empty())
    columns.insert(columns.end(), {{"gpu median", k_right},
                                   {"p99", k_right},
                                   {"of roofline", k_right},
                                   {"frames/s", k_right},
                                   {"host median", k_right},
                                   {"cpu/gpu", k_right}});
  for (auto& line : cells) line.resize(columns.size());
  context.out.write(table(columns, cells, context.colour));
}

void print_closeness(const PipelineReport& report, Context& context) {
  if (report.closeness.empty()) return;
  constexpr auto k_right = Column::Align::right;
  std::vector<std::vector<std::string>> cells;
  for (const Closeness& one : report.closeness)
    cells.push_back(
        {one.device, one.precision,
         std::isinf(one.psnr_db) ? std::string("equal") : fmt::format("{:.1f} dB", one.psnr_db),
         fmt::format("{:.5f}", one.ssim)});
  context.out.print("\nfaces against fp32 on the CPU, the one that is furthest from it\n\n");
  context.out.write(table({{"device"}, {"precision"}, {"PSNR", k_right}, {"SSIM", k_right}}, cells,
                          context.colour));
}

void print_text(const PipelineReport& report, const Machine& machine, Context& context) {
  context.out.print("{}\n", machine_text(machine));
  if (!report.missing_cpu.empty()) context.out.print("no CPU column: {}\n", report.missing_cpu);
  if (report.gpu.empty())
    context.out.print("no GPU column: {}\n", report.missing_gpu);
  else
    context.out.print("GPU: {}\n", report.gpu);
  for (const auto& [device, rate] : report.rates)
    context.out.print("{}, {}: products of matrices {:.0f} GFLOP/s, copies {:.1f} GB/s\n", device,
                      rate.precision, rate.flop_per_s / 1e9, rate.bytes_per_s / 1e9);
  context.out.print("\n");
  print_rows(report, context);
  print_closeness(report, context);
}

}  // namespace

void print_pipeline(const PipelineReport& report, int threads, Context& context) {
  Machine machine = this_machine();
  // The nets take no more than there are cores.
  machine.threads = threads > 0 ? std::min(threads, usable_cores()) : usable_cores();
  context.json ? print_json(report, machine, context) : print_text(report, machine, context);
}

}  // namespace navtalk::cmd
