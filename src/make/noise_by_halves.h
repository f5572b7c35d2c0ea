// Which of many pieces bring the noise? Asked one by one, it takes as many questions as there are pieces. But
// most models have few bad places, and what is close in a graph is often bad together: so the whole is cut
// into halves, and those again that are noisy.
//
//   a b c d e f g h        all: 0.4
//   a b c d │ e f g h      0.00002 │ 0.4      the left half needs no more questions
//             e f │ g h    0.4 │ 0.00001
//             e │ f        0.4 │ 0.00001      it is e
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace ounce::make {

struct HalvingQuestions {
  std::function<double(std::size_t first, std::size_t count)> noise;  // that these bring, without the others
  std::function<bool()> may_go_on = [] { return true; };              // asked before each of them
};

// The noise of each of `count` pieces, which bring `all` together. Pieces that bring no more than their share
// of `harmless` together are not told apart, nor those that there was no time for: each gets its part.
std::vector<double> noise_by_halves(std::size_t count, double all, double harmless,
                                    const HalvingQuestions& ask);

}  // namespace ounce::make
