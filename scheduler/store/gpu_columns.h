// The one description of the table `gpus`: a column's name, the field that is bound to it and read
// from it, and who writes it. Select, reads, insert, update and the effect of a GpuChange follow
// from the list in gpu_columns.cpp. A new column needs a field of Gpu (and of GpuChange, if callers
// set it), its line in that list, and a migration in both folders. Stateless.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/database/connection.h"
#include "scheduler/pool/gpu.h"
#include "scheduler/pool/pool_store.h"

namespace navtalk {

struct GpuColumn {
  std::string_view name;
  DbValue (*bind)(const Gpu&);  // text is borrowed from the row
  void (*read)(Gpu&, DbRows&, int column);
  bool updated;                            // with every change of the row
  void (*assign)(Gpu&, const GpuChange&);  // what the change says; nullptr: no change sets it
};

std::span<const GpuColumn> gpu_columns();
// "id, name, ...": the list of a SELECT whose rows read_gpu() takes.
const std::string& gpu_column_list();
Gpu read_gpu(DbRows& rows);

}  // namespace navtalk
