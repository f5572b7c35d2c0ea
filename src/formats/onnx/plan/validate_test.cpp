#include <gmock/gmock.h>
#include <ounce/error.h>
#include <ounce/recipe.h>

#include <limits>

#include "support/error_of.h"

namespace ounce {
namespace {

using test::error_of;
using testing::HasSubstr;
using testing::StartsWith;

struct ValidateTest : testing::Test {
  std::string refusal(ErrorCode code = ErrorCode::kUsage) {
    const Error error = error_of([this] { validate(recipe); });
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  std::string refusal_of_node(Format format, Format node) {
    recipe = {};
    recipe.format = format;
    recipe.nodes = {{"a", node}};
    return refusal();
  }
  Recipe recipe;
};

TEST_F(ValidateTest, EveryFormatByItselfIsFine) {
  for (const Format format :
       {Format::kW8, Format::kW4, Format::kW16, Format::kInt8Dynamic, Format::kInt8, Format::kFp16}) {
    recipe.format = format;
    EXPECT_NO_THROW(validate(recipe)) << name_of(format);
  }
  recipe.format = Format::kFp32;
  EXPECT_THAT(refusal(), StartsWith("fp32 is a format for single nodes (`nodes`)"));
}

TEST_F(ValidateTest, NumbersHaveTheirLimits) {
  recipe.fp16_budget = 1.5;
  EXPECT_EQ(refusal(), "`fp16_budget` 1.5 is not from 0 to 1");
  recipe.fp16_budget = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(refusal(), StartsWith("`fp16_budget` nan"));
  recipe = {};
  recipe.format = Format::kInt8;
  recipe.integer.percentile = 20;
  EXPECT_THAT(refusal(), StartsWith("`integer.percentile` 20"));
  recipe = {};
  for (const std::size_t block : {0U, 2U, 3U, 48U, 512U}) {
    recipe.granularity = {GranularityKind::kBlock, block};
    EXPECT_THAT(refusal(), StartsWith("`granularity`: blocks have 4, 8"));
  }
  recipe = {};
  recipe.format = Format::kInt8;
  recipe.integer.values["a"].range = ValueRange{2, 1};
  EXPECT_EQ(refusal(), "`integer.values` 'a': 2 to 1 is no range");
}

TEST_F(ValidateTest, TargetsMustBeKnown) {
  recipe.target = "moon";
  EXPECT_THAT(refusal(), HasSubstr("moon"));
}

TEST_F(ValidateTest, CodebooksAreWholeTensorsWithoutZeros) {
  recipe.codebook = true;
  EXPECT_NO_THROW(validate(recipe));
  recipe.decoder = DecoderChoice::kDq;
  EXPECT_EQ(refusal(), "DequantizeLinear does not support codebooks: remove `decoder=dq`");
  recipe.decoder = DecoderChoice::kAuto;
  recipe.granularity.kind = GranularityKind::kChannel;
  EXPECT_THAT(refusal(), StartsWith("`codebook` applies to whole tensors: remove `granularity`"));
  recipe.target = "ios18";  // Core ML has tables per group of channels
  EXPECT_NO_THROW(validate(recipe));
  recipe.target.clear();
  recipe.asymmetric = true;
  EXPECT_EQ(refusal(), "`codebook` has no zero points: remove `asymmetric`");
}

TEST_F(ValidateTest, SixteenBitsHaveNoCodes) {
  recipe.format = Format::kW16;
  recipe.asymmetric = true;
  EXPECT_THAT(refusal(), StartsWith("w16 stores floats"));
  recipe.nodes["a"] = Format::kW8;  // has them
  EXPECT_NO_THROW(validate(recipe));
}

TEST_F(ValidateTest, GraphsOfHalvesAreConvertedAsAWhole) {
  recipe.format = Format::kFp16;
  recipe.exclude = {"a"};
  EXPECT_THAT(refusal(), StartsWith("fp16 and bf16 convert the graph"));
  recipe.exclude = {};
  recipe.nodes["a"] = Format::kFp32;
  EXPECT_NO_THROW(validate(recipe));
  recipe = {};
  recipe.half.keep = {"a"};
  EXPECT_EQ(refusal(), "`half.keep` is for `format=fp16` and `format=bf16`");
}

TEST_F(ValidateTest, BfloatsNeedATargetThatHasThem) {
  recipe.format = Format::kBf16;
  EXPECT_THAT(refusal(ErrorCode::kUnsupported), HasSubstr("`target=cuda`"));
  recipe.target = "cuda";
  EXPECT_NO_THROW(validate(recipe));
}

TEST_F(ValidateTest, IntegersNeedKernels) {
  recipe.format = Format::kInt8;
  recipe.granularity = {GranularityKind::kBlock, 32};
  EXPECT_THAT(refusal(), StartsWith("integer kernels do not support blocks"));
  recipe.granularity = {};
  recipe.codebook = true;
  EXPECT_THAT(refusal(), StartsWith("integer kernels need symmetric linear quantization"));
  recipe.codebook = false;
  recipe.integer.weights = WeightType::kU8;
  recipe.integer.reduce_range = true;
  EXPECT_THAT(refusal(), StartsWith("`integer.reduce_range` applies only to s8 weights"));
  recipe.integer.reduce_range = false;
  recipe.integer.dialect = Dialect::kQOperator;
  recipe.integer.activations = ActivationType::kS8;
  EXPECT_THAT(refusal(), StartsWith("no runtime supports s8 activations with u8 weights"));
  recipe.integer.activations = ActivationType::kU16;
  EXPECT_THAT(refusal(), StartsWith("integer ops have 8 bits"));
  recipe.integer.activations = ActivationType::kU8;
  recipe.integer.values["a"].type = ActivationType::kU16;
  EXPECT_THAT(refusal(), StartsWith("integer ops need one activation type"));
  recipe = {};
  recipe.format = Format::kInt8Dynamic;
  recipe.integer.weights = WeightType::kS4;
  EXPECT_EQ(refusal(), "`format=int8-dynamic` needs 8-bit weights: use `integer.weights=s8` or u8");
  recipe = {};
  recipe.integer.fp16_remainder = true;
  EXPECT_EQ(refusal(), "`integer.fp16_remainder` is for `format=int8` and `format=int8-dynamic`");
}

TEST_F(ValidateTest, NodesGoTogetherWithTheirModel) {
  EXPECT_EQ(refusal_of_node(Format::kW8, Format::kInt8Dynamic),
            "`nodes` 'a=int8-dynamic': `format=w8` runs in FP32: use `format=int8` for nodes in INT8");
  EXPECT_THAT(refusal_of_node(Format::kW4, Format::kInt8), StartsWith("`nodes` 'a=int8': `format=w4`"));
  EXPECT_EQ(refusal_of_node(Format::kInt8Dynamic, Format::kInt8),
            "`nodes` 'a=int8': `format=int8-dynamic` has no static nodes: use `format=int8` and name the "
            "dynamic nodes");
  EXPECT_THAT(refusal_of_node(Format::kInt8, Format::kFp16),
              HasSubstr("16-bit arithmetic applies to whole models"));
  EXPECT_THAT(refusal_of_node(Format::kW8, Format::kBf16),
              HasSubstr("16-bit arithmetic applies to whole models"));
  EXPECT_EQ(refusal_of_node(Format::kFp16, Format::kW8),
            "fp16 converts the graph: single nodes can only be kept in fp32");
  recipe = {};
  recipe.format = Format::kInt8;
  recipe.nodes = {{"a", Format::kFp32}};
  recipe.integer.fp16_remainder = true;
  recipe.target = "cuda";
  EXPECT_THAT(refusal(), StartsWith("`integer.fp16_remainder=true` converts all"));
}

TEST_F(ValidateTest, RoundingForOutputsIsStatic) {
  recipe.rounding = Rounding::kAdaptive;
  EXPECT_NO_THROW(validate(recipe)) << "Core ML models; quantize() refuses it for others";
  recipe.format = Format::kFp16;
  EXPECT_THAT(refusal(), StartsWith("`rounding=adaptive` needs calibration data"));
  recipe.format = Format::kInt8;
  EXPECT_NO_THROW(validate(recipe));
  recipe.nodes = {{"a", Format::kInt8Dynamic}};
  EXPECT_THAT(refusal(), StartsWith("`rounding=adaptive` applies only to static nodes"));
}

TEST_F(ValidateTest, LevelsAreForKernelsOfFewBits) {
  recipe.nbits.levels["a"] = AccuracyLevel::k1;
  EXPECT_THAT(refusal(), HasSubstr("`nbits.levels`"));
  recipe.nodes["a"] = Format::kNbits4;
  EXPECT_NO_THROW(validate(recipe));
  recipe.format = Format::kNbits4;
  EXPECT_NO_THROW(validate(recipe));
  recipe.nbits.dialect = NbitsDialect::kQdq;
  EXPECT_EQ(refusal(), "with `nbits.dialect=qdq` the app sets the accuracy level: remove `nbits.levels`");
}

}  // namespace
}  // namespace ounce
