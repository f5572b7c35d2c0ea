// The operators of a .tflite model that accelerators of phones and boards support according to their
// documentation (not measured). A yes is a hint, a no is almost certain.
//
//   for (const ProviderHint& hint : accelerator_hints(model, {"edgetpu"})) …
#pragma once

#include <ounce/model.h>

#include <set>
#include <string_view>
#include <vector>

#include "formats/tflite/file/model.h"

namespace ounce::target {

struct AcceleratorOp {
  std::string_view conditions;          // separated by commas
  std::vector<std::string_view> types;  // of activations; empty: those of the page
  std::vector<std::string_view> ops;
};

// One page of documentation.
struct AcceleratorPage {
  std::string_view name, source, note;
  std::vector<std::string_view> types;
  std::size_t rank = 8;  // largest number of dimensions of a tensor
  std::vector<AcceleratorOp> ops;
};

// The result refers to `text`. Throws Error{kInternal} with the line that is invalid.
std::vector<AcceleratorPage> parse_accelerator_pages(std::string_view text);

// The pages that are built into this program.
const std::vector<AcceleratorPage>& accelerator_pages();
// Null for unknown accelerators.
const AcceleratorPage* find_accelerator(std::string_view name);

// Counts the operators and partitions that the accelerator takes. Partitions are formed as by TFLite's
// delegates: in graph order, as large as possible.
ProviderHint hint_of(const AcceleratorPage& page, const tflite::Model& model);
std::vector<ProviderHint> accelerator_hints(const tflite::Model& model,
                                            const std::set<std::string_view>& names);

}  // namespace ounce::target
