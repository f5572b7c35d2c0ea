// The operators of a .tflite model that accelerators of phones and boards take, by their documentation. This
// is not measured: a yes is a hint, and a no is almost certain.
//
//   for (const ProviderHint& hint : accelerator_hints(model, {"edgetpu"})) …
#pragma once

#include <ounce/check.h>

#include <set>
#include <string_view>
#include <vector>

#include "formats/tflite/file/model.h"

namespace ounce::target {

struct AcceleratorOp {
  std::string_view conditions;          // words with commas between them
  std::vector<std::string_view> types;  // of activations; empty: the page's
  std::vector<std::string_view> ops;
};

// One page of documentation.
struct AcceleratorPage {
  std::string_view name, source, note;
  std::vector<std::string_view> types;
  std::size_t rank = 8;  // the most dimensions of a tensor
  std::vector<AcceleratorOp> ops;
};

// Views of `text` are kept. Throws Error{kInternal} for text that is none, with the line.
std::vector<AcceleratorPage> parse_accelerator_pages(std::string_view text);

// Those that this program was built with.
const std::vector<AcceleratorPage>& accelerator_pages();
// Null for accelerators of which nothing was read.
const AcceleratorPage* find_accelerator(std::string_view name);

// Partitions are formed as TFLite's delegates form them: in the order of the graph, as large as possible.
ProviderHint hint_of(const AcceleratorPage& page, const tflite::Model& model);
std::vector<ProviderHint> accelerator_hints(const tflite::Model& model,
                                            const std::set<std::string_view>& names);

}  // namespace ounce::target
