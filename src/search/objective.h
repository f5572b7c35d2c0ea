// What a search is for: which of two models is the better one, and which are on the front that nothing beats.
#pragma once

#include <ounce/tune.h>

#include <vector>

namespace ounce::search {

// By more than two contests of the same model may differ; for memory, by more than may be given away for it.
// An unreliable timing shows nothing: only where the objective is memory does a model have to prove its
// speed.
bool is_slower(const SpeedUp& speed, Objective objective = Objective::kBalanced);

// Is it smaller than the original, or faster, or does it take less memory?
bool gains(const TuneTrial& trial);

// May it be the answer? It passed, is not slower than the original, and gains something.
bool is_eligible(const TuneTrial& trial);

// Differences that a timing cannot show do not count: of two that are equally good for the objective, the one
// with the better quality is better.
bool is_better(const TuneTrial& a, const TuneTrial& b, Objective objective);

// Smaller is better: time × bytes, time, bytes, or memory at load, as shares of the original's. Balanced is
// who gains both ways: what is not faster than the original counts twice, so that the smallest storage does
// not win over models that are nearly as small and fast.
double cost_of(const TuneTrial& trial, Objective objective);

// Marks the trials that no other eligible one beats in bytes, time and quality at once, and of the eligible
// ones the smallest, the fastest and the closest (the first where several are).
void mark_front(std::vector<TuneTrial>& trials);

}  // namespace ounce::search
