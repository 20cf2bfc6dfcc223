// model check: whether a checkpoint folder is complete and fits together.
#include "gpu/model/model_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <map>
#include <nlohmann/json.hpp>

#include "cmd/commands.h"
#include "cmd/terminal/table.h"
#include "core/base/error.h"
#include "core/text/printable.h"

namespace navtalk::cmd {
namespace {

using nlohmann::ordered_json;

struct Options {
  std::filesystem::path directory;
  bool no_hash = false;
  bool tensors = false;
};

std::size_t parameters(const FileReport& file) {
  std::size_t count = 0;
  for (const TensorInfo& tensor : file.tensors) count += element_count(tensor.shape);
  return count;
}

std::map<std::string_view, std::size_t> dtypes(const FileReport& file) {
  std::map<std::string_view, std::size_t> counts;
  for (const TensorInfo& tensor : file.tensors) ++counts[navtalk::name(tensor.dtype)];
  return counts;
}

std::vector<std::string> row(const FileReport& file) {
  std::vector<std::string_view> kinds;
  for (const auto& [dtype, count] : dtypes(file)) kinds.push_back(dtype);
  const bool there = file.state != FileState::missing;
  const bool weights = !file.tensors.empty();
  return {printable(file.path.native()),
          file.what,
          std::string(navtalk::name(file.state)) + (there || file.needed ? "" : ", optional"),
          file.container,
          weights ? std::to_string(file.tensors.size()) : "",
          weights ? std::to_string(parameters(file)) : "",
          fmt::format("{}", fmt::join(kinds, ",")),
          there ? std::to_string(file.bytes) : "",
          file.sha256};
}

void print_tensors(const FileReport& file, Context& context) {
  std::vector<std::vector<std::string>> rows;
  for (const TensorInfo& tensor : file.tensors)
    rows.push_back({printable(tensor.name), std::string(navtalk::name(tensor.dtype)),
                    fmt::format("{}", tensor.shape)});
  if (rows.empty()) return;
  context.out.print("\n{}\n", printable(file.path.native()));
  context.out.write(table({{"TENSOR"}, {"DTYPE"}, {"SHAPE"}}, rows, context.colour));
}

void print(const ModelReport& report, const Options& options, Context& context) {
  using Align = Column::Align;
  std::vector<std::vector<std::string>> rows;
  for (const FileReport& file : report.files) rows.push_back(row(file));
  context.out.write(table({{"FILE"},
                           {"WHAT"},
                           {"STATE"},
                           {"CONTAINER"},
                           {"TENSORS", Align::right},
                           {"PARAMETERS", Align::right},
                           {"DTYPES"},
                           {"BYTES", Align::right},
                           {"SHA-256"}},
                          rows, context.colour));
  if (options.tensors) {
    for (const FileReport& file : report.files) print_tensors(file, context);
  }
  context.out.print("\n");
  for (const FileReport& file : report.files) {
    for (const std::string& problem : file.problems) context.out.print("{}\n", printable(problem));
  }
  context.out.print("{} {}\n", printable(report.root.native()),
                    report.fits() ? "fits" : "does not fit");
}

ordered_json as_json(const FileReport& file) {
  ordered_json tensors = ordered_json::array();
  for (const TensorInfo& tensor : file.tensors)
    tensors.push_back(
        {{"name", tensor.name}, {"dtype", navtalk::name(tensor.dtype)}, {"shape", tensor.shape}});
  ordered_json object;
  put_path(object, "path", file.path);
  object["what"] = file.what;
  object["needed"] = file.needed;
  object["state"] = navtalk::name(file.state);
  if (file.state == FileState::missing) {
    object["problems"] = file.problems;
    return object;
  }
  object["bytes"] = file.bytes;
  if (!file.sha256.empty()) object["sha256"] = file.sha256;
  if (!file.container.empty()) object["container"] = file.container;
  if (!file.tensors.empty()) {
    object["parameters"] = parameters(file);
    object["dtypes"] = dtypes(file);
    object["tensors"] = std::move(tensors);
  }
  object["missing"] = file.fit.missing;
  object["surplus"] = file.fit.surplus;
  object["mis_shaped"] = file.fit.mis_shaped;
  object["wrong_dtype"] = file.fit.wrong_dtype;
  object["problems"] = file.problems;
  return object;
}

ordered_json as_json(const ModelReport& report) {
  ordered_json files = ordered_json::array();
  for (const FileReport& file : report.files) files.push_back(as_json(file));
  ordered_json object;
  put_path(object, "models", report.root);
  object["fits"] = report.fits();
  object["files"] = std::move(files);
  return object;
}

int check(const Options& options, Context& context) {
  const ModelReport report = check_models(
      options.directory,
      {.read_all = !options.no_hash, .progress = context.progress, .stop = context.stop});
  if (context.json)
    context.out.json(as_json(report));
  else
    print(report, options, context);
  return report.fits() ? 0 : exit_status(Code::invalid);
}

}  // namespace

void add_model_check(Commands& commands) {
  const auto options = std::make_shared<Options>();
  CLI::App& command = commands.add({
      .group = Group::model,
      .name = "check",
      .summary = "Check that a checkpoint folder is complete and fits",
      .examples = "  navtalk model check ~/MuseTalk/models\n"
                  "  navtalk model check --tensors --no-hash ~/MuseTalk/models\n"
                  "  navtalk --json model check ~/MuseTalk/models\n",
      .action = [options](Context& context) { return check(*options, context); },
  });
  command.add_option("directory", options->directory, "MuseTalk's checkpoint folder")
      ->required()
      ->type_name("DIR");
  command.add_flag(
      "--no-hash", options->no_hash,
      "Do not read the weights: no SHA-256 sums, no check for values that are not finite");
  command.add_flag("--tensors", options->tensors, "List every tensor with its dtype and shape");
}

}  // namespace navtalk::cmd
