#include "formats/tflite/emit/emitted.h"

#include <ounce/verify.h>

#include <utility>

#include "formats/tflite/edit/metadata.h"
#include "formats/tflite/emit/store_weights.h"

namespace ounce::tflite {
namespace {

Model with_metadata(Model model, const model::Destination& destination) {
  if (destination.key.empty()) return model;
  tflite::set_metadata(model, destination.key, std::string(destination.value_bytes, ' '));
  return model;
}

}  // namespace

TfliteEmitted::TfliteEmitted(std::shared_ptr<const TfliteFile> source, const Plan& plan,
                             const std::vector<std::pair<std::string, std::string>>& metadata,
                             const Rewrite& rewrite)
    : source_(std::move(source)), plan_(plan), model_(source_->model()) {
  store_weights(model_, source_, plan_);
  if (rewrite) rewrite(model_);
  remove_metadata(model_, Statement::kMetadataKey);  // the record of the source is not true of this model
  for (const auto& [key, value] : metadata) tflite::set_metadata(model_, key, value);
}

std::uint64_t TfliteEmitted::size(const model::Destination& destination) const {
  return output_ ? output_->total_bytes() : serialize(with_metadata(model_, destination)).size();
}

void TfliteEmitted::write(const model::Destination& destination, ThreadPool& pool,
                          std::atomic<std::uint64_t>* done) {
  model_ = with_metadata(std::move(model_), destination);
  output_.emplace(model_, destination.path);
  output_->write(pool, done);
}

model::ModelFilePtr TfliteEmitted::reopen() const {
  return std::make_unique<const TfliteFile>(output_->reopen());
}

std::vector<model::WeightError> TfliteEmitted::compare(const model::ModelFile& file, ThreadPool& pool,
                                                       const std::function<void(std::size_t)>& seen) const {
  const TfliteFile& written = as_tflite(file);
  std::vector<std::size_t> stored;
  for (std::size_t i = 0; i < plan_.decisions.size(); ++i) {
    if (plan_.decisions[i].is_stored()) stored.push_back(i);
  }
  std::vector<model::WeightError> errors(stored.size());
  run_jobs(
      pool, stored.size(), [&](std::size_t i) { return plan_.decisions[stored[i]].weight.bytes(); },
      [&](std::size_t i, const ForEach& for_each) {
        const bool is_bias = plan_.decisions[stored[i]].encoding == plan::Encoding::kInt32;
        errors[i] = {stored[i], is_bias,
                     compare_weight(*source_, plan_.decisions[stored[i]], written, for_each)};
        seen(stored[i]);
      });
  return errors;
}

void TfliteEmitted::set_metadata(const std::string& key, const std::string& value) {
  output_->fill_metadata(key, value);
}

}  // namespace ounce::tflite
