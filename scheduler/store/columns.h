// How values of the pool stand in columns: times and durations as microseconds, enumerations as
// their codes, unsigned numbers as signed ones. Stateless.
#pragma once

#include <concepts>
#include <optional>
#include <string>

#include "core/base/id.h"
#include "core/base/time.h"
#include "core/database/connection.h"

namespace navtalk::column {

inline std::int64_t of(TimePoint time) { return time.time_since_epoch().count(); }
inline std::int64_t of(Duration duration) { return duration.count(); }
template <class T>
requires std::integral<T> || std::is_enum_v<T> std::int64_t of(T number) {
  return static_cast<std::int64_t>(number);
}
template <class T>
DbValue of(const std::optional<T>& value) {
  return value ? DbValue(of(*value)) : DbValue(std::monostate());
}

inline TimePoint time(DbRows& rows, int at) { return TimePoint(Duration(rows.integer(at))); }
inline Duration duration(DbRows& rows, int at) { return Duration(rows.integer(at)); }
inline std::string text(DbRows& rows, int at) { return std::string(rows.text(at)); }
template <class T>
T number(DbRows& rows, int at) {
  return static_cast<T>(rows.integer(at));
}
template <class T>
std::optional<T> maybe(DbRows& rows, int at) {
  if (rows.null(at)) return std::nullopt;
  if constexpr (std::is_same_v<T, TimePoint>) {
    return time(rows, at);
  } else {
    return T(rows.integer(at));
  }
}

// A field as its column holds it; text is borrowed from the field.
inline DbValue value(const std::string& text) { return std::string_view(text); }
template <class Tag>
DbValue value(const Id<Tag>& id) {
  return std::string_view(id.text);
}
inline DbValue value(double number) { return number; }
template <class T>
requires requires(const T& field) { of(field); }
DbValue value(const T& field) { return of(field); }

// And back.
template <class T>
void read(T& field, DbRows& rows, int at) {
  if constexpr (std::is_same_v<T, std::string>) {
    field = text(rows, at);
  } else if constexpr (std::is_same_v<T, double>) {
    field = rows.real(at);
  } else if constexpr (std::is_same_v<T, TimePoint>) {
    field = time(rows, at);
  } else if constexpr (requires { field.has_value(); }) {
    field = maybe<typename T::value_type>(rows, at);
  } else if constexpr (requires { field.text; }) {
    field.text = text(rows, at);
  } else {
    field = number<T>(rows, at);
  }
}

}  // namespace navtalk::column
