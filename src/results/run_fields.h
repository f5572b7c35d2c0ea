// Fields of results about how models run: bench, decode, memory, other CPUs.
#pragma once

#include <ounce/bench.h>
#include <ounce/cpus.h>
#include <ounce/decode.h>
#include <ounce/load_memory.h>

#include "base/fields.h"
#include "results/values.h"

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
  f("runtime", report.runtime, "what ran the models, with its version");
  f("runtime_version", report.runtime_version, "the version for the first model");
  f("cpu", report.cpu, "CPU features that the kernels used, such as \"avx512 vnni\"; empty with --via");
  f("threads", report.threads, "threads of the runtime; 0: all");
  f("rounds", report.rounds, "timing rounds");
  f("load", results::nonzero(report.load),
    "wall time over CPU time while timing: 1 on an idle machine, busy from 1.1 on; null when unknown");
  f("generated", report.is_generated, "true: random inputs");
  f("models", report.models, "in the order of the command line");
  f("notes", results::sentences(report.notes), "what a reader should know");
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
  f("notes", results::sentences(report.notes), "what a reader should know");
}

void fields(MaybeConst<CpuComparison> auto& found, auto& f) {
  using results::finite, results::is_exact;
  f("cpu", found.cpu, "\"avx2\", \"avx512\" or \"arm64\"");
  f("run", found.is_run(), "false: the model was not run there, and why_not says why");
  f("why_not", results::sentence(found.why_not), "empty when it was run");
  f("how", found.how, "\"shown by this CPU\", \"qemu-x86_64\" or \"qemu-aarch64\"");
  f("runtime_version", found.runtime_version, "of ONNX Runtime there");
  f("samples", found.samples, "number of samples");
  f("same", found.is_same(), "true from 40 dB on, or if the original differs as much");
  f("exact", is_exact(found.sqnr_db), "all outputs are equal to the bit; sqnr_db is null then");
  f("sqnr_db", finite(found.sqnr_db), "the model there against the model here");
  f("answers", found.answers, "top-1 answers of outputs with classes");
  f("flips", found.flips, "answers that differ there");
  f("reference_exact", is_exact(found.reference_sqnr_db), "the same of the original");
  f("reference_sqnr_db", finite(found.reference_sqnr_db), "the original there against the original here");
  f("reference_flips", found.reference_flips, "answers of the original that differ there");
}

}  // namespace ounce
