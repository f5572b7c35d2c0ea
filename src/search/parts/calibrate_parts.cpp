// calibrate() in parts, which workers observe:
//
//   {"measure": "part", "shard": 2, "shards": 16}     the statistics of every 16th batch, from the third on
#include <fmt/format.h>
#include <ounce/error.h>
#include <ounce/quantize.h>
#include <ounce/work.h>

#include <nlohmann/json.hpp>
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/cancel.h"
#include "base/json_text.h"
#include "base/machine.h"
#include "base/thread_pool.h"
#include "calibration/ranges.h"
#include "data/source/open_source.h"
#include "evaluate/models/feeds.h"
#include "evaluate/models/open.h"
#include "formats/open.h"
#include "io/output_file.h"
#include "model/emitter.h"
#include "model/model_file.h"
#include "quantize/calibrate.h"
#include "quantize/digests.h"
#include "quantize/observation.h"
#include "quantize/output_place.h"
#include "quantize/pipeline.h"
#include "search/tune/journal.h"
#include "search/tune/questions.h"

namespace ounce::search {
namespace {

using nlohmann::json;

// Loading the model, sending the statistics and the first samples, whose values open new bins of the
// histograms, must take little time compared to observing a part.
constexpr std::uint64_t kBatchesInPart = 512, kLeastParts = 4, kMostParts = 4096;

std::string identity_of_parts(const std::filesystem::path& model, const CalibrateOptions& options) {
  return identity_of(model, options.data, options.runtime, "calibrate 1");
}

class PartSession final : public Session {
 public:
  PartSession(const std::filesystem::path& path, const CalibrateOptions& options)
      : path_(path), options_(options), identity_(identity_of_parts(path, options)) {
    const model::ModelFilePtr model = formats::open_model(path);
    model->validate();
    ThreadPool pool;
    digest_ = quantization::source_digest(*model, pool);
    exposed_ = quantization::expose(*model);
  }

  const std::string& identity() const override { return identity_; }

  std::string answer(const std::string& question) override {
    const Stopwatch time;
    const json asked = parse_json(question, {}, "a question");
    CalibrateOptions options = options_;
    try {
      if (asked.at("measure") != "part")
        throw Error(ErrorCode::kUnsupported, "'part' is the only measure of calibrate");
      options.shard = asked.at("shard");
      options.shards = asked.at("shards");
    } catch (const json::exception& error) {
      throw Error(ErrorCode::kBadInput, std::string("a question is not valid: ") + error.what());
    }
    quantization::Observation observed = quantization::observe_activations(exposed_, path_, options);
    observed.ranges.model = digest_;
    if (observed.covers) observed.ranges.covers.push_back(*std::move(observed.covers));
    return Answer{calibration::to_json(observed.ranges), observed.notes, true, time.seconds(), {}}.text();
  }

 private:
  std::filesystem::path path_;
  CalibrateOptions options_;
  std::string identity_, digest_;
  model::Exposed exposed_;
};

std::uint64_t batches_of(const std::filesystem::path& model, const CalibrateOptions& options) {
  const auto loaded = evaluate::load_as_floats(model, evaluate::executor_options(options.runtime));
  return evaluate::open_feed(model, loaded->inputs(), options.data).feed->batches();
}

std::uint64_t usual_parts(std::uint64_t batches) {
  return std::min(batches, std::clamp(batches / kBatchesInPart, kLeastParts, kMostParts));
}

}  // namespace
}  // namespace ounce::search

namespace ounce {

std::unique_ptr<Session> open_session(const std::filesystem::path& model, const CalibrateOptions& options) {
  model::require_support(model, "calibrate");
  quantization::require_observable(options, model);
  return std::make_unique<search::PartSession>(model, options);
}

CalibrateResult calibrate_parts(const std::filesystem::path& path, const std::filesystem::path& output,
                                const CalibrateOptions& options, WorkQueue& queue, std::uint64_t parts) {
  const CancellationScope scope(options.progress);
  model::require_support(path, "calibrate");
  const Stopwatch time;
  const model::ModelFilePtr model = formats::open_model(path);
  quantization::Inputs().add(*model).add(options.data).add(options.runtime).require_apart(output);
  quantization::require_replaceable(output);
  io::require_place(output);
  quantization::require_observable(options, path);
  if (options.shards > 1)
    throw Error(ErrorCode::kUsage, "a shard is one part already: leave out `shards` or the queue");
  if (!options.data.carry.empty())
    throw Error(ErrorCode::kUsage, "`carry` needs all samples in order, so they cannot be observed in parts");
  data::require_files(options.data);
  model->validate();
  const std::uint64_t batches = search::batches_of(path, options);
  parts = std::min(parts == 0 ? search::usual_parts(batches) : parts, batches);
  std::vector<nlohmann::json> questions;
  for (std::uint64_t i = 0; i < parts; ++i)
    questions.push_back({{"measure", "part"}, {"shard", i}, {"shards", parts}});
  begin_stage(options.progress, "observing", parts);
  calibration::Ranges all;
  std::vector<std::vector<std::string>> notes(parts);
  search::Questions(nullptr, queue, search::identity_of_parts(path, options))
      .ask(std::move(questions), [&](std::size_t i, const search::Answer& answer) {
        if (!answer.value.is_string())
          throw Error(ErrorCode::kBadInput, fmt::format("the answer for part {} is not valid", i + 1));
        const std::string where = fmt::format("part {} of {}", i + 1, parts);
        all.add(calibration::parse_ranges(answer.value.get<std::string>(), where), where);
        notes[i] = answer.notes;
        if (options.progress != nullptr) ++options.progress->done;
      });
  CalibrateResult result = quantization::write_ranges(all, output);
  std::vector<std::string> first;  // each note once, in the order of the parts
  for (const std::vector<std::string>& own : notes) {
    for (const std::string& note : own) {
      if (std::find(first.begin(), first.end(), note) == first.end()) first.push_back(note);
    }
  }
  result.notes.insert(result.notes.begin(), first.begin(), first.end());
  result.seconds = time.seconds();
  return result;
}

}  // namespace ounce
