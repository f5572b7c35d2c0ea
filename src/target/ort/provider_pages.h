// The pages of documentation that were read about execution providers: provider_pages.txt, which says how it
// is written.
#pragma once

#include <string_view>
#include <vector>

namespace ounce::target {

struct ProviderOp {
  std::vector<std::string_view> op_types;
  std::string_view condition;  // words with commas between them: "2-D windows, constant weights"
  std::string_view types;      // of the first input, in the letters of op_schemas.h; "": the page's
  std::string_view domain;
};

// One page of documentation.
struct ProviderPage {
  std::string_view provider;
  std::string_view source;  // the page, what it is about, and when it was written
  std::string_view note;    // what concerns the whole model; may be empty
  std::string_view types;   // of first inputs; '*' is any type
  bool needs_fixed_shapes = false;
  bool enters_bodies = false;        // the nodes inside of If, Loop and Scan too
  bool takes_quantized_ops = false;  // DequantizeLinear and QuantizeLinear with the op between them
  bool is_node_by_node = false;      // its nodes are kernels like the CPU's: no partitions are compiled
  std::vector<ProviderOp> ops;
};

// Views of `text` are kept. Throws Error{kInternal} for text that is none, with the line.
std::vector<ProviderPage> parse_provider_pages(std::string_view text);

// Those that this program was built with. "coreml" makes models of the kind NeuralNetwork, as the runtime
// does unless it is told otherwise; "coreml-mlprogram" is the other kind. "qnn" is its HTP backend.
const std::vector<ProviderPage>& provider_pages();
// Null for providers of which nothing was read.
const ProviderPage* find_provider_page(std::string_view provider);

}  // namespace ounce::target
