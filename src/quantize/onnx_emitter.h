// Carries out plans on ONNX models. quantize() writes the result of rewrite(), inspect() only computes its
// size; expose() makes copies whose inner values can be observed.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "formats/onnx/emit/store_weights.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/file/writer.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/plan/plan.h"
#include "model/emitter.h"
#include "quantize/prepared_model.h"

namespace ounce::quantization {

// Digests are 32 hexadecimal digits; see base/digest.h.
struct Provenance {
  std::string plan_digest, source_digest;
};

struct Rewritten {
  std::vector<passes::Stored> stored;
  std::uint64_t shortened = 0;  // bytes saved by shorter inner names
};

// `model` is a clone of `source`, which `index` and `plan` belong to.
Rewritten rewrite(onnx::Model& model, const onnx::Model& source, const graph::Index& index,
                  const plan::Plan& plan, const Provenance& provenance);

// The prepared model after a plan was carried out.
class OnnxEmitted final : public model::Emitted {
 public:
  OnnxEmitted(std::shared_ptr<const PreparedModel> prepared, const plan::Plan& plan,
              const Provenance& provenance);

  const onnx::Model& model() const { return model_; }
  std::uint64_t shortened() const { return rewritten_.shortened; }

  std::uint64_t size(const model::Destination& destination) const override;
  void write(const model::Destination& destination, ThreadPool& pool,
             std::atomic<std::uint64_t>* done) override;
  model::ModelFilePtr reopen() const override;
  io::UnfinishedFiles files() const override { return output_->unfinished_files(); }
  std::vector<model::WeightError> compare(const model::ModelFile& written, ThreadPool& pool,
                                          const std::function<void(std::size_t)>& seen) const override;
  void set_metadata(const std::string& key, const std::string& value) override;
  void commit() override { output_->commit(); }

 private:
  std::shared_ptr<const PreparedModel> prepared_;
  const plan::Plan& plan_;
  onnx::Model model_;
  Rewritten rewritten_;
  std::optional<onnx::ModelOutput> output_;
};

// `source` is the user's model, for messages. Throws Error{kUnsupported} if nothing can be observed.
model::Exposed expose(onnx::Model model, const std::filesystem::path& source, Watching watching);

}  // namespace ounce::quantization
