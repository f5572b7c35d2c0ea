// A TFLite model with a plan carried out, as the stages of quantize() need it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "formats/tflite/file/writer.h"
#include "formats/tflite/plan/plan.h"
#include "formats/tflite/view/tflite_file.h"
#include "model/emitter.h"

namespace ounce::tflite {

class TfliteEmitted final : public model::Emitted {
 public:
  // Further changes, after the weights.
  using Rewrite = std::function<void(Model& model)>;

  // `metadata`: entries of the new model, by name. `plan` belongs to `source` and outlives this.
  TfliteEmitted(std::shared_ptr<const TfliteFile> source, const Plan& plan,
                const std::vector<std::pair<std::string, std::string>>& metadata,
                const Rewrite& rewrite = {});

  const Model& model() const { return model_; }

  std::uint64_t size(const model::Destination& destination) const override;
  void write(const model::Destination& destination, ThreadPool& pool,
             std::atomic<std::uint64_t>* done) override;
  model::ModelFilePtr reopen() const override;
  io::UnfinishedFiles files() const override { return {output_->unfinished_path(), {}}; }
  std::vector<model::WeightError> compare(const model::ModelFile& written, ThreadPool& pool,
                                          const std::function<void(std::size_t)>& seen) const override;
  void set_metadata(const std::string& key, const std::string& value) override;
  void commit() override { output_->commit(); }

 private:
  std::shared_ptr<const TfliteFile> source_;
  const Plan& plan_;
  Model model_;
  std::optional<ModelOutput> output_;
};

}  // namespace ounce::tflite
