// The methods that are tried on a model: which, in which order, at what cost, and what became of its nodes.
#pragma once

#include <ounce/advise.h>

#include <string>
#include <vector>

namespace ounce::search {

// In the order of expected use for the family: when the time is up, the least likely ones have not been
// tried.
std::vector<Format> methods_for(const AdviseOptions& options, const FamilyFinding& family);

// What a method costs to make, as a multiple of w8; without looking at data.
double effort(Format format);

// Why a method is not even tried; empty when it is.
std::string obstacle(Format format, const AdviseOptions& options, const FamilyFinding& family);

// Fills in what became of the bytes and the nodes. Integer arithmetic that reached no node is not worth
// measuring: then `why_not` says so.
void describe(const QuantizeResult& made, MethodFinding& finding);

}  // namespace ounce::search
