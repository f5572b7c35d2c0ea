#include "ops/op_info.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace ounce::ops {
namespace {

std::string label(const OpInfo& row) {
  return std::string(name_of(row.domain)) + ":" + std::string(row.name);
}

TEST(OpInfo, FindsEachRowByItsNames) {
  for (const OpInfo& row : rows()) EXPECT_EQ(find_op(name_of(row.domain), row.name), row.op) << label(row);
  EXPECT_EQ(find_op("", "Conv"), Op::kConv);
  EXPECT_EQ(find_op("ai.onnx", "Conv"), Op::kConv);
  EXPECT_EQ(find_op("com.microsoft", "Attention"), Op::kContribAttention);
}

TEST(OpInfo, KnowsNothingOfOtherOps) {
  for (const auto& [domain, name] :
       {std::pair("com.example", "Conv"), std::pair("com.microsoft", "Conv"), std::pair("", "QGemm"),
        std::pair("", "conv"), std::pair("", ""), std::pair("ai.onnx.ml", "LinearRegressor")})
    EXPECT_EQ(find_op(domain, name), Op::kUnknown) << domain << ' ' << name;
  EXPECT_EQ(find_op("Convolution"), Op::kUnknown);
  const OpInfo& unknown = info(Op::kUnknown);
  EXPECT_EQ(unknown.shape, Shape::kUnknown);
  EXPECT_EQ(unknown.flow, Flow::kComputes);
  EXPECT_FALSE(unknown.static8.has_kernel() || unknown.dynamic8.has_kernel());
  EXPECT_FALSE(unknown.weight(1) || unknown.moves_weight(0));
}

TEST(OpInfo, FindsAnOpOfAnyDomain) {
  EXPECT_EQ(find_op("QAttention"), Op::kQAttention);
  EXPECT_EQ(find_op("Attention"), Op::kAttention);
}

// A missing cost would make an op appear to take no time.
TEST(OpInfo, EachOpWithAnInt8KernelHasACostOrOnlyMovesValues) {
  for (const OpInfo& row : rows()) {
    const IntegerKind kind = row.static8.kind;
    if (kind == IntegerKind::kJoin || kind == IntegerKind::kMap) {
      EXPECT_TRUE(row.cost.is_measured()) << label(row);
    }
    if (kind == IntegerKind::kMovement) {
      EXPECT_TRUE(row.op == row.static8.op) << label(row);
    }
    if (row.cost.is_measured()) {
      EXPECT_GT(row.cost.int8, 0) << label(row);
    }
  }
}

TEST(OpInfo, EachIntegerFormNamesAQuantizedOrUnchangedOp) {
  for (const OpInfo& row : rows()) {
    for (const IntegerForm& form : {row.static8, row.dynamic8}) {
      EXPECT_EQ(form.has_kernel(), form.op != Op::kUnknown) << label(row);
      if (form.has_kernel() && form.op != row.op) {
        EXPECT_TRUE(info(form.op).is_quantized()) << label(row);
      }
    }
  }
}

TEST(OpInfo, EachOpWithAWeightInInt8NamesIt) {
  for (const OpInfo& row : rows()) {
    for (const IntegerForm& form : {row.static8, row.dynamic8}) {
      if (!form.has_kernel() || form.kind == IntegerKind::kJoin || form.kind == IntegerKind::kMap ||
          form.kind == IntegerKind::kMovement)
        continue;
      EXPECT_TRUE(row.weight(1)) << label(row);
      EXPECT_NE(row.pairs, ProductPairs::kNone) << label(row);
    }
  }
}

TEST(OpInfo, EachQuantizedOpNamesItsQuantizedInputs) {
  for (const OpInfo& row : rows()) {
    const bool takes_floats = row.op == Op::kDynamicQuantizeLinear;
    const bool has_one = row.quantized[0].input != QuantizedInput::kNone;
    EXPECT_EQ(has_one, row.is_quantized() && !takes_floats) << label(row);
  }
}

// A model with one of these is already quantized.
TEST(OpInfo, OpsOfQuantizedModelsAreKnown) {
  for (const char* op : {"DynamicQuantizeLSTM", "DynamicQuantizeMatMul", "GatherBlockQuantized", "MatMulBnb4",
                         "MatMulInteger16", "MatMulIntegerToFloat", "MatMulNBits", "QAttention",
                         "QEmbedLayerNormalization", "QGemm", "QLinearAveragePool", "QLinearConcat",
                         "QLinearSoftmax", "QLinearWhere", "QMoE", "QOrderedMatMul"}) {
    EXPECT_TRUE(info(find_op("com.microsoft", op)).is_quantized()) << op;
    EXPECT_FALSE(info(find_op("elsewhere", op)).is_quantized_or_converts()) << op;
  }
  for (const char* op :
       {"ConvInteger", "DynamicQuantizeLinear", "MatMulInteger", "QLinearConv", "QLinearMatMul"})
    EXPECT_TRUE(info(find_op("", op)).is_quantized()) << op;
  for (const Op op : {Op::kQuantizeLinear, Op::kDequantizeLinear}) {
    EXPECT_TRUE(info(op).is_quantized_or_converts());
    EXPECT_FALSE(info(op).is_quantized());
  }
  EXPECT_FALSE(info(Op::kMatMul).is_quantized_or_converts());
}

TEST(OpInfo, ProductsOfIntegersMultiplyWithWeights) {
  EXPECT_EQ(info(Op::kQLinearConv).op_class, Class::kIntegerProduct);
  EXPECT_EQ(info(Op::kMatMulIntegerToFloat).op_class, Class::kIntegerProduct);
  EXPECT_EQ(info(Op::kQLinearAdd).op_class, Class::kQuantized);   // has no weight
  EXPECT_EQ(info(Op::kMatMulNBits).op_class, Class::kQuantized);  // dequantizes, and multiplies floats
}

TEST(OpInfo, WeightsThatSaturateHaveAKnownOrder) {
  for (const OpInfo& row : rows()) {
    for (const QuantizedInput& input : row.quantized) {
      if (input.saturates) {
        EXPECT_NE(row.pairs, ProductPairs::kNone) << label(row);
      }
    }
  }
}

TEST(OpInfo, ConstantInputsAreNamedOnce) {
  for (const OpInfo& row : rows()) {
    std::set<int> seen;
    for (const ConstantInput& constant : row.constants) {
      if (constant.role != Role::kNone) {
        EXPECT_TRUE(seen.insert(constant.input).second) << label(row);
      }
    }
  }
}

TEST(OpInfo, OpsThatMoveWeightsMoveValues) {
  for (const OpInfo& row : rows()) {
    if (row.moves_weights) {
      EXPECT_EQ(row.flow, Flow::kMoves) << label(row);
    }
  }
}

}  // namespace
}  // namespace ounce::ops
