// Carries out a plan on a Core ML model for quantize(). Each compressed weight becomes an operation that
// decompresses it, with the output name of the constant that it replaces:
//
//   const w ─ conv        →        constexpr_… w ─ conv
//
// so that the operations that use it are copied byte for byte.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/coreml/emit/production.h"
#include "formats/coreml/file/writer.h"
#include "formats/coreml/plan/plan.h"
#include "formats/coreml/view/coreml_file.h"
#include "model/emitter.h"

namespace ounce::coreml {

// Replaces the weights of `model`, a copy of the model of `source`, which the plan was made for. The new
// values keep `source` alive.
void store_weights(Model& model, const std::shared_ptr<const CoremlFile>& source, const Plan& plan);
// Raises the specification version and the opsets of all functions to those of the plan.
void raise_version(Model& model, const Plan& plan);

class CoremlEmitted final : public model::Emitted {
 public:
  // `metadata` contains entries for the new model. `plan` belongs to `source` and must outlive this.
  CoremlEmitted(std::shared_ptr<const CoremlFile> source, const Plan& plan,
                const std::vector<std::pair<std::string, std::string>>& metadata);

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
  std::map<const Operation*, WrittenOperations> written_operations(const CoremlFile& written) const;

  std::shared_ptr<const CoremlFile> source_;
  const Plan& plan_;
  Model model_;
  WeightRopes weights_;
  std::optional<ModelOutput> output_;
};

}  // namespace ounce::coreml
