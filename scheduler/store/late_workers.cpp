#include "scheduler/store/late_workers.h"

#include "scheduler/store/columns.h"
#include "scheduler/store/run_work.h"

namespace navtalk {

void LateWorkers::mark(const std::string& gateway, const std::vector<LeaseId>& late) {
  in_write(*backend_, Durability::relaxed, [&](Transaction& t) {
    t.db.run("UPDATE sessions SET late = 0 WHERE gateway = $1 AND late = 1", {gateway});
    for (const LeaseId& lease : late)
      t.db.run("UPDATE sessions SET late = 1 WHERE lease = $1 AND gateway = $2 AND lane = 1",
               {lease.text, gateway});
  });
}

std::vector<GpuId> late_gpus(Transaction& transaction) {
  const auto rows = transaction.db.query("SELECT DISTINCT gpu FROM sessions WHERE late = 1", {});
  std::vector<GpuId> gpus;
  while (rows->next()) gpus.push_back({column::text(*rows, 0)});
  return gpus;
}

}  // namespace navtalk
