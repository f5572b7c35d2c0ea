#include "formats/coreml/emit/emitted.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ounce/error.h>
#include <ounce/recipe.h>

#include <cmath>
#include <fstream>

#include "formats/coreml/file/constexpr.h"
#include "formats/coreml/file/reader.h"
#include "formats/coreml/file/values.h"
#include "support/coreml_builder.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace ounce::coreml {
namespace {

model::Destination destination(const std::filesystem::path& path) {
  model::Destination destination;
  destination.path = path;
  return destination;
}

using testing::HasSubstr;

template <class Action>
std::string error_of(Action&& action) {
  return test::error_of(action).what();
}

struct Result {
  std::shared_ptr<const CoremlFile> source;  // owns the names in the plan
  Plan plan;
  std::unique_ptr<const CoremlFile> written;
  std::vector<model::WeightError> errors;
};

class CoremlEmit : public testing::Test {
 protected:
  Result quantize(const CoremlBuilder& built, const Recipe& recipe) {
    const auto path = folder.path() / "net.mlpackage", output = folder.path() / "net.small.mlpackage";
    std::filesystem::remove_all(path);
    std::filesystem::remove_all(output);
    built.write(path);
    ThreadPool pool(2);
    Result result;
    const std::shared_ptr<const CoremlFile> source = result.source = open_file(path);
    result.plan = make_plan(*source, recipe, pool);
    CoremlEmitted emitted(source, result.plan, {{"ounce.version", "test"}});
    const std::uint64_t size = emitted.size({});
    emitted.write(destination(output), pool, nullptr);
    const auto reopened = emitted.reopen();
    result.errors = emitted.compare(*reopened, pool, [](std::size_t) {});
    emitted.set_metadata("key", "value");
    EXPECT_FALSE(std::filesystem::exists(output));
    emitted.commit();
    result.written = open_file(output);
    result.written->validate();
    EXPECT_LE(result.written->bytes(), size + 64);
    EXPECT_EQ(model::metadata_of(*result.written, "key"), "value");
    // The general decoder must give the weights that were compared.
    const Block& block = *active_block(*main_function(result.written->model())->function);
    for_each_decoded(block, [&](const Operation& operation, const std::vector<DecodedTensor>& outputs) {
      const Bytes name = operation.outputs[0]->name;
      if (name.ends_with("_table") || name.ends_with("_mask")) return;  // the first operation of two
      const auto decision =
          std::find_if(result.plan.decisions.begin(), result.plan.decisions.end(),
                       [&](const auto& each) { return each.weight.name == operation.outputs[0]->name; });
      ASSERT_NE(decision, result.plan.decisions.end());
      EXPECT_EQ(outputs[0].dims, decision->weight.dims);
      const auto index = static_cast<std::size_t>(decision - result.plan.decisions.begin());
      const auto error = std::find_if(result.errors.begin(), result.errors.end(),
                                      [&](const model::WeightError& each) { return each.tensor == index; });
      const auto values = source->read(decision->value);
      std::vector<float> scratch;
      kernels::ErrorNorms norms;
      kernels::error_norms(values->floats().values(0, outputs[0].values.size(), scratch),
                           outputs[0].values.data(), outputs[0].values.size(), norms);
      // Errors are added in another order.
      EXPECT_NEAR(norms.noise, error->norms.noise, 1e-8 * norms.noise) << decision->weight.name;
      EXPECT_EQ(norms.max_abs, error->norms.max_abs);
    });
    return result;
  }

  static std::map<std::string, std::string> operations(const Result& result) {
    std::map<std::string, std::string> types;
    for_each_operation(result.written->model().program(), [&](const Operation& operation) {
      types[std::string(operation.outputs[0]->name)] = operation.type;
    });
    return types;
  }

  static double worst(const Result& result) {
    double sqnr = INFINITY;
    for (const model::WeightError& error : result.errors) sqnr = std::min(sqnr, error.norms.sqnr_db());
    return sqnr;
  }

  static Recipe recipe(Format format, const std::string& target = {}) {
    Recipe recipe;
    recipe.format = format;
    recipe.target = target;
    recipe.min_bytes = 512;
    return recipe;
  }

  test::TemporaryFolder folder;
};

TEST_F(CoremlEmit, EightBitsInAttributes) {
  const Result result = quantize(small_coreml(7), recipe(Format::kW8));
  EXPECT_EQ(result.written->model().proto->version, 7);
  const auto types = operations(result);
  EXPECT_EQ(types.at("conv_weight"), "constexpr_affine_dequantize");
  EXPECT_EQ(types.at("matmul_weight"), "constexpr_affine_dequantize");
  EXPECT_EQ(types.at("conv_bias"), "const");
  EXPECT_GT(worst(result), 40);
}

TEST_F(CoremlEmit, EightBitsInInputs) {
  const Result result = quantize(small_coreml(9), recipe(Format::kW8));
  EXPECT_EQ(operations(result).at("conv_weight"), "constexpr_blockwise_shift_scale");
  EXPECT_GT(worst(result), 40);
}

TEST_F(CoremlEmit, ZeroPoints) {
  for (const std::int64_t version : {7, 9}) {
    Recipe wanted = recipe(Format::kW8);
    wanted.asymmetric = true;
    EXPECT_GT(worst(quantize(small_coreml(version, DataType::kFloat32), wanted)), 40);
  }
}

TEST_F(CoremlEmit, OneScaleForATensor) {
  Recipe wanted = recipe(Format::kW8);
  wanted.granularity.kind = GranularityKind::kTensor;
  EXPECT_GT(worst(quantize(small_coreml(7), wanted)), 35);
  EXPECT_GT(worst(quantize(small_coreml(9), wanted)), 35);
}

TEST_F(CoremlEmit, FourBitsInBlocks) {
  const Result result = quantize(small_coreml(9), recipe(Format::kW4));
  EXPECT_EQ(operations(result).at("matmul_weight"), "constexpr_blockwise_shift_scale");
  const auto matmul = std::find_if(result.plan.decisions.begin(), result.plan.decisions.end(),
                                   [](const auto& each) { return each.weight.name == "matmul_weight"; });
  EXPECT_EQ(matmul->group_dims, (std::vector<std::int64_t>{12, 40}));
  EXPECT_GT(worst(result), 17);
}

TEST_F(CoremlEmit, FourBitsInTables) {
  const Result result = quantize(small_coreml(7), recipe(Format::kW4));
  EXPECT_EQ(operations(result).at("matmul_weight"), "constexpr_lut_to_dense");
  EXPECT_EQ(result.written->model().proto->version, 7);
  EXPECT_GT(worst(result), 17);
  const Result grouped = quantize(small_coreml(9), recipe(Format::kW4, "ios18+ane"));
  EXPECT_EQ(operations(grouped).at("conv_weight"), "constexpr_lut_to_dense");
  EXPECT_GT(worst(grouped), 17);
}

// Rows of very different magnitudes.
CoremlBuilder uneven_coreml(std::int64_t version) {
  CoremlBuilder model = small_coreml(version);
  std::vector<float> values(std::size_t{32} * 40);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = std::ldexp(std::sin(static_cast<float>(i * i)), -static_cast<int>(i / 40 % 8));
  model.weights("uneven", {32, 40}, values);
  model.op("linear", {{"x", "product"}, {"weight", "uneven"}}, "z", {1, 32});
  return model;
}

double error_of_tensor(const Result& result, std::string_view name) {
  for (const model::WeightError& error : result.errors) {
    if (result.plan.decisions[error.tensor].weight.name == name) return error.norms.sqnr_db();
  }
  return NAN;
}

TEST_F(CoremlEmit, PositionsAreCompressedAndMasksAreNot) {
  CoremlBuilder model = small_coreml(9);
  std::vector<float> values(std::size_t{64} * 80);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i) * 0.01F);
  model.weights("positions", {1, 64, 80}, values);
  model.op("add", {{"x", "product"}, {"y", "positions"}}, "embedded", {1, 64, 80});
  model.weights("bias", {64, 80}, values);
  model.op("add", {{"x", "product"}, {"y", "bias"}}, "biased", {64, 80});
  model.op("softmax", {{"x", "biased"}}, "weights", {64, 80});
  const auto types = operations(quantize(model, recipe(Format::kW4)));
  EXPECT_EQ(types.at("positions"), "constexpr_blockwise_shift_scale");
  EXPECT_EQ(types.at("bias"), "const");
}

TEST_F(CoremlEmit, TablesOfEveryNumberOfBits) {
  const std::map<Format, double> least = {
      {Format::kW6, 29}, {Format::kW4, 17}, {Format::kW3, 11}, {Format::kW2, 6}, {Format::kW1, 2}};
  for (const auto& [format, sqnr] : least) {
    const Result result = quantize(small_coreml(9), recipe(format, "ios18+ane"));
    EXPECT_EQ(operations(result).at("matmul_weight"), "constexpr_lut_to_dense");
    EXPECT_GT(worst(result), sqnr) << name_of(format);
    if (format == Format::kW3) continue;
    EXPECT_GT(worst(quantize(small_coreml(7), recipe(format))), sqnr) << name_of(format);
  }
  EXPECT_THAT(error_of([&] { quantize(small_coreml(7), recipe(Format::kW3)); }),
              HasSubstr("3-bit weights need iOS18"));
}

TEST_F(CoremlEmit, ScalesOverATableForUnevenRows) {
  Recipe wanted = recipe(Format::kW4, "ios18+gpu");
  wanted.codebook = true;
  const Result scaled = quantize(uneven_coreml(9), wanted);
  const auto types = operations(scaled);
  EXPECT_EQ(types.at("uneven_table"), "constexpr_lut_to_dense");
  EXPECT_EQ(types.at("uneven"), "constexpr_blockwise_shift_scale");
  EXPECT_EQ(types.at("z"), "linear");
  wanted.granularity.kind = GranularityKind::kTensor;
  const Result plain = quantize(uneven_coreml(9), wanted);
  EXPECT_FALSE(operations(plain).contains("uneven_table"));
  EXPECT_GT(error_of_tensor(scaled, "uneven"), error_of_tensor(plain, "uneven") + 4);
  // FP32 weights, and channels that are columns.
  wanted.granularity.kind = GranularityKind::kChannel;
  const Result columns = quantize(small_coreml(9, DataType::kFloat32), wanted);
  EXPECT_EQ(operations(columns).at("matmul_weight"), "constexpr_blockwise_shift_scale");
  EXPECT_GT(worst(columns), 17);
}

// Scales over tables are known to crash on the Neural Engine.
TEST_F(CoremlEmit, TablesForGroupsOfChannels) {
  Recipe wanted = recipe(Format::kW4, "ios18+ane");
  const Result grouped = quantize(uneven_coreml(9), wanted);
  const auto uneven = std::find_if(grouped.plan.decisions.begin(), grouped.plan.decisions.end(),
                                   [](const auto& each) { return each.weight.name == "uneven"; });
  EXPECT_EQ(uneven->group_dims, (std::vector<std::int64_t>{2, 1}));
  wanted.granularity = {GranularityKind::kBlock, 8};
  EXPECT_GT(error_of_tensor(quantize(uneven_coreml(9), wanted), "uneven"),
            error_of_tensor(grouped, "uneven"));
}

TEST_F(CoremlEmit, WeightsWithMillionsOfBlocksAreWrittenInSlabs) {
  CoremlBuilder model = small_coreml(9);
  std::vector<float> values(std::size_t{1200} * 1000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i) * 0.37F);
  model.weights("rows", {1200, 1000}, values);
  model.op("linear", {{"x", "product"}, {"weight", "rows"}}, "z", {1, 1200});
  model.weights("columns", {1200, 1000}, values);
  model.op("matmul", {{"x", "product"}, {"y", "columns"}}, "z2", {1, 1000});
  Recipe wanted = recipe(Format::kW4);
  EXPECT_GT(worst(quantize(model, wanted)), 17);
  wanted.asymmetric = true;
  EXPECT_GT(worst(quantize(model, wanted)), 17);
}

TEST_F(CoremlEmit, PrunedWeightsAreSparse) {
  const auto pruned = [](std::int64_t version) {
    CoremlBuilder model = small_coreml(version);
    std::vector<float> values(std::size_t{64} * 90, 0.0F);
    for (std::size_t i = 0; i < values.size(); i += 5) values[i] = std::sin(static_cast<float>(i));
    model.weights("pruned", {64, 90}, values);
    model.op("linear", {{"x", "product"}, {"weight", "pruned"}}, "z", {1, 64});
    return model;
  };
  const Result floats = quantize(pruned(7), recipe(Format::kW16));
  EXPECT_EQ(operations(floats).at("pruned"), "constexpr_sparse_to_dense");
  EXPECT_EQ(error_of_tensor(floats, "pruned"), INFINITY);
  EXPECT_EQ(floats.errors.size(), 1U);
  for (const auto& [format, least] : std::map<Format, double>{{Format::kW8, 40}, {Format::kW4, 17}}) {
    for (const bool has_tables : {false, true}) {
      Recipe wanted = recipe(format, "ios18");
      wanted.codebook = has_tables;
      const Result joint = quantize(pruned(9), wanted);
      const auto types = operations(joint);
      EXPECT_EQ(types.at("pruned"), "constexpr_sparse_to_dense");
      EXPECT_EQ(types.at("pruned_mask"),
                has_tables ? "constexpr_lut_to_sparse" : "constexpr_sparse_blockwise_shift_scale");
      EXPECT_GT(error_of_tensor(joint, "pruned"), least);
      EXPECT_NE(types.at("matmul_weight"), "constexpr_sparse_to_dense");
    }
  }
  // Before iOS18, 16-bit floats without zeros are smaller than 8 bits with zeros.
  const Result older = quantize(pruned(7), recipe(Format::kW8));
  EXPECT_EQ(operations(older).at("pruned"), "constexpr_sparse_to_dense");
}

TEST_F(CoremlEmit, SixteenBits) {
  for (const std::int64_t version : {7, 9}) {
    const Result result = quantize(small_coreml(version, DataType::kFloat32), recipe(Format::kW16));
    EXPECT_EQ(operations(result).at("conv_weight"), "constexpr_cast");
    EXPECT_GT(worst(result), 65);
  }
}

TEST_F(CoremlEmit, RaisesAPackageAsFarAsTheFormsNeed) {
  const Result result = quantize(small_coreml(6), recipe(Format::kW8));
  EXPECT_EQ(result.written->model().proto->version, 7);
  EXPECT_THAT(result.plan.notes, testing::ElementsAre(HasSubstr("requires ios16 / macos13 instead of")));
  const Result newer = quantize(small_coreml(6), recipe(Format::kW4, "ios18"));
  EXPECT_EQ(newer.written->model().proto->version, 9);
  EXPECT_EQ(newer.written->opsets(), (std::vector<std::pair<std::string, std::int64_t>>{{"CoreML", 8}}));
  EXPECT_EQ(quantize(small_coreml(6), recipe(Format::kW8, "ios18")).written->model().proto->version, 7);
}

TEST_F(CoremlEmit, TargetsThatCannotLoadIt) {
  const auto error = [&](std::int64_t version, const std::string& target) {
    return error_of([&] { quantize(small_coreml(version), recipe(Format::kW8, target)); });
  };
  EXPECT_THAT(error(9, "ios16"), HasSubstr("newer than `target` ios16"));
  EXPECT_THAT(error(6, "ios15"), HasSubstr("ios15 does not support compressed weights"));
  EXPECT_THAT(error(7, "linux-x64"), HasSubstr("does not run Core ML"));
}

TEST_F(CoremlEmit, OperationsThatRefuseANewerOpsetAreNamed) {
  CoremlBuilder model = small_coreml(7);
  model.op("resample", {{"x", "y"}}, "sampled", {1, 10});
  EXPECT_THAT(error_of([&] { quantize(model, recipe(Format::kW4, "ios18")); }),
              HasSubstr("resample 'sampled'"));
}

TEST_F(CoremlEmit, NamesWhatIsLeftAlone) {
  CoremlBuilder model = small_coreml(7);
  std::vector<float> slopes(1600);
  for (std::size_t i = 0; i < slopes.size(); ++i) slopes[i] = -0.37F * static_cast<float>(i);
  model.weights("mask", {40, 40}, slopes);
  model.op("add", {{"x", "product"}, {"y", "mask"}}, "masked", {40, 40});
  // Values that a table has exactly.
  for (std::size_t i = 0; i < slopes.size(); ++i) slopes[i] = i % 40 > i / 40 ? -1e4F : 0.0F;
  model.weights("causal", {40, 40}, slopes);
  model.op("add", {{"x", "product"}, {"y", "causal"}}, "masked_too", {40, 40});
  const Result result = quantize(model, recipe(Format::kW8));
  std::map<std::string, std::string> reasons;
  for (const Decision& decision : result.plan.decisions) {
    if (!decision.is_stored()) reasons[std::string(decision.weight.name)] = decision.reason;
  }
  EXPECT_THAT(reasons.at("mask"), HasSubstr("feeds add"));
  EXPECT_FALSE(reasons.contains("causal"));
  EXPECT_EQ(error_of_tensor(result, "causal"), INFINITY);
  EXPECT_THAT(reasons.at("conv_bias"), HasSubstr("smaller than"));
}

TEST_F(CoremlEmit, BrokenWeightsAreRefused) {
  CoremlBuilder model = small_coreml(7);
  std::vector<float> values(400, 1.0F);
  values[7] = NAN;
  model.weights("broken", {10, 40}, values);
  model.op("linear", {{"x", "product"}, {"weight", "broken"}}, "z", {1, 10});
  EXPECT_THAT(error_of([&] { quantize(model, recipe(Format::kW8)); }), HasSubstr("NaN or infinite"));
}

TEST_F(CoremlEmit, ScalesBeyond16BitFloatsBecomeTables) {
  CoremlBuilder model = small_coreml(7);
  std::vector<float> values(1600);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = 1e-6F * static_cast<float>(static_cast<int>(i % 21) - 10);
  model.weights("tiny", {40, 40}, values);
  model.op("linear", {{"x", "product"}, {"weight", "tiny"}}, "z", {1, 40});
  const Result result = quantize(model, recipe(Format::kW8));
  EXPECT_EQ(operations(result).at("tiny"), "constexpr_lut_to_dense");
  EXPECT_GT(worst(result), 38);
}

TEST_F(CoremlEmit, SharedValuesAreStoredOnce) {
  CoremlBuilder model = small_coreml(9);
  for (const auto& operation : model.block().operations) {
    if (operation->outputs[0]->name != "linear_weight") continue;
    const Value shared = *operation->attribute("val");
    model.constant("again", shared);
    break;
  }
  model.op("linear", {{"x", "product"}, {"weight", "again"}}, "z", {1, 10});
  const Result result = quantize(model, recipe(Format::kW8));
  EXPECT_EQ(operations(result).at("again"), "constexpr_blockwise_shift_scale");
  std::set<std::uint64_t> offsets;
  for_each_operation(result.written->model().program(), [&](const Operation& operation) {
    if (operation.outputs[0]->name != "again" && operation.outputs[0]->name != "linear_weight") return;
    offsets.insert(bound_value(operation, "data")->blob->offset);
  });
  EXPECT_EQ(offsets.size(), 1U);
}

// Values other than weights, and unknown fields, are copied unchanged.
TEST_F(CoremlEmit, CarriesEverythingElse) {
  const Result result = quantize(everything_coreml(), recipe(Format::kW8));
  const Model& written = result.written->model();
  EXPECT_EQ(written.program().functions.size(), 2U);
  EXPECT_EQ(written.program().carried.size(), 1U);
  const auto types = operations(result);
  EXPECT_EQ(types.at("in_file_uint3"), "const");
  EXPECT_EQ(types.at("looped"), "while_loop");
}

TEST_F(CoremlEmit, TheResultDoesNotDependOnThreads) {
  const auto bytes_with = [&](unsigned threads) {
    const auto path = folder.path() / "net.mlpackage", output = folder.path() / "out.mlpackage";
    std::filesystem::remove_all(path);
    small_coreml(9).write(path);
    ThreadPool pool(threads);
    const std::shared_ptr<const CoremlFile> source = open_file(path);
    const Plan plan = make_plan(*source, recipe(Format::kW4), pool);
    CoremlEmitted emitted(source, plan, {});
    emitted.write(destination(output), pool, nullptr);
    emitted.commit();
    return test::read_file(output / "Data/com.apple.CoreML/weights/weight.bin") +
           test::read_file(output / "Data/com.apple.CoreML/model.mlmodel");
  };
  EXPECT_EQ(bytes_with(1), bytes_with(3));
}

TEST_F(CoremlEmit, LeavesNothingWithoutACommit) {
  const auto path = folder.path() / "net.mlpackage", output = folder.path() / "out.mlpackage";
  small_coreml(7).write(path);
  {
    ThreadPool pool(1);
    const std::shared_ptr<const CoremlFile> source = open_file(path);
    const Plan plan = make_plan(*source, recipe(Format::kW8), pool);
    CoremlEmitted emitted(source, plan, {});
    emitted.write(destination(output), pool, nullptr);
  }
  std::size_t entries = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    static_cast<void>(entry);
    ++entries;
  }
  EXPECT_EQ(entries, 1U);
}

}  // namespace
}  // namespace ounce::coreml
