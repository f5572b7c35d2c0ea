// Fields of results about how models run and what they answer: bench, decode, verify, memory, other CPUs,
// contracts.
#pragma once

#include <ounce/bench.h>
#include <ounce/data.h>
#include <ounce/runtime.h>
#include <ounce/verify.h>

#include <algorithm>

#include "base/fields.h"
#include "base/text.h"
#include "results/results.h"

namespace ounce {

void fields(MaybeConst<LoadMemory> auto& memory, auto& f) {
  f("peak_bytes", memory.peak,
    "resident memory while the session is created, beyond what the process had before");
  f("after_bytes", memory.stays, "resident memory after the session is created");
}

void fields(MaybeConst<SpeedUp> auto& speed, auto& f) {
  f("ratio", speed.ratio, "times as fast as the original (or the first model): 2 is twice as fast");
  f("low", speed.low, "lower bound of the 95 % interval");
  f("high", speed.high, "upper bound of the 95 % interval");
  f("rounds", speed.rounds, "timing rounds; fewer than 10 say nothing");
  f("measurable", speed.is_measurable,
    "reliable, enough rounds, an interval without 1, and a ratio that differs by more than 1 %");
  f("load", results::nonzero(speed.load),
    "wall time over CPU time while timing: 1 on an idle machine, busy from 1.1 on; null when unknown");
  f("reliable", speed.is_reliable, "false: several threads on a busy machine, where the ratio means nothing");
}

void fields(MaybeConst<Latency> auto& latency, auto& f) {
  using results::nanoseconds;
  f("calls", latency.calls, "number of calls");
  f("mean_ns", nanoseconds(latency.mean), "mean time of a call");
  f("p50_ns", nanoseconds(latency.p50), "median");
  f("p90_ns", nanoseconds(latency.p90), "90th percentile");
  f("p99_ns", nanoseconds(latency.p99), "99th percentile");
  f("min_ns", nanoseconds(latency.min), "fastest call");
  f("cpu_ns", results::only_if(latency.cpu > 0, nanoseconds(latency.cpu)),
    "mean CPU time of a call; null with several threads and where the system does not tell");
  f("quantiles_ns", nanoseconds(latency.quantiles),
    "101 values: the time that 0 %, 1 %, … 100 % of the calls did not exceed");
}

void fields(MaybeConst<BatchResult> auto& batch, auto& f) {
  f("batch", batch.batch, "batch size");
  f("latency", batch.latency, "time of a call");
  f("samples_per_second", batch.samples_per_second, "throughput");
  f("speed_up", batch.speed_up, "against the first model at the same batch size");
}

void fields(MaybeConst<NodeTime> auto& node, auto& f) {
  f("node", node.node, "name");
  f("op_type", node.op_type, "op that the runtime runs: fused, and in the layout of this machine");
  f("duration_ns", results::nanoseconds(node.seconds), "median time in one run, without nodes inside of it");
}

void fields(MaybeConst<OpTime> auto& op, auto& f) {
  f("op_type", op.op_type, "op that the runtime runs");
  f("nodes", op.nodes, "number of nodes");
  f("duration_ns", results::nanoseconds(op.seconds), "time of these nodes in one run");
}

void fields(MaybeConst<Profile> auto& profile, auto& f) {
  f("runs", profile.runs, "profiled runs");
  f("duration_ns", results::nanoseconds(profile.seconds), "time of all nodes in one run");
  f("integer_share", profile.integer_share, "share of that time in kernels that multiply integers");
  f("operators", results::nonzero(profile.operators), "of the main graph of a .tflite model; null for ONNX");
  f("delegated", results::only_if(profile.operators != 0, profile.delegated),
    "how many of them XNNPACK runs; null for ONNX");
  f("delegated_share", results::only_if(profile.operators != 0, profile.delegated_share),
    "share of duration_ns in XNNPACK; null for ONNX");
  f("ops", profile.ops, "time by op, most expensive first");
  f("nodes", profile.nodes, "time by node, most expensive first");
}

void fields(MaybeConst<BenchResult> auto& model, auto& f) {
  using results::nanoseconds, results::only_if;
  const bool has_cold_start = model.cold_start_seconds > 0;
  f("model", model.model, "path");
  f("bytes", model.bytes, "size of the model file and its external data");
  f("load_ns", nanoseconds(model.load_seconds), "creating the session");
  f("first_run_ns", nanoseconds(model.first_seconds), "first run");
  f("cold_start_ns", only_if(has_cold_start, nanoseconds(model.cold_start_seconds)),
    "from the start of a process to its first result; null with --cold-starts 0");
  f("cache_dropped", model.is_cache_dropped, "false: the cold start read the model from memory");
  f("peak_memory_bytes", only_if(has_cold_start, model.peak_memory),
    "peak resident memory of a process that runs only this model; null with --cold-starts 0");
  f("load_memory", model.load_memory, "null with --cold-starts 0 and where the system does not tell");
  f("batches", model.batches, "one for each batch size");
  f("profile", model.profile, "where the time goes; null without --profile");
}

void fields(MaybeConst<BenchReport> auto& report, auto& f) {
  f("runtime", report.runtime, "the runtime that ran the models, with its version");
  f("runtime_version", report.runtime_version, "the version for the first model");
  f("cpu", report.cpu, "CPU features that the kernels used, such as \"avx512 vnni\"; empty with --via");
  f("threads", report.threads, "threads of the runtime; 0: all");
  f("rounds", report.rounds, "timing rounds");
  f("load", results::nonzero(report.load),
    "wall time over CPU time while timing: 1 on an idle machine, busy from 1.1 on; null when unknown");
  f("generated", report.is_generated, "true: random inputs");
  f("models", report.models, "in the order of the command line");
  f("notes", results::sentences(report.notes), "notes for the reader");
}

void fields(MaybeConst<DecodeResult> auto& model, auto& f) {
  f("model", model.model, "path");
  f("bytes", model.bytes, "size of the model file and its external data");
  f("cached", model.is_cached, "false: the model keeps no past and is given the whole text for every token");
  f("first_token", model.first_token, "time of the prompt");
  f("next_token", model.next_token, "time of each later token");
  f("nll", model.nll, "mean negative log-likelihood of the tokens behind the prompt");
  f("perplexity", model.perplexity(), "exponential of nll");
  f("flips", model.flips, "tokens for which the first model chose another one");
  f("passed", results::only_if(!model.verdict.empty(), bool(model.passed)), "null where no gate was given");
  f("verdict", results::sentence(model.verdict), "empty where no gate was given");
}

void fields(MaybeConst<DecodeReport> auto& report, auto& f) {
  f("runtime_version", report.runtime_version, "of ONNX Runtime");
  f("cpu", report.cpu, "CPU features that the kernels used");
  f("threads", report.threads, "threads of the runtime; 0: all");
  f("generated", report.is_generated, "true: random token ids");
  f("texts", report.texts, "number of texts");
  f("prompt", report.prompt, "tokens that are given at once");
  f("tokens", report.tokens, "tokens behind the prompts, of all texts together");
  f("models", report.models, "in the order of the command line");
  f("notes", results::sentences(report.notes), "notes for the reader");
}

void fields(MaybeConst<CpuComparison> auto& found, auto& f) {
  using results::finite, results::is_exact;
  f("cpu", found.cpu, "\"avx2\", \"avx512\" or \"arm64\"");
  f("run", found.is_run(), "false: the model was not run there, and why_not says why");
  f("why_not", results::sentence(found.why_not), "empty when it was run");
  f("how", found.how, "\"emulated by masking CPUID\", \"qemu-x86_64\" or \"qemu-aarch64\"");
  f("runtime_version", found.runtime_version, "of ONNX Runtime there");
  f("samples", found.samples, "number of samples");
  f("same", found.is_same(), "true from 40 dB on, or if the original differs as much");
  f("exact", is_exact(found.sqnr_db), "all outputs are equal to the bit; sqnr_db is null then");
  f("sqnr_db", finite(found.sqnr_db), "the model there against the model here");
  f("answers", found.answers, "top-1 answers of outputs with classes");
  f("flips", found.flips, "answers that differ there");
  f("reference_exact", is_exact(found.reference_sqnr_db), "the same of the original");
  f("reference_sqnr_db", finite(found.reference_sqnr_db),
    "the original there against the original here; null also if it was not run, because it decides nothing");
  f("reference_flips", found.reference_flips, "answers of the original that differ there");
}

// Fields of results about the outputs of models: verify, contract check.

void fields(MaybeConst<IndexRange> auto& range, auto& f) {
  f("begin", range.begin, "first index");
  f("end", range.end, "first index behind the range");
}

void fields(MaybeConst<OutputSlice> auto& slice, auto& f) {
  using namespace results;
  f("name", slice.name, "such as \"output0[:, 4:84, :]\"");
  f("axis", slice.axis, "axis that the output is cut along");
  f("ranges", slice.ranges, "indices on this axis");
  f("values", slice.values, "number of values");
  f("rms", finite(slice.rms), "root mean square of the reference");
  f("exact", is_exact(slice.sqnr_db), "all values are equal");
  f("sqnr_db", finite(slice.sqnr_db), "signal to noise; null if exact");
  f("sqnr_low_db", finite(slice.sqnr_low_db),
    "no less than this on other data, at the confidence; null without such a gate");
}

void fields(MaybeConst<ChangedAnswer> auto& changed, auto& f) {
  f("from", changed.from, "class of the reference");
  f("to", changed.to, "class of the candidate");
  f("count", changed.count, "how often");
}

void fields(MaybeConst<OutputComparison> auto& output, auto& f) {
  using namespace results;
  const bool has_values = !output.is_label;
  f("name", output.name, "of the output");
  f("type", output.type, "element type");
  f("labels", output.is_label, "true: classes, strings or flags, which are equal or not");
  f("judged", output.is_judged && !output.is_state,
    "false for states, and for outputs that --outputs leaves out");
  f("state", output.is_state, "fed back by --carry, and not judged");
  f("list", output.is_list, "results of a detector, in any number: judged only by --task detect");
  f("values", output.values, "number of values");
  f("silent_values", output.silent_values,
    "--task detect: values of images in which neither model detects anything; SQNR leaves them out");
  f("max_abs_diff", only_if(has_values, finite(output.max_abs_diff)),
    "largest difference; null for labels, as below");
  f("mean_abs_diff", only_if(has_values, finite(output.mean_abs_diff)), "mean difference");
  f("mse", only_if(has_values, finite(output.mse)), "mean squared error");
  f("cosine", only_if(has_values, finite(output.cosine)),
    "cosine of the angle; null if all values are silent");
  f("exact", is_exact(output.sqnr_db), "all values are equal");
  f("sqnr_db", only_if(has_values, finite(output.sqnr_db)),
    "signal to noise; null if exact or all values are silent");
  f("sqnr_low_db", finite(output.sqnr_low_db),
    "no less than this on other data, at the confidence; null without such a gate");
  f("agreement_low", finite(output.agreement_low), "the same of top1_agreement");
  f("mean_abs_diff_high", finite(output.mean_abs_high),
    "no more than this on other data; null without such a gate");
  f("mse_high", finite(output.mse_high), "the same of mse");
  f("flips_high", finite(output.flips_high), "the same of the share of changed decisions");
  f("top1_agreement", output.top1_agreement,
    "share of samples with the same best class; of labels: share of equal values; null without classes");
  f("top5_agreement", output.top5_agreement,
    "share whose best class is among the five best; null without classes");
  f("answers_compared", output.answers, "answers that top1_agreement is about");
  f("answers_changed", output.changed, "answers that differ");
  f("changed_answers", output.changed_answers,
    "classes that became another one, at most 50, most frequent first");
  f("flips", output.flips, "decisions that changed at --threshold; null without one, and for labels");
  f("decisions", output.decisions,
    "number of decisions; two columns of probabilities that add up to 1 are one decision");
  f("reference_not_finite", output.reference_not_finite, "NaN and infinite values of the reference");
  f("candidate_not_finite", output.candidate_not_finite, "NaN and infinite values of the candidate");
  f("newly_not_finite", output.newly_not_finite, "those of the candidate where the reference is finite");
  f("slices", output.slices, "parts of another kind or scale, worst first; empty: the output is all alike");
}

void fields(MaybeConst<MetricResult> auto& metric, auto& f) {
  using namespace results;
  f("name", metric.name,
    "such as \"top1_accuracy\" (docs/reference/verify.md lists them), or the name that --metric-command "
    "gives");
  f("higher_is_better", metric.higher_is_better, "false for errors");
  f("unit", metric.unit,
    "how a drop is counted: share (points), relative to the reference, absolute or decibel");
  f("reference", finite(metric.reference), "of the original; null when it was not measured");
  f("candidate", finite(metric.candidate), "of the candidate; null when it was not measured");
  f("drop", finite(metric.drop), "positive: the candidate is worse");
  f("drop_low", only_if(metric.has_interval, finite(metric.drop_low)),
    "lower bound of the 95 % interval; null for --metric-command");
  f("drop_high", only_if(metric.has_interval, finite(metric.drop_high)), "upper bound of that interval");
  f("drop_bound", finite(metric.drop_bound),
    "no more than this on other data, at the confidence; null without --max-drop");
  f("why_not", sentence(metric.why_not), "why it was not measured; else empty");
}

void fields(MaybeConst<EdgeCase> auto& edge, auto& f) {
  f("name", edge.name, "such as \"all zero\"");
  f("passed", edge.passed, "false: the candidate fails where the reference does not");
  f("left_out", edge.is_left_out, "true: it was not tried, and proves nothing");
  f("finding", results::sentence(edge.finding),
    "the measurement, the error, or the reason why it was left out");
}

void fields(MaybeConst<InputPicture> auto& picture, auto& f) {
  f("input", picture.input, "name of the input");
  f("png", picture.png.empty() ? std::optional<std::string>() : base64(picture.png),
    "image in base64, at most 96 pixels; null where it is a waveform");
  f("lowest", picture.lowest, "waveform: least values of at most 240 stretches; empty where it is an image");
  f("highest", picture.highest, "waveform: greatest values of these stretches");
  f("wav", picture.wav.empty() ? std::optional<std::string>() : base64(picture.wav),
    "the beginning of the waveform as a WAV file in base64; null where it is an image");
}

void fields(MaybeConst<ClassScore> auto& score, auto& f) {
  f("class", score.of_class, "number of the class");
  f("reference", results::finite(score.reference), "score of the original");
  f("candidate", results::finite(score.candidate), "score of the candidate");
}

void fields(MaybeConst<SampleDifference> auto& worst, auto& f) {
  using namespace results;
  f("sample", worst.name, "name of the sample");
  f("output", worst.output, "output that differs most");
  f("max_abs_diff", only_if(worst.changed == 0, finite(worst.max_abs_diff)),
    "null where only labels are judged");
  f("answers_changed", worst.changed, "labels that changed, where only labels are judged; else 0");
  f("label", finite(worst.label), "with --pictures, if it is a number; else null");
  f("answers", worst.answers,
    "with --pictures: the three best classes of either model, of outputs with one row of classes");
  f("picture", worst.picture, "with --pictures: the first input that is an image or a waveform; else null");
  f("reference_output", worst.reference_output,
    "with --pictures: the output of the original, if it is an image or a sound; else null");
  f("candidate_output", worst.candidate_output, "the same of the candidate, on the same scale");
}

// The lowest value of the judged outputs.
inline std::optional<double> least_agreement(const VerifyResult& result) {
  std::optional<double> least;
  for (const OutputComparison& output : result.outputs) {
    if (output.is_state || !output.is_judged || !output.top1_agreement) continue;
    least = std::min(least.value_or(1), *output.top1_agreement);
  }
  return least;
}

void fields(MaybeConst<VerifyResult> auto& result, auto& f) {
  using namespace results;
  f("reference", result.reference, "the original");
  f("candidate", result.candidate, "the model that was compared with it");
  f("passed", result.passed, "every threshold is met");
  f("verdict", sentence(result.verdict), "the gate that decided, and by how much");
  f("failures", sentences(result.failures), "gates that do not hold");
  f("confidence", result.confidence, "of the bounds below: --confidence, or 0.9");
  f("certain", result.is_certain, "every threshold is met on unseen data like this with that confidence");
  f("certainty", sentence(result.certainty),
    "the same in words; empty when a gate failed or inputs were random");
  f("unbounded", sentences(result.unbounded),
    "gates without a bound (--abs-tol, --metric-command), each in a sentence; then certain is false");
  f("samples_needed", nonzero(result.samples_needed),
    "about how many samples like these would make it certain; null when it is, or none would");
  f("max_abs_diff", finite(result.max_abs_diff),
    "over all outputs that are judged and are no labels; null when there are none");
  f("mean_abs_diff", finite(result.mean_abs_diff), "the same of the mean difference");
  f("worst_sqnr_db", finite(result.worst_sqnr_db),
    "of the worst slice of the worst output that is judged; null if exact");
  f("exact", is_exact(result.worst_sqnr_db), "all values of these outputs are equal");
  f("agreement", least_agreement(result),
    "least top1_agreement of the outputs that are judged; null without one");
  f("runtime", result.runtime, "the runtime that ran the models, with its version");
  f("runtime_version", result.runtime_version, "the version for the reference");
  f("cpu", result.cpu, "CPU features that the kernels used, such as \"avx512 vnni\"; empty with --via");
  f("samples", result.samples, "number of samples");
  f("generated", result.is_generated, "true: random inputs");
  f("data_digest", result.data_digest, "SHA-256 of the inputs");
  f("labels_digest", nonempty(result.labels_digest), "SHA-256 of the labels; null without");
  f("outputs", result.outputs, "in the order of the model");
  f("metrics", result.metrics, "the first is the one that --max-drop looks at");
  f("edge_cases", result.edge_cases, "empty with --no-edge-cases");
  f("cpus", result.cpus, "the candidate on other CPUs (--on)");
  f("worst", result.worst, "samples with the largest differences, largest first");
  f("changed", result.changed,
    "samples with a changed top-1 prediction, at most 12, largest difference first; empty with --worst 0");
  f("class_names", result.class_names, "names of the classes by number (--class-names); empty without");
  f("reference_bytes", result.reference_bytes, "size of the original and its external data");
  f("candidate_bytes", result.candidate_bytes, "size of the candidate and its external data");
  f("notes", sentences(result.notes), "notes for the reader");
  f("duration_ns", nanoseconds(result.seconds), "of everything but the edge cases");
  f("load_ns", nanoseconds(result.load_seconds), "of that, loading");
  f("reference_ns", nanoseconds(result.reference_seconds), "inside the runtime, of the reference");
  f("candidate_ns", nanoseconds(result.candidate_seconds), "inside the runtime, of the candidate");
}

namespace results {

void fields(MaybeConst<CheckedContract> auto& checked, auto& f) {
  const ContractCheck& check = checked.check;
  f("model", checked.model, "path");
  f("passed", check.passed, "the data is as the contract says");
  f("samples", check.samples, "number of samples");
  f("findings", sentences(check.findings), "passed and failed checks");
}

}  // namespace results

}  // namespace ounce
