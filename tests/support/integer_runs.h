// Test support for INT8 arithmetic: applies the passes of quantize() to models, and runs the results.
//
//   const Rewritten rewritten(bytes, recipe);            // ranges are those of samples_of(bytes)
//   EXPECT_EQ(text_of(rewritten.model()), "…");
//   EXPECT_GE(least_sqnr(bytes, rewritten.model()), 30);
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "formats/onnx/emit/expose_values.h"
#include "formats/onnx/file/reader.h"
#include "formats/onnx/file/writer.h"
#include "formats/onnx/graph/validate.h"
#include "formats/onnx/plan/plan.h"
#include "formats/onnx/prepare/prepare.h"
#include "quantize/onnx_emitter.h"
#include "runtime/ort/session.h"
#include "support/temporary_folder.h"
#include "support/tensor_of.h"

namespace ounce::passes::test {

using Sample = std::vector<runtime::NamedTensor>;

// Smooth waves between -1 and 1: neighboring values are similar, as in real data.
inline std::vector<float> waves(const std::vector<std::int64_t>& dims, std::uint32_t seed) {
  std::size_t count = 1;
  for (const std::int64_t dim : dims) count *= static_cast<std::size_t>(dim);
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double at = 0.37 * static_cast<double>(i) + 1.7 * seed;
    values[i] = static_cast<float>(0.6 * std::sin(at) + 0.4 * std::cos(0.23 * at));
  }
  return values;
}

// Waves for float inputs; booleans, which select branches, are true in every other sample.
inline Sample sample_for(const runtime::Session& session, std::uint32_t seed) {
  Sample sample;
  for (const auto& input : session.inputs()) {
    data::Dims dims;
    for (const auto& dimension : input.shape) dims.push_back(std::max<std::int64_t>(dimension.value, 1));
    if (input.element == ElementType::kFloat) {
      const auto mixed = seed + static_cast<std::uint32_t>(11 * sample.size());
      sample.push_back({input.name, data::test::tensor_of<float>(dims, waves(dims, mixed))});
    } else {
      const std::size_t size = data::byte_count(input.element, dims, input.name);
      sample.push_back(
          {input.name, {input.element, dims, std::string(size, seed % 2 == 0 ? '\0' : '\1'), {}}});
    }
  }
  return sample;
}

inline constexpr std::uint32_t kSamples = 6;

inline void write(const onnx::Model& model, const std::filesystem::path& path) {
  ThreadPool pool(1);
  onnx::ModelOutput output(model, path, {});
  output.write(pool, nullptr);
  graph::validate(output.reopen());
  output.commit();
}

// The ranges of all observable values over the samples.
inline calibration::Ranges observe_all(const onnx::Model& model, const graph::Index& index,
                                       const std::string& bytes) {
  const ounce::test::TemporaryFolder folder;
  onnx::Model observable = onnx::read_model_from_memory(bytes, "model");
  std::map<std::string, std::string> paths;  // by output
  const graph::Index observable_index(observable);
  for (const Exposed& exposed : expose_values(observable, observable_index, values_to_observe(model, index)))
    paths[exposed.output] = graph::value_path(index, exposed.value.body, exposed.value.name);
  write(observable, folder / "observable.onnx");
  const runtime::Session session(runtime::Library::open(runtime::Library::find()), folder / "observable.onnx",
                                 {});
  calibration::Ranges ranges;
  const auto add = [&](const std::string& name, const data::Tensor& tensor) {
    const auto path = paths.find(name);
    if (path == paths.end() || tensor.type != ElementType::kFloat || tensor.bytes.empty()) return;
    const std::size_t axis = tensor.dims.size() > 2 ? 1 : tensor.dims.size() - 1;
    std::size_t stride = 1;
    for (std::size_t i = axis + 1; i < tensor.dims.size(); ++i)
      stride *= static_cast<std::size_t>(tensor.dims[i]);
    ranges.values[path->second].add(data::values_of<float>(tensor),
                                    static_cast<std::size_t>(tensor.dims[axis]), stride);
  };
  for (std::uint32_t seed = 0; seed < kSamples; ++seed) {
    const Sample sample = sample_for(session, seed);
    for (const auto& input : sample) add(input.name, input.tensor);
    const auto outputs = session.run(sample);
    for (std::size_t i = 0; i < outputs.size(); ++i) add(session.outputs()[i].name, outputs[i]);
  }
  return ranges;
}

// A model as quantize() would write it, with measured ranges but without any search.
class Rewritten {
 public:
  Rewritten(const std::string& bytes, const Recipe& recipe)
      : bytes_(prepared(bytes, recipe)),
        source_(onnx::read_model_from_memory(bytes_, "model")),
        index_(graph::validate(source_)),
        model_(onnx::read_model_from_memory(bytes_, "model")) {
    calibration::Ranges ranges;
    if (recipe.format == Format::kInt8) ranges = observe_all(source_, index_, bytes_);
    ThreadPool pool(1);
    plan_ =
        plan::make_plan(source_, index_, recipe, pool, recipe.format == Format::kInt8 ? &ranges : nullptr);
    quantization::rewrite(model_, source_, index_, plan_, {});
  }

  const onnx::Model& source() const { return source_; }
  const onnx::Model& model() const { return model_; }
  const plan::Plan& plan() const { return plan_; }

 private:
  static std::string prepared(const std::string& bytes, const Recipe& recipe) {
    onnx::Model model = onnx::read_model_from_memory(bytes, "model");
    graph::validate(model);
    prepare(model, recipe);
    const ounce::test::TemporaryFolder folder;
    write(model, folder / "prepared.onnx");
    return ounce::test::read_file(folder / "prepared.onnx");
  }

  std::string bytes_;
  onnx::Model source_;
  graph::Index index_;
  onnx::Model model_;
  plan::Plan plan_;
};

inline Recipe integer_recipe(Format format) {
  Recipe recipe;
  recipe.format = format;
  recipe.fp16_budget = 0;
  recipe.integer.calibration = CalibrationMethod::kMinMax;
  return recipe;
}

inline double sqnr_db(std::span<const float> wanted, std::span<const float> given) {
  double signal = 0, noise = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    signal += double{wanted[i]} * double{wanted[i]};
    noise += (double{wanted[i]} - double{given[i]}) * (double{wanted[i]} - double{given[i]});
  }
  return noise == 0 ? std::numeric_limits<double>::infinity() : 10 * std::log10(signal / noise);
}

// Runs both in every version of the runtime, with and without its optimizations, and returns the smallest
// SQNR of an output over all samples.
inline double least_sqnr(
    const std::string& before, const onnx::Model& after,
    const std::vector<std::filesystem::path>& libraries = runtime::Library::installed()) {
  const ounce::test::TemporaryFolder folder;
  ounce::test::write_file(folder / "before.onnx", before);
  write(after, folder / "after.onnx");
  double least = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(libraries.empty());
  for (const auto& path : libraries) {
    for (const auto level : {runtime::Optimization::kNone, runtime::Optimization::kAll}) {
      SCOPED_TRACE(path.string());
      const auto library = runtime::Library::open(path);
      runtime::SessionOptions options;
      options.optimization = level;
      const runtime::Session floats(library, folder / "before.onnx", options);
      const runtime::Session integers(library, folder / "after.onnx", options);
      std::vector<std::vector<float>> wanted(floats.outputs().size()), given(wanted.size());
      for (std::uint32_t seed = 0; seed < kSamples; ++seed) {
        const Sample sample = sample_for(floats, seed);
        const auto a = floats.run(sample), b = integers.run(sample);
        for (std::size_t i = 0; i < a.size(); ++i) {
          EXPECT_EQ(a[i].dims, b[i].dims);
          EXPECT_EQ(a[i].type, b[i].type);
          if (a[i].dims != b[i].dims || a[i].type != b[i].type) return -1;
          const auto x = data::values_of<float>(a[i]), y = data::values_of<float>(b[i]);
          wanted[i].insert(wanted[i].end(), x.begin(), x.end());
          given[i].insert(given[i].end(), y.begin(), y.end());
        }
      }
      for (std::size_t i = 0; i < wanted.size(); ++i) least = std::min(least, sqnr_db(wanted[i], given[i]));
    }
  }
  return least;
}

}  // namespace ounce::passes::test
