// Several clouds as the pool's one source of cloud GPUs. A create goes to the preferred cloud and, where
// that has no capacity or refuses, to the next one. Every other call goes to the cloud whose id the row
// has. Thread-safe where the clouds are.
//
//   create answers at one cloud            then
//   no capacity, or refused                the next cloud is asked
//   done, failed, or an unknown outcome    that is the answer: an instance may exist there
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "scheduler/pool/origin.h"
#include "scheduler/provision/provider.h"

namespace navtalk {

struct OneCloud {
  Origin origin;
  std::unique_ptr<Provider> provider;
};

class SeveralClouds : public Provider {
 public:
  // `clouds`: at least one, preferred first. `cheapest_first`: the price that each expects decides at
  // every create, and their order only between equal prices; one that expects none is the last.
  // `closed`: is nothing to be created at that cloud now, for a maintenance window? None: never. Thread-safe.
  SeveralClouds(std::vector<OneCloud> clouds, bool cheapest_first,
                std::function<bool(Origin)> closed = {});

  Source source() const override { return Source::cloud; }
  Outcome create(const Gpu& gpu, const std::stop_token& stop) override;
  Outcome wake(const Gpu& gpu, const std::stop_token& stop) override;
  Outcome pause(const Gpu& gpu, const std::stop_token& stop) override;
  // Without an id at every cloud, whatever the others answer: the answer to its create may have been
  // lost. Then the first answer that is not Done is the answer.
  Outcome destroy(const Gpu& gpu, const std::stop_token& stop) override;
  // Complete when every cloud's list is; without those whose list is not.
  Listing list(const std::stop_token& stop) override;
  Lookup find(const Gpu& gpu, const std::stop_token& stop) override;
  void attend(const std::vector<Gpu>& gpus, const std::stop_token& stop) override;
  bool changed() override;
  std::string place(const Gpu& gpu) const override;
  int creatable(const std::vector<Gpu>& existing) const override;
  // Of the cloud that the next create asks first.
  double expected_usd_per_hour() const override;

 private:
  std::vector<const OneCloud*> in_order() const;
  bool is_closed(const OneCloud& cloud) const;
  const OneCloud* cloud_of(const Gpu& gpu) const;

  std::vector<OneCloud> clouds_;
  bool cheapest_first_;
  std::function<bool(Origin)> closed_;
};

}  // namespace navtalk
