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
#include "quantize/nbits_fit.h"
#include "quantize/nbits_search.h"
#include "quantize/pipeline.h"
#include "quantize/rewrite.h"
#include "quantize/statement.h"
#include "quantize/target_fit.h"
#include "recipe/format_info.h"

namespace ounce::quantization {
namespace {

// Codes of nothing but zeros would give 0 dB; anything below means that codes and source do not belong
// together.
constexpr double kLeastSqnr = -3;
constexpr double kNothing = 256 * double{std::numeric_limits<float>::min()};

std::string statement_field(const Statement& statement) {
  return onnx::metadata_field(Statement::kMetadataKey, statement_text(statement));
}

onnx::WriteOptions write_options(const Quantization& q) {
  const std::string tag = hex(digest_of(q.result.source_digest + q.result.plan_digest)).substr(0, 16);
  return {.external_data = q.options.external_data,
          .data_tag = tag,
          .data_name = q.options.data_name,
          .room = statement_field(q.statement).size()};
}

// A tensor of the written file: an initializer, or that of a Constant node. Bodies keep their numbers; two of
// them may use one name for different tensors.
const onnx::Tensor* find_tensor(const graph::Index& index, std::size_t body, std::string_view name) {
  if (name.empty()) return nullptr;
  const auto& values = index.bodies().at(body).values;
  const auto found = values.find(name);
  const onnx::Tensor* tensor = nullptr;
  if (found != values.end() && found->second.initializer != graph::kNone) {
    tensor = &*index.bodies()[body].graph->initializers[found->second.initializer];
  } else if (found != values.end() && found->second.producer != graph::kNone) {
    tensor = plan::constant_tensor(*index.bodies()[body].nodes()[found->second.producer]);
  }
  if (tensor == nullptr)
    throw Error(ErrorCode::kInternal, fmt::format("'{}' is missing in the written file", name));
  return tensor;
}

std::vector<kernels::ErrorNorms> compare_weights(Quantization& q, const graph::Index& written) {
  std::vector<kernels::ErrorNorms> norms(q.stored.size());
  run_jobs(
      q.pool, q.stored.size(),
      [&](std::size_t i) { return q.result.tensors[q.stored[i].decision].bytes_before; },
      [&](std::size_t i, const ForEach& for_each) {
        const passes::Stored& stored = q.stored[i];
        const plan::Decision& decision = q.plan.decisions[stored.decision];
        const auto tensor = [&](std::string_view name) {
          return find_tensor(written, decision.weight.body, name);
        };
        const passes::WrittenWeight weight{tensor(stored.names.codes), tensor(stored.names.scales),
                                           tensor(stored.names.zeros), stored.by};
        norms[i] = passes::compare_weight(q.prepared->model(), decision, *q.written, weight, for_each);
        if (q.options.progress != nullptr)
          q.options.progress->done += q.result.tensors[stored.decision].bytes_before;
      });
  return norms;
}

// Noise counts relative to the signal of its own tensor: constants of large values that lose nothing (an
// attention mask of -1e4) must not hide what weights lose.
void note_errors(Quantization& q, const std::vector<kernels::ErrorNorms>& norms) {
  double noise = 0, values = 0;
  for (std::size_t i = 0; i < q.stored.size(); ++i) {
    TensorOutcome& outcome = q.result.tensors[q.stored[i].decision];
    outcome.sqnr_db = norms[i].sqnr_db();
    outcome.max_abs_error = norms[i].max_abs;
    // Integer ops take quantized values even of weights that are next to nothing: those may become nothing.
    const bool is_nothing = norms[i].max_abs < kNothing;
    if ((!(outcome.sqnr_db > kLeastSqnr) && !is_nothing) || std::isnan(norms[i].max_abs)) {
      throw Error(ErrorCode::kInternal,
                  fmt::format("the written weight decodes to something else ({:.1f} dB); nothing was written",
                              outcome.sqnr_db),
                  outcome.name);
    }
    if (q.plan.decisions[q.stored[i].decision].limit != 0) continue;  // meant to be another value
    if (norms[i].noise == 0 || is_nothing) continue;
    const double count =
        std::accumulate(outcome.shape.begin(), outcome.shape.end(), 1.0,
                        [](double all, std::int64_t size) { return all * static_cast<double>(size); });
    noise += count * norms[i].noise / norms[i].signal;
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

void emit(Quantization& q) {
  q.result.source_digest =
      q.is_unread() ? std::string()
      : q.prepared->is_original()
          ? source_digest(q.prepared->model(), q.plan, q.pool)
          : source_digest(q.source().model(), plan::unread_plan(q.source().index()), q.pool);
  q.emitted = onnx::clone(q.prepared->model());
  auto [stored, shortened] =
      rewrite(q.emitted, q.prepared->model(), q.prepared->index(), q.plan,
              {q.result.plan_digest, q.is_unread() ? hex(Digest{}) : q.result.source_digest});
  q.stored = std::move(stored);
  if (shortened != 0) {
    q.result.notes.push_back(fmt::format(
        "names inside of the model were shortened, which saves {} bytes; `half.keep_names=true` keeps them",
        shortened));
  }
  // Nobody said where it will run: then at least where it will not.
  if (info_of(q.recipe.format).arithmetic == Arithmetic::kFloat16 && q.recipe.target.empty()) {
    if (std::string where = where_it_fails(q.source().model(), q.emitted); !where.empty())
      q.result.notes.push_back(std::move(where));
  }
  q.statement.releases = oldest_releases(q.emitted);
  // The emitted model carries out the plan. Its new weights have sizes, and are encoded while they are
  // written.
}

void estimate_size(Quantization& q) {
  q.result.bytes_after =
      onnx::written_size(q.emitted, q.output_path(), write_options(q)) + statement_field(q.statement).size();
  q.result.sqnr_db = std::nan("");
}

void write(Quantization& q) {
  const onnx::WriteOptions options = write_options(q);
  begin_stage(q.options, "writing", q.stored_source_bytes());
  q.output.emplace(q.emitted, q.output_path(), options);
  q.output->write(q.pool, q.options.progress == nullptr ? nullptr : &q.options.progress->done);
  q.result.bytes_after = q.output->total_bytes() + options.room;
  if (const std::uint64_t most = q.options.recipe.nbits.target_size; most != 0 && q.result.bytes_after > most)
    throw Error(ErrorCode::kUnsupported,
                fmt::format("it takes {} bytes, more than `nbits.target_size` {}; nothing was written",
                            q.result.bytes_after, most),
                q.path().string());
  // The files have all their bytes and no names: if anything fails from here on, they are gone.
}

void check(Quantization& q) {
  begin_stage(q.options, "checking", q.stored_source_bytes());
  q.written = q.output->reopen();
  const std::vector<kernels::ErrorNorms> norms = compare_weights(q, graph::validate(*q.written));
  note_errors(q, norms);
  // The file parses, its structure is valid, and every weight decodes to what it was made of, up to the error
  // that the result states.
}

void commit(Quantization& q) {
  q.statement.content = content_digest(std::move(*q.written), q.pool);
  q.statement.source_sha256 = source_sha256(q.source().model(), q.pool);
  if (q.result.trial.samples != 0) q.statement.trial = stated_run(q.result.trial);
  q.output->append(statement_field(q.statement));
  throw_if_cancelled();
  q.output->commit();
  if (needs_data(q.recipe.nbits.method)) KeptFits(q.kept_fits()).clear();
  q.result.tensors.insert(q.result.tensors.end(), q.integer_tensors.begin(), q.integer_tensors.end());
  // The model and its data stand in their places, with a statement of how they were made.
}

}  // namespace ounce::quantization
