// Log lines on standard error: text on a terminal, one JSON object a line otherwise. Libraries only
// call the functions below; the program starts the log once. Thread-safe.
#pragma once

#include <initializer_list>
#include <string_view>

namespace navtalk::log {

// "trace", "debug", "info", "warn", "error", "off"; format "auto", "text", "json".
// Error{invalid} for any other word.
void start(std::string_view level, std::string_view format, bool colour);

// From now on; after start(). Error{invalid} for any other word.
void set_level(std::string_view level);

// A name and its value, such as {"session", "17"}; values of secrets never come here.
struct Field {
  std::string_view name, value;
};
using Fields = std::initializer_list<Field>;

void debug(std::string_view message, Fields fields = {});
void info(std::string_view message, Fields fields = {});
void warn(std::string_view message, Fields fields = {});
void error(std::string_view message, Fields fields = {});

}  // namespace navtalk::log
