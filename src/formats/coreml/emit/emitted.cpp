#include "formats/coreml/emit/emitted.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <map>

#include "formats/coreml/emit/production.h"

namespace ounce::coreml {
namespace {

constexpr const char* kStatementKey = "ounce.statement";

}  // namespace

CoremlEmitted::CoremlEmitted(std::shared_ptr<const CoremlFile> source, const Plan& plan,
                             const std::vector<std::pair<std::string, std::string>>& metadata)
    : source_(std::move(source)), plan_(plan), model_(source_->model()) {
  store_weights(model_, source_, plan_);
  raise_version(model_, plan_);
  weights_ = place_blobs(model_);
  remove_metadata(model_, kStatementKey);
  for (const auto& [key, value] : metadata) coreml::set_metadata(model_, key, value);
}

std::uint64_t CoremlEmitted::size(const model::Destination& destination) const {
  constexpr std::uint64_t kEntry = 32;  // tags and lengths
  const std::uint64_t room =
      destination.key.empty() ? 0 : destination.key.size() + destination.value_bytes + kEntry;
  return room + (output_ ? output_->total_bytes() : written_size(model_, weights_));
}

void CoremlEmitted::write(const model::Destination& destination, ThreadPool& pool,
                          std::atomic<std::uint64_t>* done) {
  output_.emplace(model_, std::move(weights_), destination.path);
  output_->write(pool, done);
}

model::ModelFilePtr CoremlEmitted::reopen() const {
  auto written = std::make_unique<const CoremlFile>(output_->reopen());
  written->validate();
  return written;
}

// Source and result have corresponding operations in the same order; some are two in the result.
std::map<const Operation*, WrittenOperations> CoremlEmitted::written_operations(
    const CoremlFile& written) const {
  std::map<const Operation*, const Decision*> decisions;
  for (const Decision& decision : plan_.decisions) {
    if (decision.is_stored()) decisions[decision.constant] = &decision;
  }
  std::vector<const Operation*> after;
  for_each_operation(written.model().program(),
                     [&](const Operation& operation) { after.push_back(&operation); });
  std::map<const Operation*, WrittenOperations> results;
  std::size_t next = 0;
  for_each_operation(source_->model().program(), [&](const Operation& operation) {
    const auto found = decisions.find(&operation);
    const bool has_two = found != decisions.end() && has_two_operations(*found->second);
    const Operation* const first = has_two && next < after.size() ? after[next++] : nullptr;
    if (next < after.size()) results[&operation] = {first, after[next++]};
  });
  return results;
}

std::vector<model::WeightError> CoremlEmitted::compare(const model::ModelFile& file, ThreadPool& pool,
                                                       const std::function<void(std::size_t)>& seen) const {
  const CoremlFile& written = as_coreml(file);
  const std::map<const Operation*, WrittenOperations> results = written_operations(written);
  std::vector<std::size_t> stored;
  for (std::size_t i = 0; i < plan_.decisions.size(); ++i) {
    if (plan_.decisions[i].is_stored()) stored.push_back(i);
  }
  std::vector<model::WeightError> errors(stored.size());
  run_jobs(
      pool, stored.size(), [&](std::size_t i) { return plan_.decisions[stored[i]].weight.bytes(); },
      [&](std::size_t i, const ForEach& for_each) {
        const Decision& decision = plan_.decisions[stored[i]];
        const auto found = results.find(decision.constant);
        const bool is_there = found != results.end() && !found->second.last->outputs.empty() &&
                              found->second.last->outputs[0]->name == decision.weight.name;
        if (!is_there)
          throw Error(ErrorCode::kInternal, "the written model has lost a weight",
                      std::string(decision.weight.name));
        errors[i] = {stored[i], false, compare_weight(*source_, decision, written, found->second, for_each)};
        seen(stored[i]);
      });
  return errors;
}

void CoremlEmitted::set_metadata(const std::string& key, const std::string& value) {
  coreml::set_metadata(model_, key, value);
  ThreadPool pool;
  output_->rewrite_model_file(pool);
}

}  // namespace ounce::coreml
