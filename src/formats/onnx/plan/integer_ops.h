// The ops for which the runtime's CPU provider has integer kernels, each described once.
#pragma once

#include <cstddef>
#include <string_view>

#include "formats/onnx/file/model.h"

namespace ounce::plan {

enum class IntegerKind {
  kConv,      // codes and a constant weight in, codes out
  kGemm,      // the same; gives floats too, when nobody wants codes
  kMatMul,    // codes and a constant weight in, floats out: in transformers what follows needs them
  kJoin,      // all inputs are codes, each of its own scale; codes out
  kMap,       // codes in, codes of another scale out
  kMovement,  // codes in, the same codes out
  // Only dynamic:
  kLstm,       // floats in and out, two weights
  kAttention,  // codes and a constant weight in, floats out
};

struct IntegerOp {
  std::string_view op_type;
  IntegerKind kind;
  std::string_view integer_op;  // what it is called in the QOperator dialect …
  std::string_view domain;      // … and where

  bool has_weight() const { return kind <= IntegerKind::kMatMul; }
  bool must_give_codes() const { return kind != IntegerKind::kMatMul && kind != IntegerKind::kGemm; }
  bool may_give_codes() const { return kind != IntegerKind::kMatMul; }
  // How many of a node's inputs are activations.
  std::size_t activations(const onnx::Node& node) const {
    return kind == IntegerKind::kJoin ? node.inputs.size() : 1;
  }
};

// Where all is dynamic, Gemm is split into MatMul and Add beforehand; among static nodes it is still whole.
enum class GemmForm { kSplit, kWhole };

// Null for all others: of static, and of dynamic arithmetic.
const IntegerOp* find_integer_op(const onnx::Node& node);
const IntegerOp* find_dynamic_op(const onnx::Node& node, GemmForm gemm = GemmForm::kSplit);

// An AveragePool with dilations: runtimes turn it into QLinearAveragePool when it stands between codes, and
// then refuse that for its dilations.
bool is_fused_wrongly(const onnx::Node& node);

// Ops that a code's limits stand for when they follow an integer op: Relu, Clip.
bool is_clamp(const onnx::Node& node);

// Ops that people ask about when they stay in floats: those that multiply with weights.
bool is_worth_a_reason(const onnx::Node& node);

}  // namespace ounce::plan
