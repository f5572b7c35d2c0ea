// Low-bit weights in the runtime's kernels. The written weights are dequantized here by the definition of the
// layout, and every release with these kernels must compute the same results, on every available machine.
#include "formats/onnx/emit/nbits.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <ounce/error.h>

#include <cmath>
#include <cstring>
#include <map>

#include "formats/onnx/edit/names.h"
#include "formats/onnx/emit/store_weights.h"
#include "formats/onnx/file/attributes.h"
#include "formats/onnx/file/reader.h"
#include "formats/onnx/file/tensor_reader.h"
#include "formats/onnx/file/writer.h"
#include "formats/onnx/graph/validate.h"
#include "kernels/half.h"
#include "runtime/executor.h"
#include "support/cpus_required.h"
#include "support/model_builder.h"
#include "support/pass_runs.h"
#include "support/temporary_folder.h"
#include "support/tensor_of.h"
#include "target/ort/model_support.h"

namespace ounce::passes {
namespace {

using ounce::test::Dims;
using ounce::test::int_attribute;
using ounce::test::kFloat;
using ounce::test::kInt64;
using ounce::test::ModelBuilder;
using test::ints_attribute;
using test::noise;

Recipe recipe_for(Format format, std::size_t block, AccuracyLevel level = AccuracyLevel::k1) {
  Recipe recipe;
  recipe.format = format;
  recipe.granularity = {GranularityKind::kBlock, block};
  recipe.nbits.accuracy_level = level;
  recipe.nbits.method = WeightMethod::kRtn;
  recipe.min_bytes = 1;
  return recipe;
}

// A model in a file, rewritten according to a recipe.
class InNbits {
 public:
  InNbits(const std::string& bytes, const Recipe& recipe) {
    ounce::test::write_file(folder_ / "before.onnx", bytes);
    const onnx::Model source = onnx::read_model(folder_ / "before.onnx");
    const graph::Index index = graph::validate(source);
    ThreadPool pool(1);
    const plan::Plan plan = plan::make_plan(source, index, recipe, pool);
    onnx::Model model = onnx::read_model(folder_ / "before.onnx");
    Editors editors(model, index);
    store_weights(editors, source, index, plan);
    editors.finish();
    import_domains(model);
    onnx::ModelOutput output(model, path(), {});
    output.write(pool, nullptr);
    output.commit();
    written_ = onnx::read_model(path());
    graph::validate(written_);
    text_ = plan.text();
  }

  std::filesystem::path path() const { return folder_ / "after.onnx"; }
  const onnx::Model& model() const { return written_; }
  const std::string& plan() const { return text_; }
  std::string text() const { return test::text_of(written_); }

  const onnx::Tensor& tensor(std::string_view name) const {
    for (const auto& tensor : written_.proto->graph->initializers) {
      if (tensor->name == name) return *tensor;
    }
    throw Error(ErrorCode::kInternal, std::string(name));
  }

 private:
  ounce::test::TemporaryFolder folder_;
  onnx::Model written_;
  std::string text_;
};

std::uint8_t stored_code(onnx::Bytes bytes, std::size_t row_bytes, std::size_t row, std::size_t column,
                         unsigned bits) {
  const std::size_t per_byte = 8 / bits;
  const auto byte = static_cast<std::uint8_t>(bytes[row * row_bytes + column / per_byte]);
  return static_cast<std::uint8_t>((byte >> (column % per_byte * bits)) & ((1U << bits) - 1));
}

// The rows that a node's quantized values, scales and zero points represent.
std::vector<float> decoded_rows(const InNbits& model, const onnx::Node& node, std::size_t rows,
                                std::size_t columns) {
  const bool is_product = node.op_type() == "MatMulNBits";
  const auto bits = static_cast<unsigned>(*onnx::integer_attribute(node, "bits"));
  const auto block = static_cast<std::size_t>(*onnx::integer_attribute(node, "block_size"));
  const std::size_t blocks = (columns + block - 1) / block;
  const onnx::Tensor& codes = model.tensor(node.inputs[is_product ? 1 : 0]);
  const onnx::RawValues code_bytes(codes), scale_bytes(model.tensor(node.inputs[2]));
  std::vector<float> scales(rows * blocks);
  if (model.tensor(node.inputs[2]).type == ElementType::kFloat16) {
    kernels::f16_to_f32(reinterpret_cast<const std::byte*>(scale_bytes.bytes().data()), scales.size(),
                        scales.data());
  } else {
    std::memcpy(scales.data(), scale_bytes.bytes().data(), scales.size() * sizeof(float));
  }
  std::optional<onnx::RawValues> zeros;
  if (node.inputs.size() > 3) zeros.emplace(model.tensor(node.inputs[3]));
  const std::size_t row_bytes = code_bytes.bytes().size() / rows, zero_bytes = (blocks * bits + 7) / 8;
  std::vector<float> values;
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      const int zero = zeros ? stored_code(zeros->bytes(), zero_bytes, r, c / block, bits) : 1 << (bits - 1);
      const int code = stored_code(code_bytes.bytes(), row_bytes, r, c, bits);
      values.push_back(static_cast<float>(code - zero) * scales[r * blocks + c / block]);
    }
  }
  return values;
}

struct Machine {
  runtime::ExecutorOptions options;
  std::string target;  // "linux-x64@1.30.0"
};

// Every installed release, for this machine and, with an emulator, for the other one.
std::vector<Machine> machines() {
  std::vector<Machine> places;
  for (const auto& library : runtime::Library::installed()) {
    Machine place;
    place.options.library = library.string();
    place.options.isolate = runtime::Limits{};
    place.target = "linux-x64@" + library.parent_path().parent_path().filename().string();
    places.push_back(place);
  }
  const auto others = runtime::Library::installed("aarch64");
  const char* const named = std::getenv("OUNCE_QEMU_AARCH64");
  const std::string qemu = named == nullptr ? "qemu-aarch64" : named;
  if (others.empty() || std::system((qemu + " --version > /dev/null 2>&1").c_str()) != 0) return places;
  Machine place;
  place.options.remote = runtime::RemoteOptions{};
  place.options.remote->launcher = qemu + " -L /usr/aarch64-linux-gnu";
  place.options.remote->library = others.back().string();
  std::string version = others.back().parent_path().parent_path().filename().string();
  place.target = "linux-arm64@" + version.substr(0, version.find('-'));
  places.push_back(place);
  return places;
}

bool runs_there(const onnx::Model& model, const std::string& target) {
  const auto support = target::support_of(model, graph::Index(model), target::parse_target(target));
  return support.check.verdict <= Verdict::kUnknown;
}

// Products of many shapes at once: y_i = x_i w_i, with inputs of three rows.
struct Shapes {
  std::vector<std::pair<std::int64_t, std::int64_t>> all;  // K, N
  std::string model() const {
    ModelBuilder model;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto [k, n] = all[i];
      const auto name = [&](const char* what) { return fmt::format("{}{}", what, i); };
      model.input(name("x"), kFloat, {3, k}).output(name("y"), kFloat, {3, n});
      model.initializer(name("w"), {k, n}, noise({k, n}, static_cast<std::uint32_t>(i + 1)));
      model.node("MatMul", {name("x"), name("w")}, {name("y")});
    }
    return model.bytes();
  }
};

// The largest difference between FP32 products with the dequantized rows and the runtime's outputs, relative
// to the largest value.
double worst_difference(const InNbits& rewritten, const Shapes& shapes, const Machine& place) {
  const auto session = runtime::load(rewritten.path(), place.options);
  std::vector<data::Tensor> inputs;
  for (const auto& [k, n] : shapes.all)
    inputs.push_back(data::test::tensor_of<float>({3, k}, noise({3, k}, static_cast<std::uint32_t>(k))));
  const auto outputs = session->run(std::vector<data::TensorView>(inputs.begin(), inputs.end()));
  double worst = 0;
  for (std::size_t i = 0; i < shapes.all.size(); ++i) {
    const auto k = static_cast<std::size_t>(shapes.all[i].first),
               n = static_cast<std::size_t>(shapes.all[i].second);
    const auto rows = decoded_rows(rewritten, *rewritten.model().proto->graph->nodes[i], n, k);
    const auto x = data::values_of<float>(inputs[i]);
    const auto y = data::test::numbers_of<float>(outputs[i]);
    double largest = 1e-30, difference = 0;
    for (std::size_t r = 0; r < 3; ++r) {
      for (std::size_t c = 0; c < n; ++c) {
        double sum = 0;
        for (std::size_t j = 0; j < k; ++j) sum += double{x[r * k + j]} * double{rows[c * k + j]};
        largest = std::max(largest, std::abs(sum));
        difference = std::max(difference, std::abs(sum - double{y[r * n + c]}));
      }
    }
    worst = std::max(worst, difference / largest);
  }
  return worst;
}

TEST(NbitsOps, EveryLayoutMeansTheSameToEveryReleaseThatHasTheKernel) {
  const Shapes shapes{{{1, 1}, {16, 8}, {17, 3}, {32, 33}, {100, 5}, {257, 16}, {512, 2}}};
  std::map<std::string, int> runs;
  for (const Format format : {Format::kNbits2, Format::kNbits4, Format::kNbits8}) {
    for (const std::size_t block : {16U, 32U, 64U, 128U, 256U}) {
      for (const bool is_asymmetric : {false, true}) {
        Recipe recipe = recipe_for(format, block);
        recipe.asymmetric = is_asymmetric;
        const Shapes fitting{[&] {
          std::vector<std::pair<std::int64_t, std::int64_t>> kept;
          for (const auto& [k, n] : shapes.all) {
            if (2 * static_cast<std::size_t>(k) > block) kept.emplace_back(k, n);
          }
          return kept;
        }()};
        const InNbits rewritten(fitting.model(), recipe);
        for (const Machine& place : machines()) {
          SCOPED_TRACE(fmt::format("{} block {} asymmetric {} {}", name_of(format), block, is_asymmetric,
                                   place.target));
          if (!runs_there(rewritten.model(), place.target)) continue;
          ++runs[place.target];
          EXPECT_LT(worst_difference(rewritten, fitting, place), 1e-4);
        }
      }
    }
  }
  for (const auto& [target, count] : runs) EXPECT_GE(count, 10) << target;
  EXPECT_GE(runs.size(), runtime::Library::installed().size());
}

TEST(NbitsOps, LevelFourRoundsActivationsAndNoMore) {
  const Shapes shapes{{{64, 16}, {257, 16}}};
  const InNbits rewritten(shapes.model(), recipe_for(Format::kNbits4, 32, AccuracyLevel::k4));
  EXPECT_THAT(rewritten.text(), testing::HasSubstr("accuracy_level=4"));
  for (const Machine& place : machines()) {
    SCOPED_TRACE(place.target);
    EXPECT_LT(worst_difference(rewritten, shapes, place), test::kEightBits);
  }
}

// x [2,40] times w; one side of w is 24.
ModelBuilder with_matrix(const Dims& weight) {
  ModelBuilder model;
  model.input("x", kFloat, {2, 40}).output("y", kFloat, {2, 24}).initializer("w", weight, noise(weight));
  return model;
}

TEST(NbitsOps, AGemmBecomesAProductAndASum) {
  ModelBuilder model = with_matrix({24, 40});
  model.initializer("b", {24}, noise({24}));
  model.node("Gemm", {"x", "w", "b"}, {"y"}, {int_attribute("transB", 1)}, "dense");
  Recipe recipe = recipe_for(Format::kNbits4, 16);
  recipe.min_bytes = 1024;
  const InNbits rewritten(model.bytes(), recipe);
  EXPECT_EQ(rewritten.text(),
            "b = float32[24]\nq0 = uint8[24,3,8]\nq1 = float32[24,3]\n"
            "MatMulNBits(x, q0, q1){K=40, N=24, bits=4, block_size=16, accuracy_level=1} -> v0\n"
            "Add(v0, b) -> y\n");
  test::expect_same_outputs(model.bytes(), rewritten.model(), 0.12);
}

TEST(NbitsOps, ATransposeInFrontOfAProductGoes) {
  ModelBuilder model = with_matrix({24, 40});
  model.node("Transpose", {"w"}, {"t"}, {ints_attribute("perm", {1, 0})}).node("MatMul", {"x", "t"}, {"y"});
  const InNbits rewritten(model.bytes(), recipe_for(Format::kNbits4, 16));
  EXPECT_EQ(rewritten.text(),
            "q0 = uint8[24,3,8]\nq1 = float32[24,3]\n"
            "MatMulNBits(x, q0, q1){K=40, N=24, bits=4, block_size=16, accuracy_level=1} -> y\n");
  test::expect_same_outputs(model.bytes(), rewritten.model(), 0.12);
}

// A table with 20 rows, looked up by tokens.
ModelBuilder with_table(std::int64_t columns) {
  ModelBuilder model;
  model.initializer("w", {20, columns}, noise({20, columns}));
  model.initializer(
      ounce::test::tensor("i", kInt64, {2}, std::string("\x03\0\0\0\0\0\0\0\x13\0\0\0\0\0\0\0", 16)));
  model.node("Gather", {"w", "i"}, {"rows"}).output("rows", kFloat, {2, columns});
  return model;
}

TEST(NbitsOps, ATablesRowsAreDecodedAsTheyAreLookedUp) {
  const ModelBuilder model = with_table(40);
  const InNbits rewritten(model.bytes(), recipe_for(Format::kNbits4, 16));
  EXPECT_EQ(rewritten.text(),
            "i = int64[2]\nq0 = uint8[20,20]\nq1 = float16[20,3]\n"
            "GatherBlockQuantized(q0, i, q1){gather_axis=0, quantize_axis=1, block_size=16} -> v0\n"
            "Cast(v0){to=1} -> rows\n");
  test::expect_same_outputs(model.bytes(), rewritten.model(), 0.12);
}

TEST(NbitsOps, TiedWeightsAreStoredOnce) {
  ModelBuilder model = with_table(48);
  model.input("x", kFloat, {2, 48}).output("y", kFloat, {2, 20});
  model.node("Gemm", {"x", "w"}, {"y"}, {int_attribute("transB", 1)});
  const InNbits rewritten(model.bytes(), recipe_for(Format::kNbits4, 16));
  EXPECT_EQ(rewritten.text(),
            "i = int64[2]\nq0 = uint8[20,3,8]\nq1 = float32[20,3]\nq2 = int64[2]\n"
            "Reshape(q0, q2) -> v0\n"
            "GatherBlockQuantized(v0, i, q1){gather_axis=0, quantize_axis=1, block_size=16} -> rows\n"
            "MatMulNBits(x, q0, q1){K=48, N=20, bits=4, block_size=16, accuracy_level=1} -> y\n");
  test::expect_same_outputs(model.bytes(), rewritten.model(), 0.12);
}

TEST(NbitsOps, WhatNoKernelTakesIsStoredInEightBits) {
  const auto plan_of = [](ModelBuilder& model) {
    return InNbits(model.bytes(), recipe_for(Format::kNbits4, 16)).plan();
  };
  ModelBuilder left;
  left.input("x", kFloat, {40, 3}).output("y", kFloat, {24, 3}).initializer("w", {24, 40}, noise({24, 40}));
  left.node("MatMul", {"w", "x"}, {"y"});
  EXPECT_THAT(
      plan_of(left),
      testing::HasSubstr("MatMul has no MatMulNBits kernel, so it is stored in 8 bits without MatMulNBits"));
  ModelBuilder both = with_matrix({40, 24});
  both.node("MatMul", {"x", "w"}, {"y"}).input("z", kFloat, {2, 24}).output("u", kFloat, {2, 40});
  both.node("Gemm", {"z", "w"}, {"u"}, {int_attribute("transB", 1)});
  EXPECT_THAT(plan_of(both), testing::HasSubstr("it is multiplied both by rows and by columns"));
  ModelBuilder odd = with_table(41);
  EXPECT_THAT(plan_of(odd), testing::HasSubstr("41 columns are not a multiple of 2"));
  ModelBuilder more = with_matrix({40, 24});
  more.node("Gemm", {"x", "w"}, {"y"}, {test::float_attribute("alpha", 2)});
  EXPECT_THAT(plan_of(more), testing::HasSubstr("its Gemm has transA, alpha or beta"));
}

}  // namespace
}  // namespace ounce::passes
