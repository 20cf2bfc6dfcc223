#include "core/log/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/text/printable.h"
#include "core/text/rfc3339.h"

namespace navtalk::log {
namespace {

// The message arrives as `text NUL name NUL value NUL name NUL value ...`, so that one formatter
// can write the fields as text or as JSON; NUL cannot stand in a log text otherwise.
std::string joined(std::string_view message, Fields fields) {
  std::string text(message.substr(0, message.find('\0')));
  for (const Field& field : fields) {
    text += '\0';
    text += field.name;
    text += '\0';
    text += field.value.substr(0, field.value.find('\0'));
  }
  return text;
}

// The next part of a joined message.
std::string_view take(std::string_view& rest) {
  const std::size_t end = rest.find('\0');
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return part;
}

std::string_view level_word(spdlog::level::level_enum level) {
  return level == spdlog::level::warn    ? "warn"
         : level == spdlog::level::err   ? "error"
         : level == spdlog::level::debug ? "debug"
                                         : "info";
}

class TextFormatter : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& line, spdlog::memory_buf_t& out) override {
    std::string_view rest(line.payload.data(), line.payload.size());
    std::string text = "navtalk: ";
    line.color_range_start = text.size();
    text += level_word(line.level);
    line.color_range_end = text.size();
    text += ": " + printable_text(take(rest));
    while (!rest.empty()) {
      text += " " + printable(take(rest));
      text += "=" + printable(take(rest));
    }
    text += '\n';
    out.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<formatter> clone() const override { return std::make_unique<TextFormatter>(); }
};

class JsonFormatter : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& line, spdlog::memory_buf_t& out) override {
    std::string_view rest(line.payload.data(), line.payload.size());
    nlohmann::ordered_json object = {
        {"time", rfc3339(line.time)}, {"level", level_word(line.level)}, {"message", take(rest)}};
    while (!rest.empty()) {
      const std::string field(take(rest));
      object[field] = take(rest);
    }
    const std::string text =
        object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
    out.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<formatter> clone() const override { return std::make_unique<JsonFormatter>(); }
};

spdlog::level::level_enum parse_level(std::string_view word) {
  for (const std::string_view known : {"trace", "debug", "info", "warn", "error", "off"}) {
    if (word == known) return spdlog::level::from_str(std::string(known));
  }
  throw Error(Code::invalid, "unknown log level '" + printable(word) +
                                 "': use trace, debug, info, warn, error or off");
}

bool parse_json(std::string_view format) {
  if (format == "auto") return isatty(STDERR_FILENO) == 0;
  if (format == "json") return true;
  if (format == "text") return false;
  throw Error(Code::invalid,
              "unknown log format '" + printable(format) + "': use auto, text or json");
}

void write(spdlog::level::level_enum level, std::string_view message, Fields fields) {
  spdlog::logger& logger = *spdlog::default_logger_raw();
  if (logger.should_log(level)) logger.log(level, joined(message, fields));
}

}  // namespace

void start(std::string_view level, std::string_view format, bool colour) {
  const auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>(
      colour ? spdlog::color_mode::always : spdlog::color_mode::never);
  auto logger = std::make_shared<spdlog::logger>("navtalk", sink);
  logger->set_level(parse_level(level));
  if (parse_json(format)) {
    logger->set_formatter(std::make_unique<JsonFormatter>());
  } else {
    logger->set_formatter(std::make_unique<TextFormatter>());
  }
  spdlog::set_default_logger(std::move(logger));
}

void set_level(std::string_view level) {
  spdlog::default_logger_raw()->set_level(parse_level(level));
}

void debug(std::string_view message, Fields fields) {
  write(spdlog::level::debug, message, fields);
}
void info(std::string_view message, Fields fields) { write(spdlog::level::info, message, fields); }
void warn(std::string_view message, Fields fields) { write(spdlog::level::warn, message, fields); }
void error(std::string_view message, Fields fields) { write(spdlog::level::err, message, fields); }

}  // namespace navtalk::log
