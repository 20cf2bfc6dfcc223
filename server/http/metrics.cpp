#include "server/http/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

namespace navtalk::server {

struct MetricsPage::State {
  // A name that comes again is the same family.
  prometheus::Registry registry{prometheus::Registry::InsertBehavior::Merge};
};

MetricsPage::MetricsPage() : state_(std::make_unique<State>()) {}
MetricsPage::~MetricsPage() = default;

void MetricsPage::gauge(const std::string& name, const std::string& help, double value,
                        const MetricLabels& labels) {
  auto& family = prometheus::BuildGauge().Name(name).Help(help).Register(state_->registry);
  family.Add(labels).Set(value);
}

void MetricsPage::counter(const std::string& name, const std::string& help, double value,
                          const MetricLabels& labels) {
  auto& family = prometheus::BuildCounter().Name(name).Help(help).Register(state_->registry);
  family.Add(labels).Increment(value);
}

void MetricsPage::histogram(const std::string& name, const std::string& help,
                            const std::vector<double>& bounds, const std::vector<double>& counts,
                            double sum) {
  auto& family = prometheus::BuildHistogram().Name(name).Help(help).Register(state_->registry);
  family.Add({}, bounds).ObserveMultiple(counts, sum);
}

Response MetricsPage::response() const {
  return {.body = prometheus::TextSerializer().Serialize(state_->registry.Collect()),
          .content_type = "text/plain; version=0.0.4; charset=utf-8"};
}

}  // namespace navtalk::server
