// What execution providers take of a model, by their documentation: read, not measured.
//
//   const ProviderDocs docs(*find_provider_page("qnn"), model, index, types);
//   std::string why_not;
//   if (!docs.documents(0, 12, why_not)) …                    // "only with constant weights"
//
// A condition speaks against a node only where the file shows that it is not met: shapes that nobody declares
// and types that nobody knows are given the benefit of the doubt, and so are the many conditions that no
// documentation mentions. So a yes is a hint, a no is nearly certain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/element_types.h"
#include "formats/onnx/graph/index.h"

namespace ounce::target {

// The pages of documentation that were read about execution providers: provider_pages.txt, which says how it
// is written.

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

// What a page means for one model. Everything must outlive it.
class ProviderDocs {
 public:
  ProviderDocs(const ProviderPage& page, const onnx::Model& model, const graph::Index& index,
               const graph::ElementTypes& types);

  const ProviderPage& page() const { return page_; }
  const graph::Index& index() const { return index_; }

  // Would the provider take this node? Otherwise the first reason why not, in a few words.
  bool documents(std::size_t body, std::size_t position, std::string& why_not) const;

  // Is this value known before the model runs? The runtime computes from constants what it can.
  bool is_constant(std::size_t body, graph::Bytes name) const;
  // Is the whole node done before the model runs? Then nobody takes it. A DequantizeLinear never is: it stays
  // with the op behind it.
  bool is_folded(std::size_t body, std::size_t position) const;

 private:
  friend class NodeView;
  struct Fact {
    bool is_constant = false;
    bool is_varying = false;  // its shape is not the same in every run
    bool is_declared = false;
    std::optional<std::vector<std::int64_t>> shape;  // -1 where a dimension is not known
  };

  void read_declarations(std::size_t body);
  void follow_nodes(std::size_t body);
  std::optional<std::vector<std::int64_t>> shape_after(std::size_t body, const onnx::Node& node) const;
  const Fact& fact(std::size_t body, graph::Bytes name) const;
  const ProviderOp* find(const onnx::Node& node) const;
  bool belongs_to_quantized_op(std::size_t body, std::size_t position) const;

  const ProviderPage& page_;
  const onnx::Model& model_;
  const graph::Index& index_;
  const graph::ElementTypes& types_;
  std::unordered_map<std::string, const ProviderOp*> ops_;
  std::unordered_map<const graph::Value*, Fact> facts_;
};

}  // namespace ounce::target
