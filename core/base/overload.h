// Overload{[](A) {...}, [](B) {...}}: one callable of several lambdas, for std::visit.
#pragma once

namespace navtalk {

template <class... Fs>
struct Overload : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Overload(Fs...) -> Overload<Fs...>;  // clang 14 does not deduce it by itself

}  // namespace navtalk
