// How many servers a Poisson stream of sessions needs: Erlang's formulas (M/M/N). Pure.
//
//   a = arrival rate x mean session     offered load, in busy slots
//   B(0) = 1,  B(n) = a B(n-1) / (n + a B(n-1))       all busy, arrivals lost
//   C(N)  = B(N) / (1 - a/N (1 - B(N)))               all busy, arrivals wait
#pragma once

namespace navtalk {

// Probability that an arrival finds `servers` busy and has to wait; 1 where the load does not fit.
double erlang_c(int servers, double offered_load);

// Least number of servers with erlang_c <= wait_probability; 0 for no load. O(result).
// wait_probability in (0, 1].
int least_servers(double offered_load, double wait_probability);

// Probability to wait longer than `wait` mean sessions: C exp(-(N - a) wait).
double erlang_wait_longer(int servers, double offered_load, double wait);

}  // namespace navtalk
