// Tests every hand-built model with every weight-only format: it is compressed, loads, runs, is close to the
// original, and the runtime folds the dequantization.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <ounce/error.h>

#include <algorithm>
#include <set>

#include "corpus/storage_models.h"

namespace ounce::test {
namespace {

using testing::HasSubstr;

struct Way {
  std::string name;
  QuantizeOptions options;
  double floor_db;
};

// The output SQNR of normally distributed weights in 16, 8 and 4 bits is about 75, 42 and 20 dB; recurrent
// ops lose a few dB.
std::vector<Way> ways() {
  std::vector<Way> list;
  const auto add = [&](const char* name, Format format, double floor_db, const auto&... changes) {
    Way way{name, {}, floor_db};
    way.options.recipe.format = format;
    way.options.recipe.min_bytes = 256;
    way.options.recipe.fp16_budget = 0;  // no weights in FP16: quantized values are tested
    way.options.threads = 1;
    (changes(way.options), ...);
    list.push_back(std::move(way));
  };
  const auto codebook = [](QuantizeOptions& options) { options.recipe.codebook = true; };
  const auto asymmetric = [](QuantizeOptions& options) { options.recipe.asymmetric = true; };
  const auto dq = [](QuantizeOptions& options) { options.recipe.decoder = DecoderChoice::kDq; };
  const auto nearest = [](QuantizeOptions& options) {
    options.recipe.rounding = Rounding::kNearest, options.recipe.scale = ScaleMethod::kAbsMax;
  };
  const auto external = [](QuantizeOptions& options) { options.external_data = ExternalData::kAlways; };
  const auto tensor = [](QuantizeOptions& options) {
    options.recipe.granularity.kind = GranularityKind::kTensor;
  };
  const auto channel = [](QuantizeOptions& options) {
    options.recipe.granularity.kind = GranularityKind::kChannel;
  };
  const auto block = [](std::size_t size) {
    return [size](QuantizeOptions& options) { options.recipe.granularity = {GranularityKind::kBlock, size}; };
  };
  using enum Format;
  add("w16", kW16, 55);
  add("w8", kW8, 35);
  add("w8_nearest", kW8, 35, nearest);
  add("w8_external", kW8, 35, external);
  add("w8_tensor", kW8, 33, tensor);
  add("w8_asymmetric", kW8, 35, asymmetric);
  add("w8_block16", kW8, 35, block(16));
  add("w8_block32_asymmetric", kW8, 35, block(32), asymmetric);
  add("w8_codebook", kW8, 35, codebook);
  add("w8_dq", kW8, 35, dq);
  add("w8_dq_tensor", kW8, 33, dq, tensor);
  add("w8_dq_asymmetric", kW8, 35, dq, asymmetric);
  add("w8_dq_block32", kW8, 35, dq, block(32));
  add("w4", kW4, 12);
  add("w4_channel", kW4, 12, channel);
  add("w4_tensor", kW4, 10, tensor);
  add("w4_asymmetric", kW4, 12, asymmetric);
  add("w4_block16", kW4, 14, block(16));
  add("w4_block64_asymmetric", kW4, 12, block(64), asymmetric);
  add("w4_codebook", kW4, 12, codebook);
  add("w4_dq", kW4, 12, dq);
  add("w4_dq_channel_asymmetric", kW4, 12, dq, channel, asymmetric);
  add("w4_dq_block16_asymmetric", kW4, 14, dq, block(16), asymmetric);
  return list;
}

class StorageTest : public testing::TestWithParam<std::tuple<StorageCase, Way>> {};

// Nodes that may remain in the optimized model: none if the runtime folds the dequantization, else its ops.
std::set<std::string> allowed_nodes(const QuantizeResult& result) {
  std::set<std::string> allowed;
  for (const TensorOutcome& tensor : result.tensors) {
    // No other ops: ops that move a weight after its DequantizeLinear would run at every inference, and
    // runtimes before 1.30 would quantize their result again, as uint8 if the zero point is left out.
    if (tensor.stored && tensor.decoder == Decoder::kDq) allowed.insert({"DequantizeLinear"});
    if (tensor.stored && tensor.decoder == Decoder::kLookup) allowed.insert({"Gather", "Cast", "Sub", "Mul"});
  }
  return allowed;
}

TEST_P(StorageTest, StaysCloseAndFolds) {
  const auto& [model, way] = GetParam();
  const Format format = way.options.recipe.format;
  const bool is_too_new = runtime_api_version() < model.oldest_runtime;
  if ((model.is_half || model.keeps_halves) && format == Format::kW16) {
    try {
      const StorageVerdict verdict = store_and_run(model, way.options);
      FAIL() << "stored at " << verdict.sqnr_db << " dB";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kUnsupported) << error.what();
    }
    return;
  }
  const StorageVerdict verdict = store_and_run(model, way.options);
  for (const std::string& name : model.weights) {
    bool is_there = false;
    for (const TensorOutcome& tensor : verdict.result.tensors) {
      if (tensor.name != name) continue;
      is_there = true;
      EXPECT_TRUE(tensor.stored) << name << " in '" << tensor.scope << "': " << tensor.reason;
      EXPECT_EQ(tensor.encoding == StoredAs::kFloat16, format == Format::kW16)
          << name << ": " << tensor.reason;
    }
    EXPECT_TRUE(is_there) << "no tensor " << name;
  }
  EXPECT_LT(verdict.result.bytes_after, verdict.result.bytes_before);
  if (is_too_new || !model.refused_by_runtime.empty()) {
    EXPECT_THAT(verdict.runtime_error, HasSubstr(is_too_new ? "version" : model.refused_by_runtime));
    return;
  }
  ASSERT_EQ(verdict.runtime_error, "");

  EXPECT_EQ(verdict.difference, "");
  EXPECT_GE(verdict.sqnr_db, way.floor_db);
  EXPECT_GE(verdict.unfolded_sqnr_db, way.floor_db) << "without optimizations";
  RecordProperty("sqnr_db", fmt::format("{:.1f}", verdict.sqnr_db));
  const std::set<std::string> allowed = allowed_nodes(verdict.result);
  for (const auto& [op_type, count] : verdict.left_over_nodes) {
    EXPECT_TRUE(allowed.contains(op_type))
        << count << " " << op_type << " left by the runtime's constant folding";
  }
}

TEST(Storage, ValuesTooSmallForHalvesAreNotPromotedToThem) {
  for (const StorageCase& model : number_models()) {
    if (!model.keeps_halves) continue;
    QuantizeOptions options;
    options.recipe.fp16_budget = 1;
    EXPECT_GE(store_and_run(model, options).sqnr_db, 35) << model.name;
  }
}

std::ostream& operator<<(std::ostream& out, const Way& way) { return out << way.name; }

std::string test_name(const testing::TestParamInfo<std::tuple<StorageCase, Way>>& test) {
  return std::get<0>(test.param).name + "_" + std::get<1>(test.param).name;
}

INSTANTIATE_TEST_SUITE_P(Layers, StorageTest,
                         testing::Combine(testing::ValuesIn(layer_models()), testing::ValuesIn(ways())),
                         test_name);
INSTANTIATE_TEST_SUITE_P(Scopes, StorageTest,
                         testing::Combine(testing::ValuesIn(scope_models()), testing::ValuesIn(ways())),
                         test_name);
INSTANTIATE_TEST_SUITE_P(Lookups, StorageTest,
                         testing::Combine(testing::ValuesIn(lookup_models()), testing::ValuesIn(ways())),
                         test_name);
INSTANTIATE_TEST_SUITE_P(Numbers, StorageTest,
                         testing::Combine(testing::ValuesIn(number_models()), testing::ValuesIn(ways())),
                         test_name);
INSTANTIATE_TEST_SUITE_P(Versions, StorageTest,
                         testing::Combine(testing::ValuesIn(version_models()), testing::ValuesIn(ways())),
                         test_name);

}  // namespace
}  // namespace ounce::test
