#include "cmd/job/job_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <span>

#include "cmd/job/cells.h"
#include "cmd/job/csv_file.h"
#include "cmd/job/folder_list.h"
#include "core/base/interrupt.h"
#include "core/checkpoint/checkpoint.h"
#include "core/files/whole_file.h"
#include "core/process/run.h"
#include "core/process/stream_input.h"
#include "core/text/printable.h"
#include "core/text/suggest.h"

namespace navtalk::cmd {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t k_most_csv_bytes = 256'000'000;
// Columns of a CSV file: infer's options of one video.
constexpr std::array<std::string_view, 15> k_columns = {
    "avatar", "audio", "text", "voice",   "output",    "ssml",    "start",       "duration",
    "fps",    "size",  "crf",  "bitrate", "subtitles", "sharpen", "match-colour"};

fs::path absolute(const fs::path& path, const fs::path& base) {
  return fs::absolute(path.is_absolute() ? path : base / path).lexically_normal();
}

void check_speech(const Cells& cells) {
  const bool audio = cells.contains("audio"), text = cells.contains("text");
  if (!audio && !text) throw Error(Code::invalid, "has neither audio nor text");
  if (audio && text) throw Error(Code::invalid, "has audio and text: leave one of them out");
  if (!cells.contains("output")) throw Error(Code::invalid, "has no output");
  if (cell(cells, "output") == "-" || cell(cells, "audio") == "-")
    throw Error(Code::invalid, "has - for a file: write the file's name");
}

nlohmann::json options_of(const Cells& cells, const InferOptions& options) {
  nlohmann::json object = {{"models", options.models.native()},
                           {"device", options.device},
                           {"precision", options.precision},
                           {"batch", options.batch}};
  if (options.placement.weight_format != "auto")
    object["weight_format"] = options.placement.weight_format;
  for (const auto& [column, value] : cells) {
    if (column != "avatar" && column != "audio" && column != "text" && column != "voice" &&
        column != "output")
      object[column] = value;
  }
  return object;
}

// A recording that was replaced is another one.
std::string key_of(const JobSpec& spec) {
  nlohmann::json object = {{"avatar", spec.avatar}, {"audio", spec.audio},
                           {"text", spec.text},     {"voice", spec.voice},
                           {"output", spec.output}, {"options", spec.options}};
  if (!spec.audio.empty()) {
    object["bytes"] = fs::file_size(spec.audio);
    object["changed"] = fs::last_write_time(spec.audio).time_since_epoch().count();
  }
  const std::string text = object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return sha256(std::as_bytes(std::span(text)));
}

// `inputs`, `outputs`: the folders of relative paths.
void fill(JobRow& row, const Cells& cells, const fs::path& inputs, const fs::path& outputs,
          CellParser& parser, const Context& context) {
  check_speech(cells);
  InferOptions& options = row.options;
  parser.apply(cells, options);
  options.output = absolute(options.output, outputs);
  if (cell(cells, "output").ends_with('/')) options.output /= "";
  if (!options.audio.empty()) options.audio.front() = absolute(options.audio.front(), inputs);
  if (cells.contains("avatar") && options.avatar.find('/') != std::string::npos)
    options.avatar = absolute(options.avatar, inputs).native();
  try {
    check_infer_options(options, context);
    row.spec = {.tenant = k_local_tenant,
                .avatar = fs::absolute(options.avatar_directory).lexically_normal().native(),
                .audio = options.audio.empty() ? "" : options.audio.front().native(),
                .text = options.text,
                .voice = options.voice,
                .output = options.output.native(),
                .options = options_of(cells, options)
                               .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)};
    row.key = key_of(row.spec);
  } catch (const Error& error) {
    throw Error(error.code() == Code::usage ? Code::invalid : error.code(), error.message());
  } catch (const fs::filesystem_error& error) {
    throw Error(Code::failed, error.what());
  }
}

void check_columns(const CsvFile& file, const std::string& name, bool avatar_given) {
  for (const std::string& column : file.columns) {
    if (std::ranges::find(k_columns, column) != k_columns.end()) continue;
    throw Error(Code::invalid, fmt::format("{}: there is no column '{}': the columns are {}", name,
                                           printable(column), fmt::join(k_columns, ", ")));
  }
  const auto needed = [&](bool there, const std::string& what) {
    if (!there) throw Error(Code::invalid, name + ": the heading needs " + what);
  };
  needed(file.column("output").has_value(), "the column output");
  needed(file.column("audio") || file.column("text"), "the column audio or text");
  needed(avatar_given || file.column("avatar"), "the column avatar, or give --avatar");
}

Cells cells_of(const CsvFile& file, const CsvRow& row) {
  if (row.fields.size() != file.columns.size()) {
    throw Error(Code::invalid, fmt::format("has {} fields, the heading {}: put a text with commas "
                                           "into quotes",
                                           row.fields.size(), file.columns.size()));
  }
  Cells cells;
  for (std::size_t i = 0; i < row.fields.size(); ++i) {
    if (!row.fields[i].empty()) cells[file.columns[i]] = row.fields[i];
  }
  return cells;
}

std::string content(const fs::path& file, const std::stop_token& stop) {
  if (is_stream(file)) return content_of(read_stream(file, k_most_csv_bytes, stop));
  const std::vector<std::uint8_t> bytes = read_file(file);
  return {bytes.begin(), bytes.end()};
}

// Before each row.
void step(std::size_t done, std::size_t of, const Context& context) {
  throw_if_stopped(context.stop);
  context.progress("checking", done, of);
}

std::vector<JobRow> rows_of_csv(const JobRunOptions& options, const Context& context) {
  const std::string name = stream_name(options.csv);
  const CsvFile file = parse_csv(content(options.csv, context.stop), name);
  check_columns(file, name, options.avatar_given);
  const fs::path inputs = is_stream(options.csv) ? fs::path() : options.csv.parent_path();
  const fs::path& outputs = options.output_directory.empty() ? inputs : options.output_directory;
  std::vector<JobRow> rows;
  CellParser parser;
  for (const CsvRow& from : file.rows) {
    step(rows.size(), file.rows.size(), context);
    JobRow row{
        .number = from.number, .name = fmt::format("row {}", from.number), .options = options.how};
    try {
      fill(row, cells_of(file, from), inputs, outputs, parser, context);
    } catch (const Error& error) {
      row.error = error;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<JobRow> rows_of_folder(const JobRunOptions& options, const Context& context) {
  std::vector<JobRow> rows;
  CellParser parser;
  const std::vector<fs::path> files = files_of(options.folder);
  for (const fs::path& file : files) {
    step(rows.size(), files.size(), context);
    JobRow row{.name = printable(file.filename().native()), .options = options.how};
    try {
      fill(row, cells_of_file(file, options.how.format), {}, options.output_directory, parser,
           context);
    } catch (const Error& error) {
      row.error = error;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// The first one stays.
void refuse_same_outputs(std::vector<JobRow>& rows, const std::stop_token& stop) {
  std::map<fs::path, std::string> taken;
  for (JobRow& row : rows) {
    throw_if_stopped(stop);
    if (row.error) continue;
    std::error_code error;
    fs::path place = fs::weakly_canonical(row.options.output, error);
    if (error) place = row.options.output;
    const auto [at, fresh] = taken.emplace(place, row.name);
    if (fresh) continue;
    row.error =
        Error(Code::invalid, fmt::format("{} is the output of {} already",
                                         printable(row.options.output.native()), at->second));
  }
}

}  // namespace

std::vector<JobRow> list_job_rows(const JobRunOptions& options, const Context& context) {
  std::vector<JobRow> rows =
      options.csv.empty() ? rows_of_folder(options, context) : rows_of_csv(options, context);
  refuse_same_outputs(rows, context.stop);
  context.clear_progress();
  return rows;
}

}  // namespace navtalk::cmd
