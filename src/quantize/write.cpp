#include <fmt/format.h>
#include <ounce/error.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "base/cancel.h"
#include "base/digest.h"
#include "formats/onnx/emit/decoder.h"
#include "formats/onnx/file/reader.h"
#include "formats/onnx/graph/validate.h"
#include "io/mapped_file.h"
#include "quantize/digests.h"
#include "quantize/nbits_search.h"
#include "quantize/onnx_emitter.h"
#include "quantize/pipeline.h"
#include "quantize/statement.h"
#include "quantize/target_fit.h"
#include "quantize/weight_fit.h"
#include "recipe/format_info.h"

namespace ounce::quantization {
namespace {

// Quantized values that are all zero give 0 dB. A lower SQNR means that they belong to another tensor.
constexpr double kLeastSqnr = -3;
constexpr double kNothing = 256 * double{std::numeric_limits<float>::min()};

model::Destination destination_of(const Quantization& q) {
  return {.path = q.output_path(),
          .external_data = q.options.external_data,
          .data_tag = hex(digest_of(q.result.source_digest + q.result.plan_digest)).substr(0, 16),
          .data_name = q.options.data_name,
          .key = Statement::kMetadataKey,
          .value_bytes = statement_text(q.statement).size()};
}

// Sums noise relative to each tensor's own signal, so that exact constants of large values (an attention mask
// of -1e4) do not hide the error of weights.
void note_errors(Quantization& q, const std::vector<model::WeightError>& errors) {
  double noise = 0, values = 0;
  for (const model::WeightError& error : errors) {
    const kernels::ErrorNorms& norms = error.norms;
    TensorOutcome& outcome = q.result.tensors[error.tensor];
    outcome.sqnr_db = norms.sqnr_db();
    outcome.max_abs_error = norms.max_abs;
    // INT8 ops also quantize tiny weights; these may become zero.
    const bool is_nothing = norms.max_abs < kNothing;
    if ((!(outcome.sqnr_db > kLeastSqnr) && !is_nothing) || std::isnan(norms.max_abs)) {
      throw Error(ErrorCode::kInternal,
                  fmt::format("the written weight differs from the original ({:.1f} dB); nothing was written",
                              outcome.sqnr_db),
                  outcome.name);
    }
    if (error.is_limited) continue;
    if (norms.noise == 0 || is_nothing) continue;
    const double count =
        std::accumulate(outcome.shape.begin(), outcome.shape.end(), 1.0,
                        [](double all, std::int64_t size) { return all * static_cast<double>(size); });
    noise += count * norms.noise / norms.signal;
    values += count;
  }
  q.result.sqnr_db = kernels::ErrorNorms{values, noise, 0}.sqnr_db();
}

}  // namespace

void begin_stage(const QuantizeOptions& options, const char* stage, std::uint64_t total) {
  if (options.progress == nullptr) return;
  options.progress->done = 0;
  options.progress->total = total;
  options.progress->stage = stage;
}

Statement statement_before(const QuantizeOptions& options, const Recipe& recipe,
                           const std::optional<StatedGate>& gate) {
  Statement statement;
  statement.recipe = recipe;
  if (!options.ranges.empty()) statement.ranges = sha256_of(io::MappedFile::open(options.ranges).bytes());
  if (!options.trial.data.is_generated()) statement.calibration = selection_of(options.trial.data);
  statement.gate = gate;
  return statement;
}

void emit_onnx(Quantization& q) {
  q.result.source_digest =
      q.is_unread() ? std::string()
      : q.prepared->is_original()
          ? source_digest(q.prepared->model(), q.plan, q.pool)
          : source_digest(q.source().model(), plan::unread_plan(q.source().index()), q.pool);
  auto emitted = std::make_unique<OnnxEmitted>(
      q.prepared, q.plan,
      Provenance{q.result.plan_digest, q.is_unread() ? hex(Digest{}) : q.result.source_digest});
  if (const std::uint64_t saved = emitted->shortened(); saved != 0) {
    q.result.notes.push_back(fmt::format(
        "inner names were shortened, which saves {} bytes; `half.keep_names=true` keeps them", saved));
  }
  // Without a target, name the releases that do not run the result.
  if (info_of(q.recipe.format).arithmetic == Arithmetic::kFloat16 && q.recipe.target.empty()) {
    if (std::string where = where_it_fails(q.source().model(), emitted->model()); !where.empty())
      q.result.notes.push_back(std::move(where));
  }
  q.statement.releases = oldest_releases(emitted->model());
  q.emitted = std::move(emitted);
  // The emitted model carries out the plan. The sizes of its new weights are known; their values are computed
  // while they are written.
}

void estimate_size(Quantization& q) {
  q.result.bytes_after = q.emitted->size(destination_of(q));
  q.result.sqnr_db = std::nan("");
}

void write(Quantization& q) {
  const model::Destination destination = destination_of(q);
  begin_stage(q.options, "writing", q.stored_source_bytes());
  q.emitted->write(destination, q.pool, q.options.progress == nullptr ? nullptr : &q.options.progress->done);
  q.result.bytes_after = q.emitted->size(destination);
  if (const std::uint64_t most = q.options.recipe.nbits.target_size; most != 0 && q.result.bytes_after > most)
    throw Error(ErrorCode::kUnsupported,
                fmt::format("the result has {} bytes, more than `nbits.target_size` {}; nothing was written",
                            q.result.bytes_after, most),
                q.path().string());
  // The files are complete but unnamed: if a later stage fails, they disappear.
}

void check(Quantization& q) {
  begin_stage(q.options, "checking", q.stored_source_bytes());
  q.written = q.emitted->reopen();
  note_errors(q, q.emitted->compare(*q.written, q.pool, [&](std::size_t tensor) {
    if (q.options.progress != nullptr) q.options.progress->done += q.result.tensors[tensor].bytes_before;
  }));
  // The file parses, its structure is valid, and every weight dequantizes to its original, up to the error
  // recorded in the result.
}

void commit(Quantization& q) {
  q.statement.content = content_digest(*q.written, q.pool);
  q.statement.source_sha256 = source_sha256(*q.file, q.pool);
  if (q.result.trial.samples != 0) q.statement.trial = stated_run(q.result.trial);
  q.emitted->set_metadata(Statement::kMetadataKey, statement_text(q.statement));
  throw_if_cancelled();
  q.emitted->commit();
  if (needs_data(q.recipe.nbits.method)) KeptFits(q.kept_fits()).clear();
  q.result.tensors.insert(q.result.tensors.end(), q.integer_tensors.begin(), q.integer_tensors.end());
  // The model and its data have their final names and contain a provenance record.
}

}  // namespace ounce::quantization
