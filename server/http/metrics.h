// One answer to a scrape, in Prometheus' text format. Values are read when they are asked for, so
// nothing has to be kept up to date in between.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "server/http/message.h"

namespace navtalk::server {

using MetricLabels = std::map<std::string, std::string>;

class MetricsPage {
 public:
  MetricsPage();
  ~MetricsPage();
  MetricsPage(const MetricsPage&) = delete;
  MetricsPage& operator=(const MetricsPage&) = delete;

  // The same name may come again with other labels. Names follow Prometheus: base units, counters
  // end in _total.
  void gauge(const std::string& name, const std::string& help, double value,
             const MetricLabels& labels = {});
  void counter(const std::string& name, const std::string& help, double value,
               const MetricLabels& labels = {});
  // `counts` has one more than `bounds` (upper ends), for what lies above the last.
  void histogram(const std::string& name, const std::string& help,
                 const std::vector<double>& bounds, const std::vector<double>& counts, double sum);
  Response response() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace navtalk::server
