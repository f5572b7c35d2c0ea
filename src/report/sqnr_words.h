// What a signal to noise of outputs means, for people who do not think in decibels; and how close outputs are
// on other CPUs.
#pragma once

#include <ounce/cpus.h>

#include <string>
#include <vector>

namespace ounce::report {

// "the outputs are off by 1.2 % of their size: answers seldom change"; below Quality::kMinUsable it begins
// with "warning: ". Empty when there is nothing to say: all values are equal, or there is no number.
std::string sqnr_words(double sqnr_db);
// The same of a model that gives labels alone: "1.2 % of the labels changed".
std::string label_words(double sqnr_db);

// "avx2: equal to the bit on 8 samples (shown by this CPU)"; a line each.
std::vector<std::string> cpu_lines(const std::vector<CpuComparison>& cpus);

}  // namespace ounce::report
