#include "cmd/render_module/stage_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cmd/terminal/table.h"

namespace navtalk::cmd {
namespace {

double ms(const StageRow& row, std::chrono::duration<double> time) {
  return std::chrono::duration<double, std::milli>(time).count() / row.batch;
}

// Of whole frames only.
std::string frames_per_second(const StageRow& row) {
  return row.stage == "frame" ? fmt::format("{:.1f}", 1000.0 / ms(row, row.timing.median)) : "";
}

nlohmann::ordered_json as_json(const StageRow& row) {
  nlohmann::ordered_json object{{"name", row.stage},
                                {"device", row.device},
                                {"precision", row.precision},
                                {"batch", row.batch},
                                {"unit", row.unit},
                                {"median", ms(row, row.timing.median)},
                                {"p99", ms(row, row.timing.p99)},
                                {"runs", row.timing.runs}};
  if (row.precision.empty()) object.erase("precision");
  if (row.stage == "frame") object["frames_per_second"] = 1000.0 / ms(row, row.timing.median);
  return object;
}

std::vector<std::string> cells_of(const StageRow& row) {
  return {row.stage,
          row.device,
          row.precision,
          std::to_string(row.batch),
          row.unit,
          fmt::format("{:.2f}", ms(row, row.timing.median)),
          fmt::format("{:.2f}", ms(row, row.timing.p99)),
          frames_per_second(row)};
}

void print_text(const std::vector<StageRow>& rows, const Machine& machine, Context& context) {
  constexpr auto k_right = Column::Align::right;
  std::vector<std::vector<std::string>> cells;
  cells.reserve(rows.size());
  for (const StageRow& row : rows) cells.push_back(cells_of(row));
  context.out.print("{}\n\n", machine_text(machine));
  context.out.write(table({{"stage"},
                           {"device"},
                           {"precision"},
                           {"batch", k_right},
                           {"unit"},
                           {"median", k_right},
                           {"p99", k_right},
                           {"frames/s", k_right}},
                          cells, context.colour));
}

}  // namespace

std::vector<std::string> usual_precisions(const Device& device) {
  if (device.kind == Device::Kind::cuda) return {"fp32", "fp16"};
  const std::string isa = widest_isa();
  if (isa.starts_with("avx512") || isa.starts_with("amx")) return {"fp32", "bf16"};
  return {"fp32"};
}

void print_stages(const std::vector<StageRow>& rows, int threads, Context& context) {
  Machine machine = this_machine();
  // The nets take no more than there are cores.
  machine.threads = threads > 0 ? std::min(threads, usable_cores()) : usable_cores();
  if (!context.json) return print_text(rows, machine, context);
  auto list = nlohmann::ordered_json::array();
  for (const StageRow& row : rows) list.push_back(as_json(row));
  context.out.json({{"machine", machine_json(machine)}, {"rows", list}});
}

}  // namespace navtalk::cmd
