// Tests operations on small arrays, with results computed by hand.
#include <gtest/gtest.h>
#include <ounce/error.h>

#include <cmath>

#include "runtime/mil/call.h"

namespace ounce::mil {
namespace {

ArrayPtr floats(Dims dims, std::vector<float> values) {
  Array array = Array::floats(ElementType::kFloat, std::move(dims));
  EXPECT_EQ(array.f.size(), values.size());
  array.f = std::move(values);
  return std::make_shared<const Array>(std::move(array));
}

ArrayPtr integers(Dims dims, std::vector<std::int32_t> values) {
  Array array = Array::integers(ElementType::kInt32, std::move(dims));
  EXPECT_EQ(array.i.size(), values.size());
  array.i = std::move(values);
  return std::make_shared<const Array>(std::move(array));
}

ArrayPtr list(std::vector<std::int32_t> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return integers({count}, std::move(values));
}

ArrayPtr text(std::string value) {
  Array array;
  array.type = ElementType::kString;
  array.text = std::move(value);
  return std::make_shared<const Array>(std::move(array));
}

std::vector<float> counting(std::size_t count, float first = 0) {
  std::vector<float> values(count);
  for (std::size_t at = 0; at < count; ++at) values[at] = first + static_cast<float>(at);
  return values;
}

using Inputs = std::map<std::string, std::vector<ArrayPtr>, std::less<>>;

std::vector<Array> call_all(const char* type, Inputs inputs) {
  const Function function = find_operation(type);
  if (function == nullptr) throw std::runtime_error(std::string("unknown operation ") + type);
  Call call;
  call.type = type;
  call.name = "y";
  call.inputs = std::move(inputs);
  return function(call);
}

Array call(const char* type, Inputs inputs) { return call_all(type, std::move(inputs)).at(0); }

void expect_near(const Array& found, const Dims& dims, const std::vector<float>& values,
                 float error = 1e-6F) {
  EXPECT_EQ(found.dims, dims);
  ASSERT_EQ(found.f.size(), values.size());
  for (std::size_t at = 0; at < values.size(); ++at) EXPECT_NEAR(found.f[at], values[at], error) << at;
}

TEST(MilOperations, ArithmeticRepeatsDimensionsOfOne) {
  expect_near(call("add", {{"x", {floats({2, 1}, {1, 2})}}, {"y", {floats({3}, {10, 20, 30})}}}), {2, 3},
              {11, 21, 31, 12, 22, 32});
  expect_near(call("sub", {{"x", {floats({}, {1})}}, {"y", {floats({2}, {3, 5})}}}), {2}, {-2, -4});
  expect_near(call("maximum", {{"x", {floats({2}, {1, 4})}}, {"y", {floats({2}, {3, 2})}}}), {2}, {3, 4});
  EXPECT_EQ(call("floor_div", {{"x", {list({-7, 7, 1})}}, {"y", {list({2, 2, 0})}}}).i,
            (std::vector<std::int32_t>{-4, 3, 0}));
  EXPECT_EQ(call("less", {{"x", {list({1, 5})}}, {"y", {list({3, 3})}}}).i,
            (std::vector<std::int32_t>{1, 0}));
  EXPECT_THROW(call("add", {{"x", {floats({2}, {1, 2})}}, {"y", {floats({3}, {1, 2, 3})}}}), Error);
  EXPECT_THROW(call("add", {{"x", {floats({1}, {1})}}}), Error);
}

TEST(MilOperations, ActivationsHaveTheirValues) {
  const ArrayPtr x = floats({4}, {-2, -0.5F, 0, 3});
  expect_near(call("relu", {{"x", {x}}}), {4}, {0, 0, 0, 3});
  expect_near(call("leaky_relu", {{"x", {x}}, {"alpha", {floats({}, {0.1F})}}}), {4}, {-0.2F, -0.05F, 0, 3});
  expect_near(call("sigmoid", {{"x", {x}}}), {4}, {0.1192029F, 0.3775407F, 0.5F, 0.9525741F});
  expect_near(call("silu", {{"x", {x}}}), {4}, {-0.2384058F, -0.1887703F, 0, 2.8577224F});
  expect_near(call("gelu", {{"x", {x}}}), {4}, {-0.0455003F, -0.1542688F, 0, 2.9959502F});
  expect_near(call("gelu", {{"x", {x}}, {"mode", {text("TANH_APPROXIMATION")}}}), {4},
              {-0.0454023F, -0.1542860F, 0, 2.9963627F});
  expect_near(
      call("sigmoid_hard", {{"x", {x}}, {"alpha", {floats({}, {0.5F})}}, {"beta", {floats({}, {0.5F})}}}),
      {4}, {0, 0.25F, 0.5F, 1});
  expect_near(
      call("prelu", {{"x", {floats({1, 2, 2}, {-1, 1, -2, 2})}}, {"alpha", {floats({2}, {0.5F, 0.25F})}}}),
      {1, 2, 2}, {-0.5F, 1, -0.5F, 2});
  expect_near(call("softmax", {{"x", {floats({2, 2}, {0, 0, 1000, 0})}}, {"axis", {list({-1})}}}), {2, 2},
              {0.5F, 0.5F, 1, 0});
}

TEST(MilOperations, ConvolutionsAddUpWindows) {
  const ArrayPtr image = floats({1, 1, 3, 3}, counting(9, 1));
  expect_near(
      call("conv",
           {{"x", {image}}, {"weight", {floats({1, 1, 2, 2}, {1, 0, 0, 1})}}, {"pad_type", {text("valid")}}}),
      {1, 1, 2, 2}, {6, 8, 12, 14});
  expect_near(call("conv", {{"x", {image}},
                            {"weight", {floats({1, 1, 3, 3}, std::vector<float>(9, 1))}},
                            {"bias", {floats({1}, {100})}},
                            {"strides", {list({2, 2})}},
                            {"pad_type", {text("custom")}},
                            {"pad", {list({1, 1, 1, 1})}}}),
              {1, 1, 2, 2}, {112, 116, 124, 128});
  // "same" puts the odd row of padding at the end; same_lower puts it at the beginning.
  const ArrayPtr line = floats({1, 1, 4}, {1, 2, 3, 4});
  const ArrayPtr pair = floats({1, 1, 2}, {1, 1});
  expect_near(call("conv", {{"x", {line}}, {"weight", {pair}}, {"pad_type", {text("same")}}}), {1, 1, 4},
              {3, 5, 7, 4});
  expect_near(call("conv", {{"x", {line}}, {"weight", {pair}}, {"pad_type", {text("same_lower")}}}),
              {1, 1, 4}, {1, 3, 5, 7});
  // Groups: each output sees its own input.
  expect_near(call("conv", {{"x", {floats({1, 2, 2}, {1, 2, 3, 4})}},
                            {"weight", {floats({2, 1, 1}, {10, 100})}},
                            {"groups", {list({2})}}}),
              {1, 2, 2}, {10, 20, 300, 400});
  expect_near(call("conv", {{"x", {line}}, {"weight", {pair}}, {"dilations", {list({2})}}}), {1, 1, 2},
              {4, 6});
  EXPECT_THROW(call("conv", {{"x", {line}}, {"weight", {floats({1, 2, 1}, {1, 1})}}}), Error);
  EXPECT_THROW(call("conv", {{"x", {line}}, {"weight", {pair}}, {"strides", {list({0})}}}), Error);
}

TEST(MilOperations, ATransposedConvolutionSpreadsItsInput) {
  expect_near(call("conv_transpose", {{"x", {floats({1, 1, 2}, {1, 10})}},
                                      {"weight", {floats({1, 1, 3}, {1, 2, 3})}},
                                      {"strides", {list({2})}}}),
              {1, 1, 5}, {1, 2, 13, 20, 30});
  expect_near(call("conv_transpose", {{"x", {floats({1, 1, 2}, {1, 10})}},
                                      {"weight", {floats({1, 1, 3}, {1, 2, 3})}},
                                      {"strides", {list({2})}},
                                      {"pad_type", {text("custom")}},
                                      {"pad", {list({1, 0})}}}),
              {1, 1, 4}, {2, 13, 20, 30});
}

TEST(MilOperations, PoolsIgnoreOrCountTheirPadding) {
  const ArrayPtr line = floats({1, 1, 3}, {3, 5, 7});
  const Inputs padded = {{"x", {line}},
                         {"kernel_sizes", {list({2})}},
                         {"strides", {list({2})}},
                         {"pad_type", {text("custom")}},
                         {"pad", {list({1, 0})}}};
  expect_near(call("avg_pool", padded), {1, 1, 2}, {1.5F, 6});
  Inputs excluded = padded;
  excluded["exclude_padding_from_average"] = {list({1})};
  expect_near(call("avg_pool", excluded), {1, 1, 2}, {3, 6});
  expect_near(call("max_pool", padded), {1, 1, 2}, {3, 7});
  expect_near(call("max_pool", {{"x", {line}},
                                {"kernel_sizes", {list({2})}},
                                {"strides", {list({2})}},
                                {"ceil_mode", {list({1})}}}),
              {1, 1, 2}, {5, 7});
}

TEST(MilOperations, HostilePaddingAndWindowsAreBounded) {
  const ArrayPtr image = floats({1, 1, 1, 1, 1}, {5});
  const ArrayPtr huge = list(std::vector<std::int32_t>(6, 1 << 24));
  EXPECT_THROW(call("conv", {{"x", {image}},
                             {"weight", {floats({1, 1, 1, 1, 1}, {1})}},
                             {"pad_type", {text("custom")}},
                             {"pad", {huge}}}),
               Error);
  const Array mean = call("avg_pool", {{"x", {image}},
                                       {"kernel_sizes", {list({1 << 24, 1 << 24, 1 << 24})}},
                                       {"strides", {list({1 << 24, 1 << 24, 1 << 24})}},
                                       {"pad_type", {text("custom")}},
                                       {"pad", {huge}}});
  EXPECT_EQ(mean.f.back(), std::ldexp(5.0F, -72));  // one value in a window of 2^72
}

TEST(MilOperations, ProductsOfMatrices) {
  expect_near(call("linear", {{"x", {floats({1, 2}, {1, 2})}},
                              {"weight", {floats({3, 2}, {1, 0, 0, 1, 1, 1})}},
                              {"bias", {floats({3}, {0, 0, 10})}}}),
              {1, 3}, {1, 2, 13});
  expect_near(call("matmul", {{"x", {floats({2, 2}, {1, 2, 3, 4})}},
                              {"y", {floats({2, 2}, {0, 1, 1, 0})}},
                              {"transpose_x", {list({1})}}}),
              {2, 2}, {3, 1, 4, 2});
  expect_near(call("matmul", {{"x", {floats({2}, {1, 2})}}, {"y", {floats({2, 1}, {3, 4})}}}), {1}, {11});
  expect_near(call("einsum", {{"values", {floats({2, 2}, {1, 2, 3, 4}), floats({2, 2}, {1, 0, 0, 1})}},
                              {"equation", {text("ab,bc->ca")}}}),
              {2, 2}, {1, 3, 2, 4});
  expect_near(call("scaled_dot_product_attention", {{"query", {floats({1, 1, 2}, {0, 0})}},
                                                    {"key", {floats({1, 2, 2}, {1, 2, 3, 4})}},
                                                    {"value", {floats({1, 2, 1}, {1, 3})}}}),
              {1, 1, 1}, {2});
}

TEST(MilOperations, ShapesAndSlices) {
  const ArrayPtr x = floats({2, 3}, counting(6));
  expect_near(call("transpose", {{"x", {x}}, {"perm", {list({1, 0})}}}), {3, 2}, {0, 3, 1, 4, 2, 5});
  expect_near(call("reshape", {{"x", {x}}, {"shape", {list({3, -1})}}}), {3, 2}, counting(6));
  expect_near(call("slice_by_index", {{"x", {x}},
                                      {"begin", {list({0, 2})}},
                                      {"end", {list({1, 0})}},
                                      {"stride", {list({1, -1})}},
                                      {"end_mask", {list({1, 0})}}}),
              {2, 2}, {2, 1, 5, 4});
  expect_near(call("slice_by_index", {{"x", {x}},
                                      {"begin", {list({-1, 0})}},
                                      {"end", {list({0, 3})}},
                                      {"squeeze_mask", {list({1, 0})}}}),
              {3}, {3, 4, 5});
  expect_near(call("slice_by_size", {{"x", {x}}, {"begin", {list({1, 1})}}, {"size", {list({1, -1})}}}),
              {1, 2}, {4, 5});
  expect_near(call("concat", {{"values", {x, floats({2, 1}, {8, 9})}}, {"axis", {list({1})}}}), {2, 4},
              {0, 1, 2, 8, 3, 4, 5, 9});
  expect_near(call("stack", {{"values", {floats({2}, {1, 2}), floats({2}, {3, 4})}}, {"axis", {list({1})}}}),
              {2, 2}, {1, 3, 2, 4});
  const std::vector<Array> parts =
      call_all("split", {{"x", {x}}, {"split_sizes", {list({1, 2})}}, {"axis", {list({1})}}});
  ASSERT_EQ(parts.size(), 2U);
  expect_near(parts[1], {2, 2}, {1, 2, 4, 5});
  expect_near(call("pad", {{"x", {x}}, {"pad", {list({1, 1})}}, {"mode", {text("reflect")}}}), {2, 5},
              {1, 0, 1, 2, 1, 4, 3, 4, 5, 4});
  expect_near(call("tile", {{"x", {floats({1, 2}, {1, 2})}}, {"reps", {list({2, 2})}}}), {2, 4},
              {1, 2, 1, 2, 1, 2, 1, 2});
  expect_near(
      call("pixel_shuffle", {{"x", {floats({1, 4, 1, 1}, counting(4))}}, {"upscale_factor", {list({2})}}}),
      {1, 1, 2, 2}, counting(4));
  expect_near(
      call("depth_to_space", {{"x", {floats({1, 8, 1, 1}, counting(8))}}, {"block_size", {list({2})}}}),
      {1, 2, 2, 2}, {0, 2, 4, 6, 1, 3, 5, 7});
  expect_near(call("reverse", {{"x", {x}}, {"axes", {list({1})}}}), {2, 3}, {2, 1, 0, 5, 4, 3});
  EXPECT_THROW(call("transpose", {{"x", {x}}, {"perm", {list({0, 0})}}}), Error);
  EXPECT_THROW(call("reshape", {{"x", {x}}, {"shape", {list({4, -1})}}}), Error);
  EXPECT_THROW(call("tile", {{"x", {x}}, {"reps", {list({2147483647, 2147483647})}}}), Error);
}

TEST(MilOperations, Indexing) {
  const ArrayPtr table = floats({3, 2}, counting(6));
  expect_near(call("gather", {{"x", {table}}, {"indices", {list({2, 0, -1})}}, {"axis", {list({0})}}}),
              {3, 2}, {4, 5, 0, 1, 4, 5});
  expect_near(call("gather", {{"x", {floats({2, 2}, counting(4))}},
                              {"indices", {integers({2, 1}, {1, 0})}},
                              {"axis", {list({1})}},
                              {"batch_dims", {list({1})}}}),
              {2, 1}, {1, 2});
  expect_near(call("gather_nd", {{"x", {table}}, {"indices", {integers({2, 2}, {2, 1, 0, 0})}}}), {2},
              {5, 0});
  expect_near(call("scatter_nd", {{"data", {floats({3}, {1, 1, 1})}},
                                  {"indices", {integers({2, 1}, {0, 2})}},
                                  {"updates", {floats({2}, {5, 6})}},
                                  {"mode", {text("add")}}}),
              {3}, {6, 1, 7});
  const std::vector<Array> top = call_all("topk", {{"x", {floats({4}, {3, 9, 1, 9})}}, {"k", {list({2})}}});
  expect_near(top[0], {2}, {9, 9});
  EXPECT_EQ(top[1].i, (std::vector<std::int32_t>{1, 3}));
  expect_near(call("one_hot", {{"indices", {list({1, 5})}},
                               {"one_hot_vector_size", {list({3})}},
                               {"on_value", {floats({}, {1})}}}),
              {2, 3}, {0, 1, 0, 0, 0, 0});
  expect_near(
      call("cumsum", {{"x", {floats({3}, {1, 2, 3})}}, {"exclusive", {list({1})}}, {"reverse", {list({1})}}}),
      {3}, {5, 3, 0});
  EXPECT_THROW(call("gather", {{"x", {table}}, {"indices", {list({3})}}}), Error);
}

TEST(MilOperations, Reductions) {
  const ArrayPtr x = floats({2, 3}, counting(6));
  expect_near(call("reduce_mean", {{"x", {x}}, {"axes", {list({-1})}}, {"keep_dims", {list({1})}}}), {2, 1},
              {1, 4});
  expect_near(call("reduce_sum", {{"x", {x}}, {"axes", {list({0})}}}), {3}, {3, 5, 7});
  expect_near(call("reduce_max", {{"x", {x}}}), {}, {5});
  EXPECT_EQ(call("reduce_argmax", {{"x", {floats({2, 2}, {1, 7, 9, 2})}}, {"axis", {list({1})}}}).i,
            (std::vector<std::int32_t>{1, 0}));
  expect_near(call("reduce_log_sum_exp", {{"x", {floats({2}, {1000, 1000})}}}), {}, {1000.6931F}, 1e-3F);
}

TEST(MilOperations, Normalizations) {
  expect_near(call("layer_norm", {{"x", {floats({2, 2}, {1, 3, 4, 6})}},
                                  {"axes", {list({-1})}},
                                  {"gamma", {floats({2}, {1, 2})}},
                                  {"epsilon", {floats({}, {0})}}}),
              {2, 2}, {-1, 2, -1, 2});
  expect_near(call("batch_norm", {{"x", {floats({1, 2, 1}, {3, 3})}},
                                  {"mean", {floats({2}, {1, 2})}},
                                  {"variance", {floats({2}, {4, 1})}},
                                  {"epsilon", {floats({}, {0})}}}),
              {1, 2, 1}, {1, 1});
  expect_near(call("instance_norm", {{"x", {floats({1, 1, 2}, {1, 3})}}, {"epsilon", {floats({}, {0})}}}),
              {1, 1, 2}, {-1, 1});
}

TEST(MilOperations, Resizing) {
  const ArrayPtr x = floats({1, 1, 2}, {0, 1});
  const auto resized = [&](const char* mode, std::int32_t width) {
    return call("resize_bilinear", {{"x", {x}},
                                    {"target_size_height", {list({1})}},
                                    {"target_size_width", {list({width})}},
                                    {"sampling_mode", {text(mode)}}});
  };
  expect_near(resized("UNALIGN_CORNERS", 5), {1, 1, 5}, {0, 0.1F, 0.5F, 0.9F, 1});
  expect_near(resized("STRICT_ALIGN_CORNERS", 5), {1, 1, 5}, {0, 0.25F, 0.5F, 0.75F, 1});
  expect_near(resized("DEFAULT", 4), {1, 1, 4}, {0, 0.5F, 1, 1});
  expect_near(call("upsample_nearest_neighbor", {{"x", {x}}, {"scale_factor_width", {list({2})}}}), {1, 1, 4},
              {0, 0, 1, 1});
}

TEST(MilOperations, AnLstmOfZeroWeightsKeepsHalfOfItsCell) {
  const Inputs inputs = {{"x", {floats({1, 1, 1}, {1})}},
                         {"initial_h", {floats({1, 1}, {0})}},
                         {"initial_c", {floats({1, 1}, {2})}},
                         {"weight_ih", {floats({4, 1}, {0, 0, 0, 0})}},
                         {"weight_hh", {floats({4, 1}, {0, 0, 0, 0})}}};
  const std::vector<Array> results = call_all("lstm", inputs);
  ASSERT_EQ(results.size(), 3U);
  expect_near(results[2], {1, 1}, {1});
  expect_near(results[1], {1, 1}, {0.5F * std::tanh(1.0F)});
}

TEST(MilOperations, CompressedWeightsAreDecompressed) {
  expect_near(call("constexpr_affine_dequantize", {{"quantized_data", {integers({2, 2}, {1, -2, 3, 4})}},
                                                   {"zero_point", {list({0})}},
                                                   {"scale", {floats({2}, {0.5F, 2})}},
                                                   {"axis", {list({0})}}}),
              {2, 2}, {0.5F, -1, 6, 8});
  expect_near(call("constexpr_blockwise_shift_scale", {{"data", {integers({1, 4}, {1, 2, 3, 4})}},
                                                       {"scale", {floats({1, 2}, {1, 10})}},
                                                       {"offset", {integers({1, 2}, {0, 1})}}}),
              {1, 4}, {1, 2, 20, 30});
  expect_near(call("constexpr_lut_to_dense", {{"indices", {integers({2, 2}, {0, 1, 1, 0})}},
                                              {"lut", {floats({2, 1, 2, 1}, {1, 2, 3, 4})}}}),
              {2, 2}, {1, 2, 4, 3});
  expect_near(call("constexpr_sparse_to_dense",
                   {{"nonzero_data", {floats({2}, {5, 6})}}, {"mask", {integers({4}, {0, 1, 0, 1})}}}),
              {4}, {0, 5, 0, 6});
  EXPECT_THROW(call("constexpr_lut_to_dense", {{"indices", {list({2})}}, {"lut", {floats({2}, {1, 2})}}}),
               Error);
}

}  // namespace
}  // namespace ounce::mil
