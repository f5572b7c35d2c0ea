#include "quantize/write_resolved.h"

#include <fmt/format.h>
#include <ounce/error.h>
#include <ounce/version.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "base/cancel.h"
#include "base/digest.h"
#include "base/stopwatch.h"
#include "base/thread_pool.h"
#include "formats/onnx/edit/constants.h"
#include "formats/onnx/emit/compare_weights.h"
#include "formats/onnx/file/reader.h"
#include "formats/onnx/file/top_fields.h"
#include "formats/onnx/file/writer.h"
#include "formats/onnx/graph/validate.h"
#include "formats/onnx/plan/plan.h"
#include "formats/onnx/plan/work.h"
#include "formats/onnx/qat/quantized_state.h"
#include "io/mapped_file.h"
#include "quantize/adaptive_rounding.h"
#include "quantize/histograms.h"
#include "quantize/nbits_fit.h"
#include "quantize/nbits_search.h"
#include "quantize/output_place.h"
#include "quantize/rewrite.h"
#include "quantize/statement.h"
#include "quantize/target_fit.h"
#include "quantize/try_written.h"
#include "target/target.h"

namespace ounce::quantization {
namespace {

// Codes of nothing but zeros would give 0 dB; anything below means that codes and source do not belong
// together.
constexpr double kLeastSqnr = -3;
constexpr double kNothing = 256 * double{std::numeric_limits<float>::min()};

void begin_stage(const QuantizeOptions& options, const char* stage, std::uint64_t total) {
  if (options.progress == nullptr) return;
  options.progress->done = 0;
  options.progress->total = total;
  options.progress->stage = stage;
}

bool has_half_weights(const plan::Plan& plan) {
  return std::any_of(plan.decisions.begin(), plan.decisions.end(), [](const plan::Decision& decision) {
    return decision.weight.tensor->type == ElementType::kFloat16 ||
           decision.weight.tensor->type == ElementType::kBfloat16;
  });
}

void require_halves(const plan::Plan& plan, const graph::Index& index, const std::filesystem::path& path) {
  // A Cast only moves between the types: a model that has 16 bits already keeps its own.
  const auto computes = [&](const plan::HalfNode& node) {
    return node.is_half() && index.bodies()[node.body].nodes()[node.position]->op_type != "Cast";
  };
  const std::vector<plan::HalfNode>& nodes = plan.half.nodes;
  if (std::any_of(nodes.begin(), nodes.end(), computes)) return;
  const auto kept =
      std::find_if(nodes.begin(), nodes.end(), [](const auto& node) { return !node.is_half(); });
  const std::string why = has_half_weights(plan) ? "it does so already; `format=w8` stores it smaller"
                          : kept == nodes.end()  ? "it computes nothing in float32"
                                                 : "of its first node the plan says: " + kept->why_float;
  throw Error(ErrorCode::kUnsupported,
              fmt::format("nothing can compute on 16-bit floats: {}; nothing was written", why),
              path.string());
}

// Has somebody else done all there is to do? Says so, else nothing.
std::string quantized_by_others(const plan::Plan& plan, const PreparedModel& prepared) {
  const auto is_open = [&](const plan::Decision& decision) {
    return !decision.weight.feeds_quantized_op &&
           decision.weight.tensor->byte_count() >= plan.recipe.min_bytes;
  };
  if (std::any_of(plan.decisions.begin(), plan.decisions.end(), is_open)) return {};
  const passes::QuantizedState state = passes::describe_quantization(prepared.model(), prepared.index());
  return state.is_qoperator() || state.is_qdq() ? state.sentence : std::string();
}

void require_something_to_do(const plan::Plan& plan, const PreparedModel& prepared,
                             const std::filesystem::path& path) {
  if (plan.half.exists()) return require_halves(plan, prepared.index(), path);
  if (plan.stored_count() != 0 || prepared.trained_weights() != 0) return;
  if (prepared.is_trained())
    throw Error(ErrorCode::kUnsupported, prepared.notes().front() + ": nothing is left to do", path.string());
  std::string why = quantized_by_others(plan, prepared);
  if (!why.empty()) throw Error(ErrorCode::kUnsupported, why + "; nothing was written", path.string());
  why = "it has no float weights";
  if (!plan.decisions.empty()) {
    const auto largest =
        std::max_element(plan.decisions.begin(), plan.decisions.end(), [](const auto& a, const auto& b) {
          return a.weight.tensor->byte_count() < b.weight.tensor->byte_count();
        });
    why = fmt::format("of its largest float tensor '{}' the plan says: {}", largest->weight.name,
                      largest->reason);
  }
  throw Error(ErrorCode::kUnsupported, fmt::format("nothing to store smaller: {}; nothing was written", why),
              path.string());
}

// A file that computes in floats is not called static.
void require_integers(const Resolved& resolved, const QuantizeResult& result) {
  const auto is_integer = [](const NodeOutcome& node) { return node.arithmetic != Arithmetic::kFloat; };
  if (resolved.recipe.format != Format::kStatic || resolved.prepared->is_trained()) return;
  if (std::any_of(result.nodes.begin(), result.nodes.end(), is_integer)) return;
  std::string why = resolved.why_floats;
  for (const NodeOutcome& node : result.nodes) {
    if (why.empty() && !node.reason.empty())
      why = fmt::format("of '{}' the plan says: {}", node.name, node.reason);
  }
  throw Error(ErrorCode::kUnsupported,
              fmt::format("nothing computes on integers: {}; nothing was written; `format=w8` stores it in 8 "
                          "bits and computes in floats",
                          why.empty() ? "no op of it can" : why),
              result.model.string());
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

// What is stored in fewer bits, as pictures show it.
void add_histograms(const onnx::Model& source, const plan::Plan& plan, const calibration::Ranges* ranges,
                    QuantizeResult& result) {
  for (std::size_t i = 0; i < plan.decisions.size(); ++i) {
    if (!plan.decisions[i].is_stored()) continue;
    const plan::TensorSource weight(source, *plan.decisions[i].weight.tensor);
    result.tensors[i].histogram = histogram_of(weight.floats());
  }
  for (ActivationOutcome& activation : result.activations) {
    if (ranges == nullptr || !activation.scope.empty()) continue;
    const auto seen = ranges->values.find(activation.name);
    if (seen != ranges->values.end()) activation.histogram = histogram_of(seen->second, activation.range);
  }
}

// Reopens what was written, proves its structure, and compares every stored weight with its source.
void check_written(const onnx::ModelOutput& output, const onnx::Model& source, const plan::Plan& plan,
                   const std::vector<passes::Stored>& stored, ThreadPool& pool,
                   const QuantizeOptions& options, QuantizeResult& result) {
  const onnx::Model written = output.reopen();
  const graph::Index index = graph::verify(written);
  std::vector<kernels::ErrorNorms> norms(stored.size());
  run_jobs(
      pool, stored.size(), [&](std::size_t i) { return result.tensors[stored[i].decision].bytes_before; },
      [&](std::size_t i, const ForEach& for_each) {
        const auto& names = stored[i].names;
        const std::size_t body = plan.decisions[stored[i].decision].weight.body;
        const passes::WrittenWeight weight{find_tensor(index, body, names.codes),
                                           find_tensor(index, body, names.scales),
                                           find_tensor(index, body, names.zeros), stored[i].by};
        norms[i] =
            passes::compare_weight(source, plan.decisions[stored[i].decision], written, weight, for_each);
        if (options.progress != nullptr)
          options.progress->done += result.tensors[stored[i].decision].bytes_before;
      });
  // Noise counts relative to the signal of its own tensor: constants of large values that lose nothing (an
  // attention mask of -1e4) must not hide what weights lose.
  double noise = 0, values = 0;
  for (std::size_t i = 0; i < stored.size(); ++i) {
    TensorOutcome& outcome = result.tensors[stored[i].decision];
    outcome.sqnr_db = norms[i].sqnr_db();
    outcome.max_abs_error = norms[i].max_abs;
    // Integer ops take codes even for weights that are next to nothing: those may become nothing.
    const bool is_nothing = norms[i].max_abs < kNothing;
    if ((!(outcome.sqnr_db > kLeastSqnr) && !is_nothing) || std::isnan(norms[i].max_abs)) {
      throw Error(ErrorCode::kInternal,
                  fmt::format("the written weight decodes to something else ({:.1f} dB); nothing was written",
                              outcome.sqnr_db),
                  outcome.name);
    }
    if (plan.decisions[stored[i].decision].limit != 0) continue;  // meant to be another value
    if (norms[i].noise == 0 || is_nothing) continue;
    const double count =
        std::accumulate(outcome.shape.begin(), outcome.shape.end(), 1.0,
                        [](double all, std::int64_t size) { return all * static_cast<double>(size); });
    noise += count * norms[i].noise / norms[i].signal;
    values += count;
  }
  result.sqnr_db = kernels::ErrorNorms{values, noise, 0}.sqnr_db();
}

const target::Provider& provider_of(const Recipe& recipe) {
  return *target::find_provider(target::parse_target(recipe.target).provider);
}

// What people would otherwise find out on the device.
void note_target(const Recipe& recipe, QuantizeResult& result) {
  if (recipe.format != Format::kFp16 || provider_of(recipe).computes_fp16) return;
  if (target::parse_target(recipe.target).machine == "arm64") return;  // has kernels for most
  result.notes.emplace_back(
      "x86 CPUs compute this slower than FP32: ONNX Runtime has no 16-bit arithmetic there and casts around "
      "every "
      "op; `format=w16` is as small at full speed, `target=cuda`, coreml … is for processors that have it");
}

// Does this CPU tell how fast the target is?
bool is_timed_on_target(const Recipe& recipe) {
  const target::Target target = target::parse_target(recipe.target);
  return recipe.target.empty() ||
         (target.provider == "cpu" && target.machine == target::parse_target("").machine);
}

// Small layers gain nothing from integer kernels, and the conversions around them cost time.
void refuse_slowness(const Recipe& recipe, const QuantizeOptions& options, QuantizeResult& result) {
  constexpr double kClearly = 0.95, kNoticeable = 50e-6;  // seconds a call
  const auto& speed = result.trial.speed_up;
  if (!recipe.is_integer() || !speed || !speed->is_measurable || speed->high > kClearly) return;
  if (result.trial.seconds_after - result.trial.seconds_before < kNoticeable) return;
  const std::string how_slow = fmt::format(
      "the INT8 model runs at {:.2f}× the speed of the original on this CPU (95 % confidence: "
      "{:.2f}× or less)",
      speed->ratio, speed->high);
  const char* remedy = "`format=w8` is as small at full speed, and tune looks for a faster mix";
  if (options.trial.allow_slower || !is_timed_on_target(recipe)) {
    result.notes.push_back(fmt::format("{}; {}", how_slow, remedy));
    return;
  }
  throw Error(
      ErrorCode::kUnsupported,
      fmt::format("{}, so nothing was written; {}; `trial.allow_slower=true` writes it", how_slow, remedy),
      result.model.string());
}

// `format=int8` and its kind have kernels for MatMul and Gather alone: other layers keep their arithmetic.
void note_kernels(const Recipe& recipe, QuantizeResult& result) {
  if (!is_few_bits(recipe.format)) return;
  std::size_t in_kernels = 0, others = 0;
  std::map<std::string, std::size_t> by_op;
  for (const TensorOutcome& tensor : result.tensors) {
    if (!tensor.stored || tensor.shape.size() < 2) continue;
    const bool has_kernel = tensor.decoder == Decoder::kNbits || tensor.decoder == Decoder::kDq;
    (has_kernel ? in_kernels : others) += 1;
    if (!has_kernel) ++by_op[tensor.op_type];
  }
  by_op.erase("Gather");  // computes nothing
  if (others <= in_kernels || by_op.empty()) return;
  std::vector<std::string> left;
  for (const auto& [op_type, count] : by_op) left.push_back(fmt::format("{} {}", count, op_type));
  const bool is_one = by_op.size() == 1 && by_op.begin()->second == 1;
  const int bits = recipe.format == Format::kInt8 ? 8 : recipe.format == Format::kInt4 ? 4 : 2;
  result.notes.push_back(fmt::format(
      "{} {}-bit kernels ({}); {} keep{} FP32 arithmetic with compressed weights. For INT8 inference use "
      "`format=static` with `data`",
      in_kernels == 0   ? std::string("no layer uses")
      : in_kernels == 1 ? fmt::format("1 of {} layers uses", in_kernels + others)
                        : fmt::format("{} of {} layers use", in_kernels, in_kernels + others),
      bits, recipe.few_bits.dialect == FewBitsDialect::kNbits ? "MatMulNBits" : "DequantizeLinear by blocks",
      fmt::join(left, ", "), is_one ? "s" : ""));
}

// What can be said before anything is made.
Statement statement_before(const QuantizeOptions& options, const Recipe& recipe,
                           const std::optional<StatedGate>& gate) {
  Statement statement;
  statement.recipe = recipe;
  if (!options.ranges.empty()) statement.ranges = sha256_of(io::MappedFile::open(options.ranges).bytes());
  if (!options.trial.data.is_generated()) statement.calibration = selection_of(options.trial.data);
  statement.gate = gate;
  return statement;
}

std::string statement_field(const Statement& statement) {
  return onnx::metadata_field(Statement::kMetadataKey, statement_text(statement));
}

}  // namespace

void write_resolved(const onnx::Model& original, const QuantizeOptions& options, Resolved resolved,
                    QuantizeResult& result, const std::optional<StatedGate>& gate) {
  const std::filesystem::path& path = result.model;
  const std::filesystem::path& output_path = result.output;
  Statement statement = statement_before(options, resolved.recipe, gate);
  auto& [chosen, recipe, why_floats] = resolved;
  ThreadPool pool(options.threads);
  // A provider alone says nothing of the release, and its kernels were not measured.
  if (const target::Target target = target::parse_target(recipe.target);
      !recipe.target.empty() && target.is_place())
    recipe = fit_to_target(original, *chosen, recipe, target, pool, result.notes);
  std::vector<TensorOutcome> integer_tensors;
  if (computes_rest_on_halves(recipe)) {
    chosen = chosen->with_integers(recipe, pool, result);
    integer_tensors = std::exchange(result.tensors, {});
    recipe.format = Format::kFp16;
    recipe.include = recipe.exclude = {};  // they were about the integers …
    recipe.nodes = {};                     // … and so were these
    recipe.integer.half_rest = false;      // it is what is done now
    if (const target::Target target = target::parse_target(recipe.target); target.is_place())
      recipe = fit_to_target(original, *chosen, recipe, target, pool, result.notes);
  }
  const PreparedModel& prepared = *chosen;
  const onnx::Model& source = prepared.model();
  const graph::Index& index = prepared.index();

  // Plan: a decision and a reason for every float tensor.
  begin_stage(options, "reading weights", 0);
  const bool is_unread = options.dry_run && is_few_bits(recipe.format);
  plan::Plan plan = is_unread ? plan::plan_by_shapes(source, index, recipe)
                              : plan::make_plan(source, index, recipe, pool, prepared.ranges());
  std::filesystem::path kept_fits = output_path;
  kept_fits += ".fits";
  FewBitFitter fitter(prepared, options, kept_fits);
  if (!is_unread && needs_data(recipe.few_bits.method)) {
    fitter.fit(plan, pool);
    for (const auto& [why, count] : fitter.left_alone())
      result.notes.push_back(fmt::format("{} layers are rounded to nearest: {}", count, why));
  }
  if (recipe.rounding == Rounding::kAdaptive) {
    const AdaptiveResult rounded = round_adaptively(prepared, options, source, index, plan, pool);
    result.notes.push_back(
        fmt::format("{} layers rounded for their outputs: {:.1f} dB closer to them than "
                    "nearest rounding",
                    rounded.layers, rounded.gain_db));
    for (const std::string& reason : rounded.left_alone)
      result.notes.push_back("rounded to nearest: " + reason);
  }
  note_target(recipe, result);
  const std::vector<std::string> unlisted =
      recipe.keep_inputs ? std::vector<std::string>() : passes::listed_constants(original);
  if (!unlisted.empty()) result.notes.push_back(passes::sentence_of_unlisted(unlisted));
  result.notes.insert(result.notes.begin(), prepared.notes().begin(), prepared.notes().end());
  result.notes.insert(result.notes.end(), plan.notes.begin(), plan.notes.end());
  result.unmatched.insert(result.unmatched.end(), plan.unmatched.begin(), plan.unmatched.end());
  result.scale_changes = prepared.scale_changes();
  describe_integers(plan.integer, index, result);
  describe_halves(plan.half, index, result);
  result.nodes.insert(result.nodes.end(), prepared.float_ops().begin(), prepared.float_ops().end());
  std::uint64_t stored_source = 0;
  for (const plan::Decision& decision : plan.decisions) {
    result.tensors.push_back(outcome_of(decision, index));
    if (decision.is_stored()) stored_source += decision.weight.tensor->byte_count();
  }
  note_kernels(recipe, result);
  if (options.pictures) add_histograms(source, plan, prepared.ranges(), result);
  // Whatever changes the bytes of the result belongs in here: the name of a data file is made of it.
  const char* const limited = result.scale_changes.empty() ? "" : " limited";
  result.plan_digest = hex(digest_of(fmt::format(
      "{}{} {} {}{}{}", plan.text(), static_cast<int>(recipe.scale), static_cast<int>(recipe.rounding),
      version(), unlisted.empty() ? "" : " unlisted", limited)));
  require_integers(resolved, result);
  if (integer_tensors.empty())
    require_something_to_do(plan, prepared, path);  // otherwise the integers are enough

  // Passes: a second reading of the file is edited; the first one stays the truth to compare with.
  onnx::Model model = prepared.read();
  require_same_file(source, model);
  result.source_digest = is_unread ? std::string()
                         : prepared.is_original()
                             ? source_digest(source, plan, pool)
                             : source_digest(original, plan::unread_plan(graph::Index(original)), pool);
  const auto [stored, shortened] = rewrite(
      model, source, index, plan, {result.plan_digest, is_unread ? hex(Digest{}) : result.source_digest});
  if (shortened != 0) {
    result.notes.push_back(fmt::format(
        "names inside of the model were shortened, which saves {} bytes; `half.keep_names=true` keeps them",
        shortened));
  }

  // Nobody said where it will run: then at least where it will not.
  if (recipe.format == Format::kFp16 && recipe.target.empty()) {
    if (std::string where = where_it_fails(original, model); !where.empty())
      result.notes.push_back(std::move(where));
  }

  // Write: the file has its full size and no name; weights are quantized on their way into it.
  const std::string tag = hex(digest_of(result.source_digest + result.plan_digest)).substr(0, 16);
  statement.releases = oldest_releases(model);
  const std::uint64_t room = statement_field(statement).size();
  const onnx::WriteOptions write_options{options.external_data, tag, options.data_name, room};
  if (options.dry_run) {
    result.bytes_after = onnx::written_size(model, output_path, write_options) + room;
    result.sqnr_db = std::nan("");
    return;
  }
  begin_stage(options, "writing", stored_source);
  onnx::ModelOutput output(model, output_path, write_options);
  output.write(pool, options.progress == nullptr ? nullptr : &options.progress->done);
  result.bytes_after = output.total_bytes() + room;
  if (const std::uint64_t most = options.recipe.few_bits.target_size; most != 0 && result.bytes_after > most)
    throw Error(ErrorCode::kUnsupported,
                fmt::format("it takes {} bytes, more than `few_bits.target_size` {}; nothing was written",
                            result.bytes_after, most),
                path.string());

  // Check, and only then put it in its place.
  begin_stage(options, "checking", stored_source);
  check_written(output, source, plan, stored, pool, options, result);
  if (options.trial.is_wanted) {
    begin_stage(options, "running", 0);
    const Work work = [&](const auto& inputs) {
      return plan::multiplications(original, graph::Index(original), inputs);
    };
    result.trial = try_written(path, output_path, output, recipe, options, work, result);
    if (!result.trial.slice.empty())
      result.notes.push_back(fmt::format(
          "output SQNR is that of {}, which is of another kind or scale than the rest of the output",
          result.trial.slice));
  }
  refuse_slowness(recipe, options, result);
  if (std::string note = decoding_note(recipe, result.trial); !note.empty())
    result.notes.push_back(std::move(note));
  statement.content = content_digest(output.reopen(), pool);
  statement.source_sha256 = source_sha256(original, pool);
  if (result.trial.samples != 0) statement.trial = stated_run(result.trial);
  output.append(statement_field(statement));
  throw_if_cancelled();
  output.commit();
  if (needs_data(recipe.few_bits.method)) fitter.forget_kept();
  result.tensors.insert(result.tensors.end(), integer_tensors.begin(), integer_tensors.end());
}

std::string decoding_note(const Recipe& recipe, const TrialResult& trial) {
  const std::optional<SpeedUp>& speed = trial.speed_up;
  if (recipe.memory != MemoryUse::kBalanced || !speed) return {};
  if (!speed->is_reliable || speed->rounds < SpeedUp::kLeastRounds) return {};
  if (speed->high >= 1 - recipe.decode_share) return {};
  return fmt::format(
      "decoding was given {:.3g} % of a run and took {:.0f} % here (95 % confidence: {:.0f} % or more); a "
      "smaller `decode_share` spends less",
      100 * recipe.decode_share, 100 * (1 / speed->ratio - 1), 100 * (1 / speed->high - 1));
}

}  // namespace ounce::quantization
