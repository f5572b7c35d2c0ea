// Fields of results about the outputs of models: verify, contract check.
#pragma once

#include <ounce/contract.h>
#include <ounce/verify.h>

#include <algorithm>

#include "base/text.h"
#include "results/results.h"
#include "results/run_fields.h"

namespace ounce {

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
    "such as \"top1_accuracy\" (docs/verify.md lists them), or the name that --metric-command gives");
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
  f("finding", results::sentence(edge.finding), "what was measured, went wrong, or why it was left out");
}

void fields(MaybeConst<InputPicture> auto& picture, auto& f) {
  f("input", picture.input, "name of the input");
  f("png", picture.png.empty() ? std::optional<std::string>() : base64(picture.png),
    "image in base64, at most 96 pixels; null where it is a waveform");
  f("lowest", picture.lowest, "waveform: least values of at most 240 stretches; empty where it is an image");
  f("highest", picture.highest, "waveform: greatest values of these stretches");
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
}

// Of the outputs that are judged, the least.
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
  f("passed", result.passed, "every gate holds");
  f("verdict", sentence(result.verdict), "the gate that decided, and by how much");
  f("failures", sentences(result.failures), "gates that do not hold");
  f("confidence", result.confidence, "of the bounds below: --confidence, or 0.9");
  f("certain", result.is_certain, "every gate holds on other data like this with that confidence");
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
  f("runtime", result.runtime, "what ran the models, with its version");
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
  f("notes", sentences(result.notes), "what a reader should know");
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
  f("findings", sentences(check.findings), "what holds, and what does not");
}

}  // namespace results

}  // namespace ounce
