// The standard normal distribution. Pure.
#pragma once

namespace navtalk {

// P(Z <= z).
double normal_below(double z);
// The z with P(Z <= z) = p, p in (0, 1); absolute error below 1e-8.
double normal_quantile(double p);

}  // namespace navtalk
