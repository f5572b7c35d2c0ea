#include "formats/onnx/plan/op_table.h"

#include <gmock/gmock.h>

namespace ounce::plan {
namespace {

onnx::Node node_of(std::string_view op_type, std::string_view domain) {
  onnx::Node node;
  node.set_op(domain, op_type);
  return node;
}

// One list for the plan and for what is said of a model.
TEST(OpTable, EveryIntegerOpIsAQuantizedOp) {
  for (const char* op : {"DynamicQuantizeLSTM", "DynamicQuantizeMatMul", "GatherBlockQuantized", "MatMulBnb4",
                         "MatMulInteger16", "MatMulIntegerToFloat", "MatMulNBits", "QAttention",
                         "QEmbedLayerNormalization", "QGemm", "QLinearAveragePool", "QLinearConcat",
                         "QLinearSoftmax", "QLinearWhere", "QMoE", "QOrderedMatMul"}) {
    EXPECT_TRUE(is_integer_op(node_of(op, onnx::kContrib))) << op;
    EXPECT_TRUE(is_quantized_op(node_of(op, onnx::kContrib))) << op;
    EXPECT_FALSE(is_quantized_op(node_of(op, "elsewhere"))) << op;
  }
  for (const char* op :
       {"ConvInteger", "DynamicQuantizeLinear", "MatMulInteger", "QLinearConv", "QLinearMatMul"})
    EXPECT_TRUE(is_quantized_op(node_of(op, ""))) << op;
}

TEST(OpTable, CodingAndDecodingIsNoIntegerOp) {
  for (const char* op : {"QuantizeLinear", "DequantizeLinear"}) {
    EXPECT_TRUE(is_quantized_op(node_of(op, "")));
    EXPECT_FALSE(is_integer_op(node_of(op, "")));
  }
  EXPECT_FALSE(is_quantized_op(node_of("MatMul", "")));
}

TEST(OpTable, ProductsOfIntegersAreAmongThem) {
  EXPECT_TRUE(is_integer_product("QLinearConv"));
  EXPECT_TRUE(is_integer_product("MatMulIntegerToFloat"));
  EXPECT_FALSE(is_integer_product("QLinearAdd"));   // no weight
  EXPECT_FALSE(is_integer_product("MatMulNBits"));  // decodes, and multiplies floats
}

}  // namespace
}  // namespace ounce::plan
