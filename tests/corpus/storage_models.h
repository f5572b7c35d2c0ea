// Small models with structures that real exporters write and on which other tools fail.
#pragma once

#include <vector>

#include "corpus/storage_case.h"

namespace ounce::test {

std::vector<StorageCase> layer_models();  // one op each, in unusual forms
std::vector<StorageCase>
scope_models();  // weights in unusual places: Constant nodes, subgraphs, functions, files
std::vector<StorageCase> lookup_models();   // lookup tables
std::vector<StorageCase> number_models();   // values at the limits of quantized types
std::vector<StorageCase> version_models();  // opsets, IR versions, element types

}  // namespace ounce::test
