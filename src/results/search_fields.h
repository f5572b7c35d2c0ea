// Fields of results of searches (tune, sensitivity, advise) and of what follows them: publish, prove, unpack,
// shadow.
#pragma once

#include <ounce/app.hpp>
#include <ounce/publish.h>
#include <ounce/search.h>
#include <ounce/verify.h>
#include <ounce/work.h>

#include "report/recipe_command.h"
#include "results/model_fields.h"
#include "results/results.h"
#include "results/verify_fields.h"

namespace ounce::results {

void fields(MaybeConst<ExplainedMessage> auto& message, auto& f) {
  f("id", message.id, "stable code of the message, such as \"OUN101\"");
  f("title", message.title, "subject");
  f("cause", message.cause, "why the message appears");
  f("consequence", message.consequence, "effect on the run");
  f("fix", message.fix, "remedy");
}

}  // namespace ounce::results

namespace ounce {

inline std::vector<std::string> corners_of(const TuneTrial& trial) {
  std::vector<std::string> corners;
  if (trial.is_smallest) corners.push_back("smallest");
  if (trial.is_fastest) corners.push_back("fastest");
  if (trial.is_closest) corners.push_back("closest");
  return corners;
}

void fields(MaybeConst<WorkResult> auto& result, auto& f) {
  f("answered", result.answered, "answers that count");
  f("late", result.late, "answers that came after another worker's, and do not count");
  f("declined", result.declined, "questions that this worker could not answer");
  f("measuring_seconds", result.measuring_seconds, "time spent on answers");
  f("seconds", result.seconds, "from the start to the end of the worker");
}

void fields(MaybeConst<TuneTrial> auto& trial, auto& f) {
  using namespace results;
  f("name", trial.name, "such as \"int8, 3 of 24 layers stored only\"");
  f("problem", sentence(trial.problem),
    "why it could not be made; then nothing below is filled in; else empty");
  f("command", nonempty(trial.recipe ? report::making_command(*trial.recipe) : std::string()),
    "makes this candidate of SOURCE, OUT and DATA; null for an evaluation on held-out samples");
  f("bytes", trial.bytes, "size of the model");
  f("ratio", trial.ratio, "share of the original's bytes");
  f("speed_up", only_if(trial.is_timed, SpeedUp(trial.speed_up)), "null when it was not timed");
  f("slower", trial.is_slower, "slower than the original, by more than the timing tolerance");
  f("load_memory", trial.memory, "with --objective memory; else null");
  f("memory_ratio", only_if(trial.memory.has_value(), double(trial.memory_ratio)),
    "share of the original's peak");
  f("exact", is_exact(trial.sqnr_db), "all values are equal");
  f("sqnr_db", finite(trial.sqnr_db), "of the worst slice of an output; null if exact");
  f("agreement", trial.agreement, "share of the same top-1 answers; null without classes");
  f("metric", trial.metric, "null without labels");
  f("passed", trial.passed, "the gate, on the samples of the search");
  f("verdict", sentence(trial.verdict), "the gate that decided");
  f("confidence", nonzero(trial.confidence), "that it was judged with; null: by the samples alone");
  f("samples", trial.samples, "that it was judged on");
  f("samples_needed", nonzero(trial.samples_needed), "in their place; null if they do, or no number would");
  f("too_few_samples", trial.has_too_few_samples, "to be sure of any model");
  f("reason", nonempty(trial.reason), "why it cannot be the result; null if it can");
  f("more_samples", nonzero(trial.more_samples),
    "that the data would need besides, for it to pass; else null");
  f("held_out", trial.held_out, "passed on the held-out samples; null if it was not asked");
  f("on_front", trial.is_on_front, "no other that passed is better in bytes, time and quality");
  f("corners", corners_of(trial),
    "\"smallest\", \"fastest\" and \"closest\", if it is that of all possible results");
}

void fields(MaybeConst<LayerChoice> auto& layer, auto& f) {
  f("name", layer.name, "of the layer");
  f("op_type", layer.op_type, "op");
  f("format", layer.format, "how it computes in the result");
}

void fields(MaybeConst<TuneResult> auto& result, auto& f) {
  using namespace results;
  f("model", result.model, "the original");
  f("output", only_if(result.passed, nonempty(result.output.string()).value_or("")),
    "the file that passed; else null");
  f("closest", nonempty(result.closest.string()),
    "the file that came closest, when nothing passed; else null");
  f("passed", result.passed, "a model passed and was written");
  f("interrupted", result.is_interrupted, "stopped, for example with Ctrl-C: the best so far counts");
  f("out_of_time", result.is_out_of_time, "the budget was used up before everything was tried");
  f("runtime_version", result.runtime_version, "of ONNX Runtime");
  f("cpus", result.cpus, "the result on other CPUs (--on)");
  f("bytes_before", result.bytes_before, "size of the original");
  f("search_samples", result.search_samples, "samples that the search looked at");
  f("held_out_samples", result.held_out_samples, "samples that only the result was judged on");
  f("confidence", nonzero(result.confidence),
    "that the result passes on other data; null with --confidence none");
  f("samples_needed", nonzero(result.samples_needed),
    "when nothing passed: about how many samples like these would show that what came closest is good "
    "enough; null "
    "when no number would");
  f("best", only_if(!result.best.name.empty(), TuneTrial(result.best)),
    "the trial that won, or came closest; null without");
  f("held_out", only_if(result.passed, TuneTrial(result.held_out)),
    "the result on the held-out samples, or on all samples if it was made without them; null when nothing "
    "passed");
  f("layers", result.layers, "of the result");
  f("trials", result.trials, "in their order");
  f("notes", sentences(result.notes), "notes for the reader");
  f("recalled", result.recalled, "measurements that were known from before");
  f("duration_ns", nanoseconds(result.seconds), "of this run");
}

void fields(MaybeConst<GroupSensitivity> auto& group, auto& f) {
  using namespace results;
  f("name", group.name, "of the group");
  f("op_type", group.op_type, "op of its first layer");
  f("place", group.place, "position in the network, from 0 on");
  f("layers", group.layers, "names of nodes");
  f("weight_bytes", group.weight_bytes, "bytes of the weights in FP32");
  f("first", group.is_first, "no other layer is before it");
  f("last", group.is_last, "no other layer is behind it");
  f("attention", group.is_attention, "it belongs to attention");
  f("estimated_db", finite(group.estimated_db), "of what the layer gives, from statistics alone");
  f("measured", group.is_measured, "false: only estimated");
  f("exact", group.is_measured && is_exact(group.alone_db),
    "quantized alone, it changes nothing; alone_db is null");
  f("alone_db", only_if(group.is_measured, finite(group.alone_db)),
    "of the outputs when only this is quantized; null if exact, or when the model does not run");
  f("without_db", only_if(group.is_measured, finite(group.without_db)),
    "of the outputs when all but this is quantized");
  f("alone_drop", finite(group.alone_drop),
    "of the metric, when only this is quantized; null without a metric");
  f("without_drop", finite(group.without_drop), "of the metric, when all but this is quantized");
  f("noise_share", group.share, "of the noise that all groups cause alone");
}

void fields(MaybeConst<SensitivityResult> auto& result, auto& f) {
  using namespace results;
  f("model", result.model, "path");
  f("format", result.format, "format that was analyzed");
  f("min_sqnr_db", result.min_sqnr, "--min-sqnr");
  f("runtime_version", result.runtime_version, "of ONNX Runtime");
  f("samples", result.samples, "samples that were measured on");
  f("metric", nonempty(result.metric), "name of the metric; null without labels");
  f("metric_reference", only_if(!result.metric.empty(), finite(result.metric_reference)), "of the original");
  f("all_db", finite(result.all_db), "of the outputs when everything is quantized");
  f("all_drop", finite(result.all_drop),
    "of the metric, when everything is quantized; null without a metric");
  f("groups", result.groups, "worst first, those that were not measured at the end");
  f("exclude", result.exclude, "expressions for --exclude: leaving these layers in FP32 reaches min_sqnr_db");
  f("nodes", result.nodes,
    "the same layers for --node: format by name of the value; empty when only FP32 will do");
  f("exclude_db", finite(result.exclude_db), "of the outputs without these layers, measured");
  f("enough", result.is_enough, "whether that reaches min_sqnr_db");
  f("findings", sentences(result.findings), "conspicuous findings");
  f("notes", sentences(result.notes), "notes for the reader");
  f("measured", result.measured, "models that ran");
  f("recalled", result.recalled, "measurements that were known from before");
  f("duration_ns", nanoseconds(result.seconds), "of this run");
}

namespace results {

struct StatePair {
  std::string input, output;
};
inline std::vector<StatePair> state_pairs(const FamilyFinding& family) {
  std::vector<StatePair> pairs;
  for (const auto& [input, output] : family.states) pairs.push_back({input, output});
  return pairs;
}
void fields(MaybeConst<StatePair> auto& pair, auto& f) {
  f("input", pair.input, "input that takes the state");
  f("output", pair.output, "output that gives it");
}

}  // namespace results

void fields(MaybeConst<FamilyFinding> auto& family, auto& f) {
  using namespace results;
  f("name", family.family, "by the structure of the graph");
  f("description", family.description, "such as \"autoregressive transformer\"");
  f("autoregressive", family.is_autoregressive, "its own output comes back to it");
  f("quantized", family.is_quantized, "the model is quantized already");
  f("half", family.is_half, "most weights are 16-bit floats");
  f("task", family.task, "the task that the outputs suggest; \"auto\": unknown");
  f("task_reason", sentence(family.task_reason), "why");
  f("reasons", sentences(family.reasons), "signs of the family");
  f("ops", family.ops, "by op type, most frequent first");
  f("weights", family.weights, "weights by op type");
  f("weight_bytes", family.weight_bytes, "bytes of all weights");
  f("states", state_pairs(family), "pairs of input and output that carry a state");
}

void fields(MaybeConst<Baseline> auto& baseline, auto& f) {
  using namespace results;
  f("measured", baseline.is_measured, "false: the original was not run, and why_not says why");
  f("why_not", sentence(baseline.why_not), "else empty");
  f("runtime_version", baseline.runtime_version, "of ONNX Runtime");
  f("latency", baseline.latency, "time of a call");
  f("load_ns", nanoseconds(baseline.load_seconds), "creating the session");
  f("cold_start_ns", nanoseconds(baseline.cold_start_seconds),
    "from the start of a process to its first result");
  f("peak_memory_bytes", baseline.peak_memory, "peak resident memory of a process that runs only this model");
  f("load_memory", baseline.load_memory, "null where the system does not tell");
  f("metrics", baseline.metrics, "of labeled data; reference is the original's value");
  f("profile", baseline.profile, "where the time goes; null if there was no time for it");
}

void fields(MaybeConst<MethodFinding> auto& method, auto& f) {
  using namespace results;
  const bool is_timed = method.speed_up.rounds >= SpeedUp::kLeastRounds;
  f("method", method.format, "format");
  f("measured", method.is_measured, "false: why_not says why, and nothing below is filled in");
  f("why_not", sentence(method.why_not), "else empty");
  f("out_of_time", method.is_out_of_time, "it did not fit into the budget");
  f("bytes", method.bytes, "size of the model");
  f("ratio", method.ratio, "share of the original's bytes");
  f("speed_up", only_if(is_timed, SpeedUp(method.speed_up)), "null when it was not timed");
  f("load_ns", nonzero(nanoseconds(method.load_seconds)), "creating the session; null: not measured");
  f("peak_memory_bytes", nonzero(method.peak_memory), "peak resident memory; null: not measured");
  f("load_memory", method.load_memory, "null where the system does not tell");
  f("exact", method.is_measured && is_exact(method.sqnr_db), "all values are equal");
  f("sqnr_db", finite(method.sqnr_db), "of the worst output; null if exact");
  f("agreement", method.agreement, "share of the same top-1 answers; null without classes");
  f("metric", method.metric, "null without labels");
  f("samples", method.samples, "that it was compared on");
  f("acceptable", method.is_acceptable, "the thresholds are met with the confidence");
  f("uncertain", method.is_uncertain,
    "the thresholds are met on these samples, which are too few for the confidence");
  f("samples_needed", nonzero(method.samples_needed),
    "for that, about; null: no number of samples, or it is certain");
  f("quality", sentence(method.quality), "the measured quality in words");
  f("integer_nodes", method.integer_nodes, "nodes with weights that run in INT8");
  f("float_nodes", method.float_nodes, "nodes with weights that compute in float");
  f("left_in_floats", sentences(method.left_in_floats), "why, most frequent first");
  f("duration_ns", nanoseconds(method.seconds), "to make and to compare it");
  f("profile", method.profile, "where the time goes, of the fastest method that is good enough; else null");
}

void fields(MaybeConst<Risk> auto& risk, auto& f) {
  f("name", risk.name, "such as \"attention_mask\"");
  f("evidence", results::sentence(risk.evidence), "with its numbers");
  f("advice", results::sentence(risk.advice), "the remedy; may be empty");
}

void fields(MaybeConst<FormatEstimate> auto& estimate, auto& f) {
  using namespace results;
  f("format", estimate.format, "of --to");
  f("label", estimate.label, "such as \"INT8 static, W8A8\"");
  f("bytes", estimate.bytes, "estimated size of the quantized model");
  f("ratio", estimate.ratio, "share of the original's bytes");
  f("needs_data", estimate.needs_data, "for calibration");
  f("faster", estimate.is_faster, "usually, for models of this family");
  f("why_not", nonempty(estimate.why_not), "why the format does not fit this model; null if it does");
}

void fields(MaybeConst<Overview> auto& found, auto& f) {
  using namespace results;
  f("model", found.model, "path");
  f("bytes", found.bytes, "size of the model file and its external data");
  f("file_format", found.file_format, "\"ONNX\", \"TFLite\" or \"Core ML\"");
  f("family", nonempty(found.family), "the kind of model, by its structure; null if unknown");
  f("already_quantized", nonempty(found.already_quantized), "how; null if it is not");
  f("inputs", found.inputs, "of the model");
  f("outputs", found.outputs, "of the model");
  f("weight_bytes", found.weight_bytes, "bytes of all tensors");
  f("formats", found.formats, "that fit first; empty for quantized models");
  f("commands", found.commands, "to paste into a shell; empty if nothing can be quantized");
}

void fields(MaybeConst<RecommendedCommand> auto& command, auto& f) {
  f("line", command.line, "for a shell");
  f("why", results::sentence(command.why), "its purpose");
}

void fields(MaybeConst<AdviseResult> auto& result, auto& f) {
  using namespace results;
  f("model", result.model, "path");
  f("verdict", result.verdict, "\"unknown\": no recommendation yet");
  f("headline", sentence(result.headline), "the verdict in one line");
  f("reasons", sentences(result.reasons), "why");
  f("commands", result.commands, "the recommended one first; with \"unknown\", a command to try");
  f("bytes", result.bytes, "size of the model file and its external data");
  f("size_class", result.size, "by bytes");
  f("family", result.family, "the kind of model, by its structure");
  f("baseline", result.baseline, "the original, measured");
  f("samples", result.samples, "in the data");
  f("calibration_samples", result.calibration_samples, "that int8 was calibrated on");
  f("quality_samples", result.quality_samples, "the most that a method was compared on");
  f("generated", result.is_generated, "true: random inputs");
  f("confidence", result.confidence, "of the gate");
  f("methods", result.methods, "most promising first");
  f("risks", result.risks, "risks");
  f("missing", sentences(result.missing), "data that would make the advice better");
  f("notes", sentences(result.notes), "notes for the reader");
  f("budget_ns", nanoseconds(result.budget), "--budget");
  f("duration_ns", nanoseconds(result.seconds), "of this run");
  f("budget_needed_ns", nonzero(nanoseconds(result.budget_needed)),
    "budget that would be enough for the most promising methods, about; null: the budget was");
}

// Fields of results about published models: publish, prove, unpack, shadow report, report.

void fields(MaybeConst<PublishedVariant> auto& variant, auto& f) {
  using namespace results;
  f("variant", variant.variant, "such as \"q8\"");
  f("file", variant.file, "below the output folder");
  f("written", variant.is_written, "false: why_not says why");
  f("gate_failed", variant.is_gate_failure, "it was made and did not pass its gate");
  f("why_not", sentence(variant.why_not), "else empty");
  f("format", variant.format, "format");
  f("bytes", variant.bytes, "size of the model file and its external data");
  f("ratio", variant.ratio, "share of the original's bytes");
  f("verified", variant.verified, "as verify has it; null for the original");
  f("bench", variant.bench, "as bench has it; null with --seconds 0");
  f("releases", variant.releases, "oldest release of ONNX Runtime that runs it, by machine");
  f("notes", sentences(variant.notes), "notes for the reader");
}

void fields(MaybeConst<PublishedModel> auto& model, auto& f) {
  f("model", model.model, "the original");
  f("variants", model.variants, "the original first");
}

void fields(MaybeConst<PublishResult> auto& result, auto& f) {
  using namespace results;
  f("output", only_if(result.written() != 0, result.output.string()),
    "folder; null when nothing was written");
  f("passed", result.passed(), "every variant was written");
  f("layout", result.layout, "of the folder");
  f("runtime_version", result.runtime_version, "of ONNX Runtime");
  f("cpu", result.cpu, "CPU features that the kernels used");
  f("models", result.models, "originals with their variants");
  f("configs", result.configs, "files of configuration that were written, below the output folder");
  f("carried", result.carried, "files that were copied, below the output folder");
  f("notes", sentences(result.notes), "notes for the reader");
  f("duration_ns", nanoseconds(result.seconds), "of this run");
}

void fields(MaybeConst<StatedRun> auto& run, auto& f) {
  f("runtime_version", run.runtime_version, "of ONNX Runtime");
  f("samples", run.samples, "number of samples");
  f("generated", run.is_generated, "true: random inputs");
  f("data", run.data, "SHA-256 of the inputs");
  f("labels", run.labels, "SHA-256 of the labels; empty without");
  f("sqnr_db", run.sqnr_db, "of the worst output, whole dB, rounded down; null: exact");
}

void fields(MaybeConst<StatedMetric> auto& metric, auto& f) {
  f("name", metric.name, "of the metric");
  f("reference", metric.reference, "of the original");
  f("candidate", metric.candidate, "of the model");
  f("drop_low", metric.drop_low, "lower bound of the 95 % interval");
  f("drop_high", metric.drop_high, "upper bound of the 95 % interval");
}

void fields(MaybeConst<StatedGate> auto& gate, auto& f) {
  f("run", gate.run, "the compared values");
  f("agreement", gate.agreement, "share of the same top-1 answers; null without classes");
  f("metrics", gate.metrics, "empty without labels");
}

void fields(MaybeConst<Statement> auto& statement, auto& f) {
  using namespace results;
  f("version", statement.version, "of Ounce");
  f("source_digest", statement.source, "of the original (XXH3): tells files apart");
  f("plan_digest", statement.plan, "of the plan (XXH3)");
  f("content_digest", statement.content,
    "SHA-256 of the model without its metadata (XXH3, 32 digits, in old statements)");
  f("source_sha256", nonempty(statement.source_sha256),
    "of the original and its external data; null in old statements");
  f("format", statement.recipe.format, "format of the model");
  f("command", report::making_command(statement), "makes the model again");
  f("verify_command", statement.gate ? std::optional(report::judging_command(statement)) : std::nullopt,
    "judges the model again; null when no gate was stated");
  f("releases", statement.releases, "oldest release of ONNX Runtime that runs it, by machine");
  f("trial", statement.trial, "null when there was none");
  f("gate", statement.gate, "null when none was stated");
}

void fields(MaybeConst<ProofStep> auto& step, auto& f) {
  f("name", step.name,
    "\"content\", \"releases\", \"source\", \"recipe\", \"trial\", \"gate\" or \"figures\"");
  f("finding", step.finding, "whether it holds");
  f("what", results::sentence(step.what), "in words");
}

void fields(MaybeConst<Proof> auto& proof, auto& f) {
  f("model", proof.model, "path");
  f("holds", proof.holds(), "false when the model is refuted");
  f("verdict", proof.verdict(), "of all steps");
  f("reason", results::sentence(proof.reason()),
    "the step that fails, those that were not checked, or those that hold");
  f("statement", proof.statement, "the provenance record of the model");
  f("steps", proof.steps, "in their order");
}

namespace results {

void fields(MaybeConst<ReportPage> auto& page, auto& f) {
  f("output", page.output, "the page");
  f("runs", page.runs, "documents that it shows");
  f("bytes", page.bytes, "size of the page");
}

void fields(MaybeConst<MergedImportance> auto& merged, auto& f) {
  f("output", merged.output, "file of importance");
}

struct ShadowFailures {
  std::uint64_t errors = 0, crashes = 0, timeouts = 0, not_finite = 0;
};
void fields(MaybeConst<ShadowFailures> auto& failures, auto& f) {
  f("errors", failures.errors, "the candidate could not run, or gave other shapes");
  f("crashes", failures.crashes, "its process ended");
  f("timeouts", failures.timeouts, "it took too long");
  f("not_finite", failures.not_finite, "NaN or infinity where the primary has a number");
}

struct ShadowCanary {
  std::uint64_t calls = 0, fallbacks = 0;
  double share = 0;
  std::string stopped;
};
void fields(MaybeConst<ShadowCanary> auto& canary, auto& f) {
  f("calls", canary.calls, "that the candidate answered");
  f("fallbacks", canary.fallbacks, "that the primary answered in its place");
  f("share", canary.share, "of the calls that the candidate answers");
  f("stopped", canary.stopped, "why it was stopped; else empty");
}

struct NamedShadowOutput {
  std::string name;
  app::ShadowOutput output;
};
void fields(MaybeConst<NamedShadowOutput> auto& named, auto& f) {
  f("name", named.name, "of the output");
  f("values", named.output.values, "number of values");
  f("exact", is_exact(named.output.sqnr_db()), "nothing differs");
  f("sqnr_db", finite(named.output.sqnr_db()), "null if exact");
  f("largest", named.output.largest, "largest difference");
  f("answers", named.output.answers, "rows with a best class");
  f("flips", named.output.flips, "rows whose best class is another one");
}

void fields(MaybeConst<ShadowResult> auto& result, auto& f) {
  const app::ShadowStatistics& statistics = result.statistics;
  std::vector<NamedShadowOutput> outputs;
  for (const auto& [name, output] : statistics.outputs) outputs.push_back({name, output});
  f("passed", result.verdict.passed, "every limit holds");
  f("known", result.verdict.is_known, "enough was compared");
  f("reasons", result.verdict.reasons, "limits that do not hold");
  f("primary", statistics.primary, "digest of the model that answers");
  f("candidate", statistics.candidate, "digest of the candidate");
  f("devices", statistics.devices, "files that were merged");
  f("calls", statistics.calls, "of the primary, and of the candidate as a canary");
  f("compared", statistics.compared, "calls that were compared");
  f("dropped", statistics.dropped, "calls that should have been compared and were not");
  f("failures",
    ShadowFailures{statistics.errors, statistics.crashes, statistics.timeouts, statistics.not_finite},
    "of the candidate");
  f("canary",
    ShadowCanary{statistics.canary_calls, statistics.canary_fallbacks, statistics.canary_share,
                 statistics.canary_stopped},
    "calls that the candidate answered");
  f("agreement", statistics.agreement(), "share of equal predictions");
  f("exact", is_exact(statistics.sqnr_db()), "nothing differs");
  f("sqnr_db", finite(statistics.sqnr_db()), "of the worst output; null if exact");
  f("outputs", outputs, "by name");
  f("primary_latency", statistics.primary_latency, "time of a call");
  f("candidate_latency", statistics.candidate_latency, "time of a call");
}

}  // namespace results

namespace app {

void fields(MaybeConst<Latencies> auto& latencies, auto& f) {
  f("count", latencies.count(), "number of calls");
  f("p50_ns", results::nanoseconds(latencies.quantile(0.5)), "median");
  f("p99_ns", results::nanoseconds(latencies.quantile(0.99)), "99th percentile");
}

void fields(MaybeConst<Unpacked> auto& unpacked, auto& f) {
  using namespace results;
  f("model", unpacked.model, "path");
  f("file", nonempty(unpacked.file.string()),
    "in the cache; null: the model is used unchanged, and why_not has the reason");
  f("status", unpacked.status, "\"ok\", or a status of ounce/app.hpp");
  f("why_not", unpacked.why_not, "else empty");
  f("is_new", unpacked.is_new, "made in this run");
  f("was_damaged", unpacked.was_damaged, "a damaged file was in its place, and was not used");
  f("in_runner", unpacked.used_runner, "made in a process of its own");
  f("model_bytes", unpacked.model_bytes, "of the packed model");
  f("bytes", unpacked.bytes, "of the file");
  f("digest", unpacked.digest, "of the model (XXH3, 32 digits): names the file, and is not for security");
  f("sha256", unpacked.sha256, "of the model with its external data: the digest that an app expects");
  f("runtime_version", unpacked.runtime_version, "that the file is for");
  f("cpu", unpacked.cpu, "that the file is for");
  f("duration_ns", nanoseconds(unpacked.seconds), "of this run");
}

}  // namespace app

}  // namespace ounce
