// The models that other tools break on (and that real exporters write), small enough to read.
#pragma once

#include <vector>

#include "corpus/storage_case.h"

namespace ounce::test {

std::vector<StorageCase> layer_models();  // one op each, in its awkward forms
std::vector<StorageCase>
scope_models();  // weights in unusual places: Constant nodes, subgraphs, functions, files
std::vector<StorageCase> lookup_models();   // tables
std::vector<StorageCase> number_models();   // values at the edges of what codes can hold
std::vector<StorageCase> version_models();  // opsets, IR versions, element types

}  // namespace ounce::test
