// navtalk model verify: every stage beside what the Python reference computed.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cmd/render_module/bodies.h"
#include "cmd/terminal/table.h"
#include "gpu/model/usable_device.h"
#include "gpu/verify/verify.h"

namespace navtalk::cmd {
namespace {

std::string differences(const GroupResult& result) {
  if (!result.bytes)
    return fmt::format("max {:.2e}, rms {:.2e}", result.max_difference, result.rms_difference);
  if (result.differing_percent == 0) return "equal";
  return fmt::format("{:.3g} % differ, at most {:.0f} levels, PSNR {:.1f} dB",
                     result.differing_percent, result.max_difference, result.psnr_db);
}

std::vector<std::string> row(const GroupResult& result) {
  if (!result.compared) return {result.group, "skipped", result.reason};
  return {result.tensor, result.passed ? "ok" : "DIFFERS", differences(result), result.tolerance};
}

nlohmann::ordered_json as_json(const GroupResult& result) {
  nlohmann::ordered_json item{{"group", result.group}};
  if (!result.compared) {
    item["status"] = "skipped";
    item["reason"] = result.reason;
    return item;
  }
  item["tensor"] = result.tensor;
  item["status"] = result.passed ? "ok" : "differs";
  // A difference without bound (not a number was computed) has no number in JSON either.
  const auto number = [](double value) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
  };
  item["max_difference"] = number(result.max_difference);
  if (result.bytes) {
    item["differing_percent"] = result.differing_percent;
    item["psnr_db"] = number(result.psnr_db);
  } else {
    item["rms_difference"] = number(result.rms_difference);
  }
  item["tolerance"] = result.tolerance;
  if (result.computed_in) item["computed_in"] = name(*result.computed_in);
  return item;
}

}  // namespace

int verify_model(const ModelVerifyOptions& options, Context& context) {
  Model::Options model;
  model.models = options.models;
  model.device = usable_device(parse_device(options.device));
  model.precision = parse_precision(options.precision);
  model.weights = parse_weight_format(options.weight_format);
  const std::vector<GroupResult> results = verify(model, options.golden, context.progress);
  const bool passed = std::ranges::all_of(
      results, [](const GroupResult& result) { return result.passed || !result.compared; });

  if (context.json) {
    nlohmann::ordered_json object;
    put_path(object, "models", options.models);
    put_path(object, "golden", options.golden);
    object["device"] = name(model.device);
    object["precision"] = options.precision;
    object["ok"] = passed;
    object["results"] = nlohmann::ordered_json::array();
    for (const GroupResult& result : results) object["results"].push_back(as_json(result));
    context.out.json(object);
  } else {
    std::vector<std::vector<std::string>> rows;
    rows.reserve(results.size());
    for (const GroupResult& result : results) rows.push_back(row(result));
    context.out.write(table({{"what"}, {""}, {"difference"}, {"tolerance"}}, rows, context.colour));
    context.out.print("{}\n", passed ? "within tolerance" : "OUT OF TOLERANCE");
  }
  return passed ? 0 : 1;
}

}  // namespace navtalk::cmd
