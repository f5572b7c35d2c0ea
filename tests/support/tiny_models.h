// Test support: models of a few nodes, run in the newest installed ONNX Runtime.
//
//   struct MyTest : testing::Test {
//     TinyModels models;
//   };
//   StatefulExecutor stepper = models.step("scale", linear({1, 0, 0, 1}));
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "evaluate/models/open.h"
#include "runtime/executor.h"
#include "support/model_builder.h"
#include "support/temporary_folder.h"
#include "support/tensor_of.h"

namespace ounce::evaluate::test {

using ounce::test::kFloat;
using ounce::test::kInt64;
using ounce::test::ModelBuilder;

// x float [N, T, …] with a named dynamic axis for each name.
inline std::string free_value(const std::string& name, int type, const std::vector<std::string>& dims) {
  using ounce::test::field;
  std::string shape;
  for (const std::string& dim : dims) {
    const bool is_number = dim.find_first_not_of("0123456789") == std::string::npos;
    shape += field(1, is_number ? field(1, std::int64_t{std::stoll(dim)}) : field(2, dim));
  }
  return field(1, name) + field(2, field(1, field(1, std::int64_t{type}) + field(2, shape)));
}

// y [N, 2] = x [N, 2] · w
inline ModelBuilder linear(const std::vector<float>& w) {
  ModelBuilder model(13, 7);
  model.add(11, free_value("x", kFloat, {"N", "2"})).add(12, free_value("y", kFloat, {"N", "2"}));
  model.initializer("w", {2, 2}, w).node("MatMul", {"x", "w"}, {"y"});
  return model;
}

class TinyModels {
 public:
  std::filesystem::path write(const std::string& name, const ModelBuilder& model) const {
    const std::filesystem::path path = folder_ / (name + ".onnx");
    ounce::test::write_file(path, model.bytes());
    return path;
  }
  std::unique_ptr<runtime::Executor> load(const std::string& name, const ModelBuilder& model) const {
    return runtime::load(write(name, model), {});
  }
  StatefulExecutor step(const std::string& name, const ModelBuilder& model,
                        const std::map<std::string, std::string>& carry = {}) const {
    return {load(name, model), carry};
  }

 private:
  ounce::test::TemporaryFolder folder_;
};

// A feed of batches that a test lists.
class ListedFeed : public data::Feed {
 public:
  explicit ListedFeed(std::vector<data::Batch> batches) : batches_(std::move(batches)) {}

  std::uint64_t batches() const override { return batches_.size(); }
  std::uint64_t samples() const override {
    std::uint64_t count = 0;
    for (const data::Batch& batch : batches_) count += batch.names.size();
    return count;
  }
  void read(std::uint64_t index, data::Batch& batch) override { batch = batches_[index]; }

 private:
  std::vector<data::Batch> batches_;
};

}  // namespace ounce::evaluate::test
