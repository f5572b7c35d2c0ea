// Fields of results about a model and its tensors: quantize, inspect, calibrate, copy, diff, check.
#pragma once

#include <ounce/model.h>
#include <ounce/quantize.h>

#include <map>

#include "results/verify_fields.h"

namespace ounce {

void fields(MaybeConst<ValueRange> auto& range, auto& f) {
  f("low", range.low, "smallest value of the range");
  f("high", range.high, "largest value of the range");
}

void fields(MaybeConst<ValueHistogram> auto& histogram, auto& f) {
  f("low", results::finite(histogram.low), "where the first bin begins");
  f("high", results::finite(histogram.high), "where the last bin ends");
  f("counts", histogram.counts, "values in each of 48 bins of one width (one bin where there is one value)");
  f("clipped_share", histogram.clipped_share,
    "share of values outside of the chosen range; null where there is no one range");
}

void fields(MaybeConst<IntegerKernels> auto& kernels, auto& f) {
  f("integer", kernels.integer, "nodes that run in integer kernels");
  f("other", kernels.other, "other nodes");
}

void fields(MaybeConst<TrialResult> auto& trial, auto& f) {
  using namespace results;
  const bool has_outputs = trial.is_tried && trial.samples != 0;
  f("tried", trial.is_tried, "the result was loaded in ONNX Runtime before it was written");
  f("why_not", sentence(trial.why_not),
    "why it was not run; empty when it was, or when --no-verify was given");
  f("runtime_version", trial.runtime_version, "of ONNX Runtime");
  f("samples", trial.samples, "inputs that the outputs were compared on");
  f("generated", trial.is_generated, "true: random inputs");
  f("labels_only", trial.is_of_labels,
    "true: the model outputs only labels, and sqnr_db is 10·log10(labels / changed labels)");
  f("sqnr_db", only_if(has_outputs, finite(trial.sqnr_db)),
    "worst output, or its worst slice, against the original; null if exact or not run");
  f("exact", has_outputs && is_exact(trial.sqnr_db), "all outputs are equal");
  f("slice", nonempty(trial.slice),
    "the worst slice, such as \"output0[:, 4:84, :]\"; null: the output has no slices");
  f("cpu", trial.cpu, "CPU features that the kernels used, such as \"avx512 vnni\"");
  f("cpus", trial.cpus, "other CPUs that it was run on (--on)");
  f("load_memory_before", trial.memory_before, "of the original; null when it was not run");
  f("load_memory_after", trial.memory_after, "of the result; null when it was not run");
  f("speed_up", trial.speed_up,
    "against the original: for static and dynamic INT8, and for --memory balanced where a run takes 5 ms; "
    "else null");
  f("call_before_ns", only_if(trial.speed_up.has_value(), nanoseconds(trial.seconds_before)),
    "time of a call of the original, with speed_up: CPU time if on one thread");
  f("call_after_ns", only_if(trial.speed_up.has_value(), nanoseconds(trial.seconds_after)),
    "time of a call of the result");
  f("kernels", trial.kernels,
    "nodes in the runtime's profile of one run, for static and dynamic INT8; else null");
  f("profile", trial.profile, "that profile: where the time of the result goes; else null");
}

void fields(MaybeConst<TensorOutcome> auto& tensor, auto& f) {
  using namespace results;
  const bool is_stored = tensor.stored;
  f("name", tensor.name, "of the tensor");
  f("scope", tensor.scope, "subgraph or function it belongs to; empty for the main graph");
  f("op_type", tensor.op_type, "op that reads it");
  f("type", tensor.type, "element type, such as \"float32\"");
  f("shape", tensor.shape, "dimensions");
  f("stored", tensor.stored, "compressed");
  f("reason", sentence(tensor.reason), "why it is stored like this, or not");
  f("bytes_before", tensor.bytes_before, "bytes in the original");
  f("bytes_after", tensor.bytes_after, "bytes in the result");
  f("encoding", only_if(is_stored, StoredAs(tensor.encoding)),
    "stored type; null where it is not stored, as below");
  f("granularity", only_if(is_stored, std::string(tensor.granularity)),
    "granularity of the scales: \"tensor\", \"channel A\", \"channel A-B\" or \"block N\"");
  f("decoder", only_if(is_stored, Decoder(tensor.decoder)), "how the runtime gets the values back");
  f("exact", is_stored && is_exact(tensor.sqnr_db), "every decoded value equals the original");
  f("sqnr_db", only_if(is_stored, finite(tensor.sqnr_db)),
    "decoded values against the original; null if exact");
  f("max_abs_error", only_if(is_stored, finite(tensor.max_abs_error)), "largest difference of a value");
  f("histogram", tensor.histogram, "of up to a million values; null without --pictures");
}

void fields(MaybeConst<NodeOutcome> auto& node, auto& f) {
  f("name", node.name, "of the node");
  f("scope", node.scope, "subgraph or function it belongs to; empty for the main graph");
  f("op_type", node.op_type, "op");
  f("arithmetic", node.arithmetic, "how the node computes");
  f("reason", results::sentence(node.reason), "why it computes in float; else empty");
}

void fields(MaybeConst<ActivationOutcome> auto& activation, auto& f) {
  f("name", activation.name, "of the value");
  f("scope", activation.scope, "subgraph or function it belongs to; empty for the main graph");
  f("type", activation.type, "quantized type, such as \"uint8\"");
  f("scale", activation.scale, "an integer q stands for (q - zero_point) * scale");
  f("zero_point", activation.zero, "the integer that stands for 0");
  f("range", activation.range, "range that was chosen");
  f("method", activation.method, "how the range was chosen");
  f("sqnr_db", results::finite(activation.sqnr_db), "predicted, of the value itself");
  f("place", activation.place, "position in the network of the node that gives it, from 1 on; 0: an input");
  f("histogram", activation.histogram, "null without --pictures");
}

void fields(MaybeConst<ScaleChange> auto& change, auto& f) {
  f("weight", change.weight, "the weight");
  f("node", change.node, "node that multiplies with it");
  f("op_type", change.op_type, "op of the node");
  f("scales", change.scales, "scales of the weight");
  f("changed", change.changed, "scales that were increased");
  f("largest_factor", change.largest_factor, "largest new scale divided by the trained one");
}

void fields(MaybeConst<GraphBlock> auto& block, auto& f) {
  f("name", block.name, "common beginning of the names of its nodes");
  f("ops", block.ops, "op types of the nodes");
  f("nodes", block.nodes, "names of the nodes, in the order of the network");
  f("weights", block.weights, "names of the constants that they read");
  f("predecessors", block.predecessors, "positions of the blocks whose values they read, in this list");
}

void fields(MaybeConst<QuantizeResult> auto& result, auto& f) {
  using namespace results;
  f("model", result.model, "the original");
  f("output", result.output, "file that was written");
  f("dry_run", std::isnan(result.sqnr_db), "true: nothing was written");
  f("bytes_before", result.bytes_before, "size of the original, external data included");
  f("bytes_after", result.bytes_after, "size of the result, external data included");
  f("ratio", result.ratio(), "bytes_after / bytes_before");
  f("stored_tensors", result.stored_count(), "compressed tensors");
  f("format", result.format, "format that was asked for");
  f("stored_as", result.stored_as(),
    "format of the result: \"w8\" where the opset cannot unpack the 4 bits of \"w4\"");
  f("exact", is_exact(result.sqnr_db), "every decoded value equals the original");
  f("sqnr_db", finite(result.sqnr_db),
    "dequantized weights against the original, over the stored tensors that changed: noise relative to the "
    "signal of "
    "each tensor, averaged over all values; null if exact or dry run");
  f("trial", result.trial, "the result in ONNX Runtime, before it was written");
  f("duration_ns", nanoseconds(result.seconds), "of the whole run");
  f("source_digest", result.source_digest, "of the original; also in the metadata of the result");
  f("plan_digest", result.plan_digest, "of the plan; also in the metadata of the result");
  f("notes", sentences(result.notes), "notes for the reader");
  f("unmatched", result.unmatched,
    "patterns of --include, --exclude and --keep-fp32 that matched nothing (--ignore-unmatched)");
  f("scale_changes", result.scale_changes,
    "weights of a QAT model whose trained scales were increased for the target; empty: all scales are kept");
  f("nodes", result.nodes,
    "int8 and int8-dynamic: every op with weights, and every op that runs in INT8; fp16 and bf16: "
    "every node "
    "with float32 inputs or outputs");
  f("activations", result.activations, "int8: every value that is quantized between ops");
  f("blocks", result.blocks, "the main graph of the original, by blocks of nodes");
  f("tensors", result.tensors, "every float tensor, in the order of the file");
}

void fields(MaybeConst<NamedCount> auto& count, auto& f) {
  f("name", count.name, "op, element type or file");
  f("count", count.count, "how often");
  f("bytes", count.bytes, "bytes of weights, or of the file");
}

void fields(MaybeConst<ValueDescription> auto& value, auto& f) {
  f("name", value.name, "of the input or output");
  f("type", value.type, "such as \"float32[N,3,224,224]\"");
  f("shape", value.shape, "dimensions; -1: a dynamic axis; empty for scalars and unknown ranks");
}

void fields(MaybeConst<ModelInfo> auto& info, auto& f) {
  using Numbers = std::map<std::string, std::int64_t>;
  using Texts = std::map<std::string, std::string>;
  f("model", info.path, "path");
  f("bytes", info.bytes, "size of the model file and its external data");
  f("weight_bytes", info.weight_bytes, "bytes of all tensors");
  f("format", info.format, "of the file: \"ONNX\" or \"TFLite\"");
  f("ir_version", info.ir_version, "of ONNX; of TFLite the schema version");
  f("producer", info.producer, "name of the exporter");
  f("opsets", Numbers(info.opsets.begin(), info.opsets.end()), "versions by domain; of TFLite by operator");
  f("metadata", Texts(info.metadata.begin(), info.metadata.end()), "values by key");
  f("inputs", info.inputs, "inputs of the model");
  f("outputs", info.outputs, "outputs of the model");
  f("nodes", info.nodes, "number of nodes");
  f("subgraphs", info.subgraphs, "number of subgraphs");
  f("functions", info.functions, "number of functions");
  f("ops", info.ops, "by op type, most bytes of weights first");
  f("element_types", info.element_types, "tensors by element type");
  f("external_files", info.external_files, "files with external data");
  f("bytes_after", info.bytes_after, "size that quantize would write; 0 where it would refuse");
  f("saturating_nodes", info.saturating_nodes, "integer nodes that saturate on x86 CPUs without VNNI");
  f("worst_pair", info.worst_pair, "sum of the largest two neighboring weights of these nodes (128 is safe)");
  f("notes", results::sentences(info.notes), "notes for the reader");
  f("blockers", results::sentences(info.blockers), "why quantize would refuse the model");
  f("blocks", info.blocks, "the main graph, by blocks of nodes");
  f("tensors", info.tensors, "every float tensor as quantize would store it, largest first");
}

void fields(MaybeConst<ObservedValue> auto& value, auto& f) {
  f("name", value.name, "of the value");
  f("samples", value.samples, "samples that it was observed in");
  f("count", value.count, "numbers that were observed");
  f("not_finite", value.not_finite, "NaN and infinite numbers among them");
  f("minmax", ValueRange{value.minimum, value.maximum}, "range of all numbers");
  f("mean", value.mean, "range by the method \"mean\"");
  f("percentile", value.percentile, "range by the method \"percentile\"");
  f("entropy", value.entropy, "range by the method \"entropy\"");
  f("mse", value.mse, "range by the method \"mse\"");
  f("chosen", value.chosen, "range by the method \"auto\"");
  f("method", value.method, "the method that \"auto\" took");
  f("sqnr_db", results::finite(value.sqnr_db),
    "predicted for 8 bits with that range; null when nothing is lost");
}

void fields(MaybeConst<CalibrateResult> auto& result, auto& f) {
  f("output", result.output, "file of ranges");
  f("samples", result.samples, "samples of the data");
  f("duration_ns", results::nanoseconds(result.seconds), "of the whole run");
  f("notes", results::sentences(result.notes), "notes for the reader");
  f("values", result.values, "every value, in the order of their names");
}

void fields(MaybeConst<CopyResult> auto& result, auto& f) {
  f("model", result.model, "the original");
  f("output", result.output, "the copy");
  f("bytes_before", result.bytes_before, "size of the original, external data included");
  f("bytes_after", result.bytes_after, "size of the copy, external data included");
  f("ports", result.ports, "with --shape: inputs and outputs of the copy, \"input x float32[1,3,224,224]\"");
}

void fields(MaybeConst<Change> auto& change, auto& f) {
  f("what", change.what,
    "\"format\", \"IR version\", \"opset\", \"schema version\", \"op version\", \"input\", \"output\", "
    "\"output comes from\", \"contract\" or \"metadata\"");
  f("name", change.name, "domain, input, output or key");
  f("before", results::nonempty(change.before), "null where it is missing");
  f("after", results::nonempty(change.after), "null where it is missing");
}

void fields(MaybeConst<OpCount> auto& op, auto& f) {
  f("op_type", op.op_type, "op, with its domain unless that is ONNX's own");
  f("before", op.before, "nodes in a");
  f("after", op.after, "nodes in b");
}

void fields(MaybeConst<NodeChange> auto& node, auto& f) {
  f("name", node.name, "of the node");
  f("scope", node.scope, "subgraph or function it belongs to; empty for the main graph");
  f("op_type", node.op_type, "op");
  f("name_after", results::nonempty(node.name_after), "name in b, where it has another one");
  f("changes", node.changes, "of a changed node, in words");
}

void fields(MaybeConst<TensorChange> auto& tensor, auto& f) {
  using namespace results;
  f("name", tensor.name, "of the tensor");
  f("scope", tensor.scope, "subgraph or function it belongs to; empty for the main graph");
  f("name_after", nonempty(tensor.name_after), "name in b, where it has another one");
  f("before", nonempty(tensor.before), "such as \"float32[64,3,3,3]\"; null where it is missing");
  f("after", nonempty(tensor.after), "null where it is missing");
  f("compared", tensor.is_compared, "both are floats of the same count");
  f("exact", tensor.is_compared && is_exact(tensor.sqnr_db),
    "the values are equal: only type or shape differ");
  f("sqnr_db", only_if(tensor.is_compared, finite(tensor.sqnr_db)), "null when not compared, or exact");
  f("max_abs_diff", only_if(tensor.is_compared, finite(tensor.max_abs_diff)), "null when not compared");
  f("remark", tensor.remark, "the decision, in words");
}

void fields(MaybeConst<DiffResult> auto& result, auto& f) {
  f("a", result.a, "first model");
  f("b", result.b, "second model");
  f("same", result.is_same(), "there are no changes; different inner names do not count as changes");
  f("bytes_before", result.bytes_before, "size of a, external data included");
  f("bytes_after", result.bytes_after, "size of b, external data included");
  f("changes", result.changes, "of the model as a whole");
  f("ops", result.ops, "nodes by op, those that differ first");
  f("nodes_matched", result.nodes_matched, "nodes in both models");
  f("nodes_renamed", result.nodes_renamed, "those of them with another name");
  f("nodes_changed", result.nodes_changed, "those of them that differ");
  f("nodes_added", result.nodes_added, "nodes only in b");
  f("nodes_removed", result.nodes_removed, "nodes only in a");
  f("tensors_matched", result.tensors_matched, "constants in both models");
  f("tensors_renamed", result.tensors_renamed, "those of them with another name");
  f("tensors", result.tensors, "constants that differ, are new or are gone; largest difference first");
}

void fields(MaybeConst<NodeFinding> auto& finding, auto& f) {
  f("name", finding.name, "of the node");
  f("scope", finding.scope, "subgraph or function it belongs to; empty for the main graph");
  f("op_type", finding.op_type, "op");
  f("domain", finding.domain, "of the op; empty for ONNX's own");
  f("types", finding.types, "such as \"T1=uint8 T2=int8\"");
  f("verdict", finding.verdict, "whether it runs there");
  f("why", results::sentence(finding.why), "reason");
}

void fields(MaybeConst<ProviderHint> auto& hint, auto& f) {
  using results::only_if;
  f("provider", hint.provider, "execution provider");
  f("evidence", "documented", "hints are taken from documentation and were not measured");
  f("source", hint.source, "page that was read");
  f("nodes", hint.nodes, "nodes of the main graph that run");
  f("taken", hint.taken, "those of them that the provider takes");
  f("folded", hint.folded, "other nodes: constants computed at load");
  f("nested", hint.nested, "other nodes: inside of others");
  f("computing", hint.computing, "nodes that are taken and compute; the others convert or move data");
  f("partitions", only_if(!hint.is_node_by_node, std::size_t(hint.partitions)),
    "partitions of the nodes that are taken; null if the provider works node by node");
  f("computing_partitions", only_if(!hint.is_node_by_node, std::size_t(hint.computing_partitions)),
    "partitions with a node that computes");
  f("largest", hint.largest, "nodes of the largest partition");
  f("left", hint.left, "op types that stay on the CPU, most frequent first");
  f("note", results::sentence(hint.note), "about the whole model");
}

void fields(MaybeConst<Execution> auto& execution, auto& f) {
  using namespace results;
  f("ran", execution.is_run, "the model ran there");
  f("error", sentence(execution.error), "message of the error; empty: no error");
  f("runtime_version", execution.runtime_version, "of ONNX Runtime there");
  f("exact", execution.is_run && is_exact(execution.sqnr_db), "the outputs are equal to those here");
  f("sqnr_db", finite(execution.sqnr_db), "worst output there against the one here; null if exact");
}

void fields(MaybeConst<TargetCheck> auto& target, auto& f) {
  f("target", target.target, "as it was asked for");
  f("measured", target.measured, "release that was measured; empty when none was (verdict unknown)");
  f("verdict", target.verdict, "worst of all nodes");
  f("loads", target.loads(), "false: a session cannot be created");
  f("nodes", target.nodes, "number of nodes");
  f("runs", target.runs, "nodes that run");
  f("slow", target.slow, "nodes that run, but not in a kernel of their own type");
  f("unknown", target.unknown, "nodes that were not measured");
  f("broken", target.broken, "nodes that fail or give a wrong result");
  f("saturating", target.saturating,
    "integer nodes that saturate on x64 without VNNI; 0 where the target has exact products");
  f("worst_pair", target.worst_pair,
    "sum of the largest two neighboring weights of these nodes (128 is safe)");
  f("problems", results::sentences(target.problems),
    "of the model as a whole, because of which it does not load");
  f("notes", results::sentences(target.notes), "notes for the reader");
  f("findings", target.findings, "nodes that do not plainly run");
  f("execution", target.execution, "with --execute; else null");
}

void fields(MaybeConst<CheckReport> auto& report, auto& f) {
  f("model", report.model, "path");
  f("format", report.format, "ONNX or TFLite");
  f("opset", report.opset, "of ONNX; 0 for TFLite");
  f("ir_version", report.ir, "of ONNX; 0 for TFLite");
  f("file_bytes", report.file_bytes, "size of the model file and its external data");
  f("memory_bytes", report.memory_bytes, "weights after loading, dequantized");
  f("targets", report.targets, "in the order of the command line");
  f("hints", report.hints, "execution providers, from their documentation");
}

}  // namespace ounce
