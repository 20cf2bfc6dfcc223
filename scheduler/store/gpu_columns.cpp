#include "scheduler/store/gpu_columns.h"

#include <array>

#include "scheduler/store/columns.h"

namespace navtalk {
namespace {

// The field of a row that a path of members leads to: &Gpu::intent, &Intent::owner.
template <auto member, auto... rest, class Row>
auto& field(Row& row) {
  if constexpr (sizeof...(rest) == 0) {
    return row.*member;
  } else {
    return field<rest...>(row.*member);
  }
}

template <auto member, auto... rest>
void assign_field(Gpu& row, const auto& value) {
  if constexpr (sizeof...(rest) == 0) {
    row.*member = value;
  } else {
    field<rest...>(row.*member) = field<rest...>(value);
  }
}

// Written by insert only, or by statements of its own.
template <auto... path>
constexpr GpuColumn fixed(std::string_view name) {
  return {
      .name = name,
      .bind = [](const Gpu& row) { return column::value(field<path...>(row)); },
      .read = [](Gpu& row, DbRows& rows, int at) { column::read(field<path...>(row), rows, at); },
      .updated = false,
      .assign = nullptr};
}

// Written with every change, which decides itself what it becomes.
template <auto... path>
constexpr GpuColumn updated(std::string_view name) {
  GpuColumn column = fixed<path...>(name);
  column.updated = true;
  return column;
}

// Becomes what a change says.
template <auto change_member, auto... path>
constexpr GpuColumn assigned(std::string_view name) {
  GpuColumn column = updated<path...>(name);
  column.assign = [](Gpu& row, const GpuChange& change) {
    if (change.*change_member) assign_field<path...>(row, *(change.*change_member));
  };
  return column;
}

using C = GpuChange;
constexpr std::array k_columns = {
    fixed<&Gpu::id>("id"),
    fixed<&Gpu::name>("name"),
    fixed<&Gpu::source>("source"),
    updated<&Gpu::state>("state"),
    assigned<&C::draining, &Gpu::draining>("draining"),
    fixed<&Gpu::dedicated_to>("dedicated_to"),
    assigned<&C::slots, &Gpu::slots>("slots"),
    fixed<&Gpu::sessions>("sessions"),
    fixed<&Gpu::lent>("lent"),
    assigned<&C::host, &Gpu::host>("host"),
    assigned<&C::device, &Gpu::device>("device"),
    assigned<&C::url, &Gpu::url>("url"),
    assigned<&C::provider_id, &Gpu::provider_id>("provider_id"),
    assigned<&C::usd_per_hour, &Gpu::usd_per_hour>("usd_per_hour"),
    fixed<&Gpu::created_at>("created_at"),
    updated<&Gpu::since>("since"),
    updated<&Gpu::seen_at>("seen_at"),
    updated<&Gpu::misses>("misses"),
    updated<&Gpu::missed_since>("missed_since"),
    assigned<&C::last_error, &Gpu::last_error>("last_error"),
    fixed<&Gpu::reading, &GpuReading::memory_used>("memory_used"),
    fixed<&Gpu::reading, &GpuReading::memory_total>("memory_total"),
    fixed<&Gpu::reading, &GpuReading::load_percent>("load_percent"),
    fixed<&Gpu::reading, &GpuReading::temperature_c>("temperature_c"),
    fixed<&Gpu::reading, &GpuReading::at>("read_at"),
    assigned<&C::reserved_for, &Gpu::reserved_for>("reserved_for"),
    assigned<&C::intent, &Gpu::intent, &Intent::operation>("operation"),
    assigned<&C::intent, &Gpu::intent, &Intent::number>("intent_number"),
    assigned<&C::intent, &Gpu::intent, &Intent::owner>("intent_owner"),
    assigned<&C::intent, &Gpu::intent, &Intent::until>("intent_until"),
    assigned<&C::intent, &Gpu::intent, &Intent::called>("intent_called"),
    assigned<&C::intent, &Gpu::intent, &Intent::since>("intent_since"),
    assigned<&C::intent, &Gpu::intent, &Intent::tries>("intent_tries"),
    assigned<&C::operator_pause, &Gpu::operator_pause>("operator_pause"),
    fixed<&Gpu::epoch>("epoch"),
    updated<&Gpu::version>("version"),
};

}  // namespace

std::span<const GpuColumn> gpu_columns() { return k_columns; }

const std::string& gpu_column_list() {
  static const std::string list = [] {
    std::string names;
    for (const GpuColumn& column : k_columns) {
      if (!names.empty()) names += ", ";
      names += column.name;
    }
    return names;
  }();
  return list;
}

Gpu read_gpu(DbRows& rows) {
  Gpu gpu;
  int at = 0;
  for (const GpuColumn& column : k_columns) column.read(gpu, rows, at++);
  return gpu;
}

}  // namespace navtalk
