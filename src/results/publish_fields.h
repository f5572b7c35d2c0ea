// Fields of results about published models: publish, prove, unpack, shadow report, report.
#pragma once

#include <ounce/app/shadow.h>
#include <ounce/app/unpack.h>
#include <ounce/prove.h>
#include <ounce/publish.h>

#include "report/recipe_command.h"
#include "results/model_fields.h"
#include "results/results.h"
#include "results/verify_fields.h"

namespace ounce {

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
  f("notes", sentences(variant.notes), "what a reader should know");
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
  f("notes", sentences(result.notes), "what a reader should know");
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
  f("run", gate.run, "what was compared");
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
  f("agreement", statistics.agreement(), "share of the same answers");
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
    "in the cache; null: the model stays as it is, and why_not says why");
  f("status", unpacked.status, "\"ok\", or a status of ounce/app/status.h");
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
