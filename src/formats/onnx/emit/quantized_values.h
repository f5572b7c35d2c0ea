// The activations of a plan as codes: each is coded once, where it comes from, and decoded for those who want
// floats.
#pragma once

#include <map>

#include "formats/onnx/edit/body_editor.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/plan/integer_plan.h"

namespace ounce::passes {

class CodedValues {
 public:
  // Adds QuantizeLinear for all values of the plan that do not come as codes, and DequantizeLinear where
  // floats are wanted of values that do. `makes_codes`: integer nodes give codes (QOperator), rather than
  // floats that are then coded (Q/DQ).
  CodedValues(Editors& editors, const graph::Index& index, const plan::IntegerPlan& plan,
              bool makes_codes = false);

  // What a node that gives codes is to call its output.
  Bytes floats_behind(const plan::NodeDecision& decision) const;
  Bytes codes(std::size_t body, Bytes name) const;
  // Floats for the node at `place` alone.
  Bytes decode(std::size_t body, Bytes name, std::size_t place);

  // The codes of a single number that is taken beside codes, and floats of them for the node at `place`;
  // nothing for other values.
  const plan::NumberCode* number(std::size_t body, Bytes name) const;
  Bytes codes(std::size_t body, Bytes name, const plan::NumberCode& number);
  Bytes decode(std::size_t body, Bytes name, const plan::NumberCode& number, std::size_t place);

  // The scale and the zero of a value, as constants.
  Bytes scale(std::size_t body, const plan::Coding& coding);
  Bytes zero(std::size_t body, const plan::Coding& coding);
  const plan::Coding& coding(std::size_t body, Bytes name) const;

 private:
  struct Coded {
    const plan::Coding* coding = nullptr;
    Bytes codes, floats;
    std::size_t maker = graph::kNone;  // the integer node that gives it
    Coded* read_from = nullptr;        // whose codes these are, read otherwise
  };
  plan::ValueKey key_of(std::size_t body, Bytes name) const;
  bool has_float_uses(const plan::ValueKey& key) const;
  void add_coding(const plan::ValueKey& key, Coded& coded, bool makes_codes);
  void add_reading(const plan::ValueKey& key, Coded& coded);
  Bytes floats_of_raw(const plan::IntegerPort& port);
  void add(std::size_t body, std::size_t place, Op op, Bytes from, const plan::Coding& coding, Bytes to);

  Editors& editors_;
  const graph::Index& index_;
  const plan::IntegerPlan& plan_;
  std::map<plan::ValueKey, const plan::IntegerPort*> ports_;
  std::map<plan::ValueKey, Coded> values_;
  std::map<std::pair<std::size_t, std::size_t>, const plan::NodeDecision*> integer_nodes_;
};

}  // namespace ounce::passes
