// Models with very many nodes: the work of each stage grows linearly with the nodes, and each stage can be
// canceled.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <ounce/error.h>

#include <optional>

#include "base/cancel.h"
#include "formats/onnx/file/reader.h"
#include "formats/onnx/graph/validate.h"
#include "formats/onnx/plan/plan.h"
#include "formats/onnx/prepare/prepare.h"
#include "quantize/onnx_emitter.h"
#include "support/model_builder.h"
#include "support/ramp.h"

namespace ounce::quantization {
namespace {

using test::Dims;
using test::kFloat;
using test::ModelBuilder;
using test::ramp;
using test::Strings;

const Dims kRow = {1, 4};

std::string value(std::size_t i) { return "v" + std::to_string(i); }

ModelBuilder row_model(const std::string& output) {
  ModelBuilder model(17, 8);
  model.input("x", kFloat, kRow).output(output, kFloat, kRow);
  model.initializer("w", {4, 4}, ramp({4, 4}));
  return model;
}

// One weight and one input with many users.
ModelBuilder fan(std::size_t size) {
  ModelBuilder model = row_model("y");
  Strings products;
  for (std::size_t i = 0; i < size; ++i) {
    products.push_back(value(i));
    model.node("MatMul", {"x", "w"}, {value(i)});
  }
  model.node("Sum", products, {"y"});
  return model;
}

// Half of the users of the weight prevent the others from running in INT8.
ModelBuilder mixed_fan(std::size_t size) {
  ModelBuilder model = row_model("y");
  Strings products;
  for (std::size_t i = 0; i < size; ++i) {
    products.push_back(value(i));
    model.node(i % 2 == 0 ? "MatMul" : "Gemm", {"x", "w"}, {value(i)});
  }
  model.node("Sum", products, {"y"});
  return model;
}

// One node after the other, each with a constant of its own.
ModelBuilder chain(std::size_t size) {
  ModelBuilder model = row_model(value(size - 1));
  std::string last = "x";
  for (std::size_t i = 0; i < size; ++i) {
    const std::string constant = "c" + std::to_string(i);
    switch (i % 4) {
      case 0:
        model.initializer(constant, {4, 4}, ramp({4, 4}));
        model.node("MatMul", {last, constant}, {value(i)});
        break;
      case 1:
        model.initializer(constant, {4}, ramp({4}));
        model.node("Add", {last, constant}, {value(i)});
        break;
      case 2: model.node("Relu", {last}, {value(i)}); break;
      default:
        model.initializer(constant, {}, {0.5F});
        model.node("Mul", {last, constant}, {value(i)});
        break;
    }
    last = value(i);
  }
  return model;
}

// Each node takes the two before it: there are exponentially many paths.
ModelBuilder ladder(std::size_t size) {
  ModelBuilder model = row_model(value(size - 1));
  model.node("MatMul", {"x", "w"}, {value(0)}).node("Relu", {value(0)}, {value(1)});
  for (std::size_t i = 2; i < size; ++i)
    model.node(i % 2 == 0 ? "Add" : "Mul", {value(i - 1), value(i - 2)}, {value(i)});
  return model;
}

struct Shape {
  const char* name;
  ModelBuilder (*build)(std::size_t);
};
constexpr Shape kShapes[] = {{"fan", fan}, {"mixed fan", mixed_fan}, {"chain", chain}, {"ladder", ladder}};
constexpr Format kFormats[] = {Format::kW8,     Format::kW4,   Format::kW16,         Format::kNbits8,
                               Format::kNbits4, Format::kInt8, Format::kInt8Dynamic, Format::kFp16};

Recipe recipe_for(Format format) {
  Recipe recipe;
  recipe.format = format;
  recipe.min_bytes = 0;
  recipe.integer.calibration = CalibrationMethod::kMinMax;
  recipe.integer.integer_io = format == Format::kInt8;
  recipe.exclude = {"no node has this name"};
  recipe.ignore_unmatched = true;
  return recipe;
}

calibration::Ranges ranges_of(const graph::Index& index) {
  calibration::Ranges ranges;
  ranges.samples = 1;
  for (const auto& [name, value] : index.main().values) {
    if (value.initializer == graph::kNone)
      ranges.values[std::string(name)].add(std::vector<float>{-1, 1, 0, 0.5F}, 1, 1);
  }
  return ranges;
}

// The stages of quantize() between reading and writing.
class StagedWork {
 public:
  StagedWork(const std::string& bytes, Format format) : bytes_(bytes), recipe_(recipe_for(format)) {}

  void read() { source_ = onnx::read_model_from_memory(bytes_, "model"); }
  void prepare() {
    prepare_for_integers(source_);
    result_ = onnx::read_model_from_memory(bytes_, "model");
    prepare_for_integers(result_);
  }
  void verify() {
    index_.emplace(graph::validate(source_));
    if (recipe_.format == Format::kInt8) ranges_ = ranges_of(*index_);
  }
  void plan() {
    ThreadPool pool(1);
    plan_ = plan::make_plan(source_, *index_, recipe_, pool, ranges_ ? &*ranges_ : nullptr);
  }
  void rewrite() { quantization::rewrite(result_, source_, *index_, plan_, {}); }

 private:
  void prepare_for_integers(onnx::Model& model) const {
    if (recipe_.is_integer()) passes::prepare(model, recipe_);
  }

  const std::string& bytes_;
  Recipe recipe_;
  onnx::Model source_, result_;
  std::optional<graph::Index> index_;
  std::optional<calibration::Ranges> ranges_;
  plan::Plan plan_;
};

struct Stage {
  const char* name;
  void (StagedWork::*run)();
};
constexpr Stage kStages[] = {{"read", &StagedWork::read},
                             {"prepare", &StagedWork::prepare},
                             {"verify", &StagedWork::verify},
                             {"plan", &StagedWork::plan},
                             {"rewrite", &StagedWork::rewrite}};

// Number of steps that a stage counts.
std::uint64_t steps(StagedWork& work, const Stage& stage) {
  const std::uint64_t before = counted_steps();
  (work.*stage.run)();
  return counted_steps() - before;
}

TEST(Scaling, TwiceAsManyNodesAreTwiceTheWork) {
  constexpr std::size_t kSize = 500;
  constexpr double kMost = 2.5;  // 4 would be quadratic
  for (const Shape& shape : kShapes) {
    const std::string small = shape.build(kSize).bytes(), large = shape.build(2 * kSize).bytes();
    for (const Format format : kFormats) {
      StagedWork on_small(small, format), on_large(large, format);
      for (const Stage& stage : kStages) {
        const auto once = static_cast<double>(steps(on_small, stage));
        const auto twice = static_cast<double>(steps(on_large, stage));
        EXPECT_LE(twice, kMost * once) << shape.name << ", " << name_of(format) << ", " << stage.name;
      }
    }
  }
}

TEST(Scaling, AStoppedCallEndsEveryStageSoon) {
  constexpr std::size_t kSize = 1500;
  constexpr std::uint64_t kMost = 1024;  // interval at which count_step() checks for cancellation
  for (const Shape& shape : kShapes) {
    const std::string bytes = shape.build(kSize).bytes();
    for (const Format format : {Format::kW8, Format::kInt8, Format::kInt8Dynamic, Format::kFp16}) {
      for (const Stage& stage : kStages) {
        if (!recipe_for(format).is_integer() && stage.run == &StagedWork::prepare) continue;  // nothing to do
        StagedWork work(bytes, format);
        for (const Stage* before = kStages; before != &stage; ++before) steps(work, *before);
        Progress progress;
        const CancellationScope scope(&progress);
        progress.stop();
        const std::uint64_t before = counted_steps();
        const std::string where = fmt::format("{}, {}, {}", shape.name, name_of(format), stage.name);
        try {
          steps(work, stage);
          ADD_FAILURE() << where << " was not stopped";
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), ErrorCode::kCancelled) << where;
        }
        EXPECT_LE(counted_steps() - before, kMost) << where;
      }
    }
  }
}

}  // namespace
}  // namespace ounce::quantization
