#include "report/messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "report/recipe_command.h"
#include "report/table.h"

namespace ounce::report {
namespace {

// The row with the longest matching pattern is used. The first rows are the kinds of errors, in the order of
// ErrorCode.
constexpr Message kMessages[] = {
    {"OUN001", "Invalid request", "", "An option, its value or a combination of options is invalid.",
     "Nothing was done. Exit code 2.",
     "Correct the option that the message names; 'ounce help COMMAND' lists them."},
    {"OUN002", "Invalid file", "", "A file is truncated, damaged or inconsistent, or is of another kind.",
     "Nothing was written. Exit code 2.",
     "Get a complete copy of the file, or export it again. The message names the tensor, node or byte."},
    {"OUN003", "Not supported for this model", "",
     "The request and the model are valid, but the operation does not apply to this model.",
     "Nothing was written. Exit code 3.", "Use the alternative that the message names, or another format."},
    {"OUN004", "Input or output error", "",
     "A file could not be read or written, or a program could not be started.",
     "Nothing was written. Exit code 4.", "Check the path, its permissions and the free space on the disk."},
    {"OUN005", "Stopped", "", "The run was stopped by a signal, by the caller or by its time limit.",
     "No unfinished file remains. Exit code 130.",
     "Run the command again; `tune()` continues with its cached measurements."},
    {"OUN006", "Internal error", "", "A bug in Ounce.", "Nothing was written. Exit code 70.",
     "Report the message, the command and the output of 'ounce --version'."},
    {"OUN007", "Time limit of a model", "", "The model took longer to load or run than its limit.",
     "The model counts as not usable. Exit code 2.", "Raise the limit with --expert isolate-seconds=600."},
    {"OUN008", "Memory limit of a model", "", "The model ran out of memory or threads in its process.",
     "The model counts as not usable. Exit code 2.",
     "Free memory, use a smaller `batch`, or raise the limit with --expert isolate-memory=8."},

    // Data
    {"OUN101", "Data does not contain an input",
     "no data for the input*|has no array or column named*|has no array named*|has no column*for the input",
     "The data has no array or column with the name of a model input, and none fits by shape and type.",
     "The model was not run.",
     "Map the input to an array: `fields` INPUT=ARRAY. The message lists the arrays."},
    {"OUN102", "Shape of a sample does not fit the input",
     "a sample is [*, but the input|is [*], but the sample before it in the batch",
     "Axes are in another order, or images and recordings have another size than the model input.",
     "The model was not run.",
     "Give the layout of the model input with `layout=nchw` or `layout=nhwc`, a size, or try --preprocess "
     "auto."},
    {"OUN103", "Type of the data does not fit the input",
     "the data is *, but the model takes*|the value * does not fit into|values of type * cannot be used as "
     "numbers|the data contradicts the contract",
     "The data has another element type than the input, for example 8-bit pixels for a float input.",
     "The model was not run.", "Scale 8-bit data with `rescale_factor=1/255`, or try --preprocess auto."},
    {"OUN104", "No labels of this name", "has no label|no data for the labels",
     "The data has no array or column with this name.", "Metrics were not computed.",
     "Name an array that the message lists with `labels`."},
    {"OUN105", "Too few samples for a batch or part",
     "has * samples, but a batch needs|samples are too few for * parts|has * samples; there is no sample|the "
     "dataset is empty|samples do not fill a batch",
     "The data has fewer samples than the request needs.", "Samples were skipped, or nothing was run.",
     "Give more samples, or a smaller `batch`, `first` or `parts`."},
    {"OUN106", "NaN in the data", "the data has a NaN|NaN or infinite values, which were ignored",
     "The samples, or values that the model computes from them, are not finite.",
     "The values are not used for calibration.", "Remove broken samples, and check the preprocessing."},
    {"OUN107", "Random-looking data", "are unrelated in this data, as in random numbers",
     "Neighboring values of an input are as unrelated as in random numbers.",
     "Calibration on such data gives wrong activation ranges.",
     "Calibrate on real samples, preprocessed as in the app."},
    {"OUN108", "Dynamic axes were set", "dynamic dimensions were set to|sample*at a time, not",
     "Random inputs need a length for each dynamic axis.", "The measurement holds for these lengths only.",
     "Set the lengths of your application with `shape`."},
    {"OUN109", "Fixed batch", "the model's batch is fixed at",
     "The first axis of the input has a fixed length.", "The model ran with that batch size.",
     "Export the model with a dynamic batch axis if you need other sizes."},
    {"OUN110", "Data is missing",
     "needs calibration data|calibration needs real data|needs data: give|tune needs real data|no data to "
     "check|needs measurements:",
     "The method measures the model on samples, and no data was given.", "Nothing was written.",
     "Give samples as your app produces them with `data`; 100 to 500 samples are enough for calibration."},
    {"OUN111", "Random inputs",
     "random inputs show only how well|random inputs show which layers are sensitive|perplexity is "
     "meaningless without|nll is meaningless for random",
     "No data was given, so inputs are random.", "The result says little about accuracy on real data.",
     "Give real samples with `data`."},
    {"OUN112", "Input matched by shape and type",
     "the only array of its shape and type|'* is compared with '*', the only one of its shape and type",
     "Names differ, but exactly one candidate has the shape and the type of the input or output.",
     "That one was used.", "Check that it is the right one, or name it with `fields` INPUT=ARRAY."},
    {"OUN113", "Inputs or outputs are transposed", "is transposed: * in the reference",
     "Two forms of one model have their channel axis in different places.",
     "Values were transposed for the comparison.", "Nothing, if both models come from one source."},
    {"OUN114", "Contracts differ", "the two models have different contracts",
     "Both models store preprocessing metadata, and they differ.", "The metadata of the reference were used.",
     "Store the same metadata in both with `set_contract()`."},
    {"OUN115", "Preprocessing derived from the data", "preprocessing of '*' derived from the data",
     "No preprocessing was given, and the first sample shows what is missing.",
     "The samples were converted as the note says. Means and deviations were not derived.",
     "Check the result, then store the preprocessing in the model with `set_contract()`."},
    {"OUN116", "Input of unknown use", "unknown use of the input",
     "An input is neither in the data nor known as a recurrent state.", "The model was not run.",
     "Connect a state to an output with `carry`, or set a constant with `constants`."},
    {"OUN117", "No preprocessing metadata", "the model has no contract|no preprocessing is given",
     "The model stores no preprocessing, or none was given.", "Nothing was done.",
     "Store it in the model with `set_contract()`, or name it with --preprocess."},

    // Calibration and INT8
    {"OUN201", "Few calibration samples", "calibrated on * only|only one sample: it is used for both",
     "Activation ranges come from very few samples.",
     "Other data may exceed the ranges, which costs accuracy.", "Give 100 to 500 samples."},
    {"OUN202", "Calibration method",
     "Calibration: *dB|Calibration changed to*|ranges of every second sample alone|ranges of * chosen by "
     "measuring",
     "Several calibration methods were measured on the data.",
     "The method with the smallest output error was used.",
     "Choose one yourself with `integer.calibration`."},
    {"OUN203", "Layers kept in FP32", "kept in FP32*dB|moved back to INT8: *dB",
     "Some layers lose too much accuracy in INT8.",
     "These layers run in FP32, so the model is slower than with INT8 alone.",
     "Nothing, or 'ounce tune' for another balance of speed and accuracy."},
    {"OUN204", "INT8 loses too much accuracy", "with other calibrations and with other nodes",
     "No tested configuration reaches the required output SQNR.", "The INT8 model is not accurate enough.",
     "Use `format=w8`, or search a mixed-precision model with 'ounce tune'."},
    {"OUN205", "Corrections of INT8 models",
     "biases corrected:*|channels * between layers in|channels * after that: *dB",
     "Cross-layer equalization or bias correction was measured.",
     "It was used if it made the outputs more accurate.", "Nothing."},
    {"OUN206", "Ops without INT8 kernels",
     "not rewritten for INT8 kernels|has no INT8 kernels for 16-bit activations|has no INT8 kernels for "
     "4-bit weights|no op can run in INT8|nothing would run in INT8",
     "The runtime has no integer kernels for some ops or types of the model.",
     "These ops run in FP32, or nothing was written.",
     "Use `format=w8` for a smaller file at FP32 speed, or 8-bit activations and weights."},
    {"OUN207", "Trained scales",
     "fake-quantization ops: their trained scales|trained scale|trained scales are kept",
     "The model has scales of quantization-aware training.", "They were kept, or changed as the note says.",
     "For CPUs without VNNI name a `target`, for example linux-x64@1.30.0+avx2."},
    {"OUN208", "Sums of INT8 products may saturate", "saturat",
     "On x86 CPUs without VNNI, pairs of products are added in 16 bits, and large weights exceed them.",
     "Outputs on such CPUs can differ.", "Quantize for the CPU with `target`, or test it with `cpus`."},
    {"OUN209", "Constant value", "is constant: always", "An activation has the same value for all samples.",
     "Its range is a single number.", "Check that the samples differ and that preprocessing is right."},
    {"OUN210", "Rounding of layers", "rounded to nearest|adaptive rounding of",
     "Adaptive rounding applies to some layers only.", "The others are rounded to nearest.", "Nothing."},
    {"OUN211", "Calibration file of another model",
     "these ranges belong to another model|these ranges are of another model|importance file belongs to "
     "another model",
     "The ranges were collected on a model with another structure.", "Nothing was written.",
     "Run `calibrate()` on this model."},
    {"OUN212", "Bias exceeds 32 bits", "as their bias would overflow 32 bits",
     "A large bias with a small scale does not fit into int32.",
     "The weights of these channels have larger scales than they need.",
     "Check these channels with 'ounce sensitivity'."},
    {"OUN213", "Incomplete calibration parts", "samples are in none of the parts",
     "Merged calibration files do not cover all samples.", "The ranges come from the covered samples alone.",
     "Run the missing shards with `shards`."},
    {"OUN214", "Prepared graph", "left alone: |left as *: *|left unchanged: the model has too many",
     "A rewrite before quantization did not apply to these nodes.", "The nodes are unchanged.", "Nothing."},
    {"OUN215", "Calibration files that do not fit",
     "is not a calibration file|belongs to another model than the parts|each may count only once|was written "
     "by an older version",
     "A calibration file is of another kind, version or model, or overlaps another part.",
     "Nothing was merged or written.", "Run `calibrate()` again, or leave out one of the parts."},

    // Formats
    {"OUN301", "Already quantized", "original model instead|already quantized|: its scales are static",
     "The model was written by Ounce or another quantizer.", "Quantizing it again would lose accuracy twice.",
     "Quantize the original FP32 model."},
    {"OUN302", "Nothing to compress",
     "no weights to compress|no weight can be compressed|no floating-point weights to compress",
     "The model has no large FP32 weights.", "Nothing was written.",
     "Nothing: the file is mostly graph, or already compressed."},
    {"OUN303", "FP16 is slow on x86 CPUs", "has no FP16 kernels and casts around every op",
     "ONNX Runtime computes FP16 on x86 by casting to FP32.", "The model is smaller and slower.",
     "Use `format=w16` for the same size at FP32 speed, or a `target` with FP16."},
    {"OUN304", "Values outside of the FP16 range",
     "exceed the FP16 range|is low for FP16|reaches * in the data|comes down to * in the data|output SQNR "
     "was measured with every result rounded",
     "FP16 holds values up to 65504 and down to 6e-8.",
     "Values overflow or vanish, or outputs are less accurate.",
     "Keep the nodes in FP32 with `half.keep`, or use bf16."},
    {"OUN305", "Few layers use packed weights", "keep* FP32 arithmetic with compressed weights",
     "MatMulNBits kernels exist for MatMul and Gather only.",
     "Other layers compute in FP32 with compressed weights.",
     "For INT8 inference use `format=int8` with `data`."},
    {"OUN306", "Bits per layer",
     "layers are *: *bits per weight|method *: on * held-out samples|activations are kept in FP32 (accuracy "
     "level|(accuracy level 1), the others are INT8",
     "The search chose bits, methods or activation types by measurement.", "The note has the result.",
     "Nothing."},
    {"OUN307", "Partly compressed model",
     "partially quantized already|sparse tensors are not compressed|weights are already compressed and "
     "remain|training information is copied",
     "Some weights are in a form that Ounce keeps.", "They are unchanged.", "Nothing."},
    {"OUN308", "Shortened names", "inner names were shortened",
     "Names of inner values were a large part of the file.", "Their names differ from the original.",
     "Keep them with `half.keep_names=true`."},
    {"OUN309", "Newer format version", "the result requires * instead of",
     "The compressed form of weights needs a newer version of the format.",
     "Older devices cannot load the model.", "Use a format that fits the oldest device."},
    {"OUN310", "Initializers that are inputs", "listed as *, as old exporters do",
     "Old exporters list weights as inputs with a default value.", "They became constants.",
     "Keep them with `keep_inputs`."},
    {"OUN311", "Expression matches nothing", "matches no |; it was ignored",
     "A regular expression of `include`, `exclude` or `half.keep` matches no tensor, node or op.",
     "The expression had no effect, or nothing was done.",
     "Check the names with 'ounce inspect', or set `ignore_unmatched`."},

    // Comparison
    {"OUN401", "No threshold was given", "no threshold was given",
     "No threshold was named, so a default decides.", "The result is a smoke test.",
     "Name a threshold such as `gates.max_drop` with `labels`."},
    {"OUN402", "Metric was not measured", "was not measured:|there are no labels, so",
     "The outputs or labels do not have the form that the metric needs.",
     "The metric is missing in the result.", "Choose `task`, `metric` or `label_output`, or give `labels`."},
    {"OUN403", "Outputs judged in parts", "which differs in kind or scale from the rest of the output",
     "One output holds values of different kinds, such as boxes and scores.",
     "The SQNR is that of the worst part.", "Nothing."},
    {"OUN404", "Too few samples for the confidence",
     "more samples could let|samples are too few for a holdout set",
     "The thresholds pass on these samples, but they are too few to be sure for other data.",
     "A candidate was not accepted.",
     "Give more samples, a larger `gates.max_drop`, or `gates.confidence=none`."},
    {"OUN405", "Passed on the search data only", "passed on the search data but not on",
     "The candidate fits the samples of the search better than others.", "It was not accepted.",
     "Give more samples."},
    {"OUN406", "Outputs differ between CPUs", "between the CPUs",
     "INT8 arithmetic differs between CPUs with and without VNNI.",
     "Outputs on the other CPU are less accurate.", "Quantize for the oldest CPU with `target`."},
    {"OUN407", "Data is required", "a comparison on random inputs is a smoke test",
     "The gate requires real data, and none was given.", "Nothing was compared.",
     "Give samples with `data`."},
    {"OUN408", "Worse than the baseline", "worse than the baseline",
     "A figure is worse than in the earlier run by more than the tolerance.", "The gate failed. Exit code 1.",
     "Find the cause with 'ounce sensitivity', or raise --tolerance."},

    // Speed
    {"OUN501", "Machine is busy", "the machine is busy|the machine was too busy",
     "Other programs use the CPU.", "Timings are not reliable, and are not used for decisions.",
     "Run again when the machine is idle."},
    {"OUN502", "Speed does not predict devices", "its times do not predict",
     "The model ran in an emulator or evaluator.", "Latencies are those of the emulation.",
     "Measure on a device with `remote.via`."},
    {"OUN503", "Same model twice", "is the same model as", "Two files have the same content.",
     "Any difference is noise.", "Compare two different models."},
    {"OUN504", "No profile", "no profile was taken|profiling failed",
     "The model runs in another process or the runtime failed.", "The result has no profile.",
     "Run `bench()` without isolation."},
    {"OUN505", "Quantized model is slower", "slower than the original",
     "Conversions between INT8 and FP32 cost more than INT8 kernels save.",
     "Nothing was written, unless it was allowed.",
     "Use `format=w8`, or allow it with `trial.allow_slower=true`."},
    {"OUN506", "Search was shortened",
     "was tested without the search of|there was no time to make|because more do not fit into memory|only * "
     "samples were used: more do not fit",
     "Time or memory was too small for all steps.", "The result may be less accurate than possible.",
     "Give a larger `budget`, or run `quantize()`."},
    {"OUN507", "Cold starts from memory", "the file cache could not be dropped",
     "The system does not allow dropping its file cache.",
     "Cold starts read the model from memory, which is faster than from the disk.",
     "Run as root, or compare only the models with each other."},
    {"OUN508", "No KV cache", "has no KV cache", "The model takes no states of earlier tokens.",
     "Each token processes the whole text.", "Export the model with its key and value states."},

    // Targets
    {"OUN601", "Unmeasured release", "no data for ", "No measurement of this release exists.",
     "Support is unknown.", "Use a measured release: 'ounce check --releases' lists them."},
    {"OUN602", "Measured on another system",
     "measured on Linux|was measured without XNNPACK|was measured on Linux", "The measurement ran on Linux.",
     "Builds for other systems may differ in rare cases.", "Test on a device with `remote.via`."},
    {"OUN603", "External data", "external data: the ", "The weights are in a second file.",
     "The app must find or pass that file.", "Merge the file with 'ounce repack --external-data never'."},
    {"OUN604", "Not run on the target",
     "not executed: ", "This machine cannot run programs or models of the target.",
     "The verdict comes from measurements of ops alone.", "Run on a device with `remote.via`."},
    {"OUN605", "Ops that the target does not run",
     "does not support |does not run as planned|would not run on|not run on * either",
     "The runtime of the target has no kernel for these ops or types.",
     "They were kept in FP32, or nothing was written.", "Use a newer release, or another format."},
    {"OUN606", "Accelerator needs a fully quantized model", "runs 8-bit models only",
     "The accelerator does not take FP32 inputs or outputs.", "The model falls back to the CPU.",
     "Quantize inputs and outputs, too, with `integer.integer_io`."},
    {"OUN607", "Unknown target",
     "is not valid: use a platform|is not valid for a TFLite model|names LiteRT, which runs|names only a "
     "provider",
     "A target is a platform and a release, with a provider or CPU behind it.",
     "Nothing was done. Exit code 2.",
     "Use a target that the message lists, for example android-arm64@1.22.0."},

    // Files
    {"OUN701", "File cannot be opened", "cannot open|No such file or directory",
     "The file does not exist, or cannot be read.", "Nothing was done. Exit code 4.",
     "Check the path. For 'quantize a.onnx b.onnx' the output is named by `output`."},
    {"OUN702", "Disk is full", "is the disk full|No space left on device",
     "The file system has no space, or a quota is reached.",
     "The output was not written; an older file is intact.", "Free space, or choose another `output`."},
    {"OUN703", "Output would replace an input",
     "would replace|the output is the model itself|exists and was not written by Ounce|exists and is not a "
     "report of Ounce|is both a model to work on and the output|would be the output for both",
     "Two options name the same file, or a file that Ounce did not write.", "Nothing was done.",
     "Choose another name."},
    {"OUN704", "File was truncated while it was read", "was truncated", "Another program changed the file.",
     "Nothing was written.", "Run again."},
    {"OUN705", "Models in a folder", "skipped *: |the folder has ",
     "A folder has quantized models, variants or outputs of earlier runs.",
     "They were skipped, or the choice is not clear.", "Name the model."},
    {"OUN706", "No runtime found",
     "cannot open ONNX Runtime|cannot open LiteRT|this file is not a library of ONNX Runtime",
     "Models run in ONNX Runtime or LiteRT, which are not part of Ounce.", "Nothing was run.",
     "Install it: 'pip install onnxruntime', or for .tflite files 'pip install ai-edge-litert'."},
    {"OUN707", "Measurements are not kept", "measurements are not kept|cannot keep measurements here",
     "The cache folder cannot be written.", "The next run measures again.", "Choose a folder with `cache`."},
    {"OUN708", "Not a valid model file",
     "not a valid * file:", "The file is truncated, damaged or no ONNX model.",
     "Nothing was done. Exit code 2.", "Get a complete copy, or export the model again."},

    // Options
    {"OUN801", "Unknown command or option",
     "is not a verb of|has no option|is neither a verb of|expert*has no key|a recipe has no field|no verb is "
     "given|name one of its verbs",
     "The name is misspelled, or belongs to another command.", "Nothing was done. Exit code 2.",
     "'ounce help' lists the commands, 'ounce COMMAND --help-all' the options."},
    {"OUN802", "Value of an option",
     "*' must be |not in {|is not in the range|did you mean '*%'|takes one value|takes a value",
     "The value is not one that the option accepts.", "Nothing was done. Exit code 2.",
     "Use a value that the message names."},
    {"OUN803", "Options that exclude each other",
     "cannot be combined with|excludes|contradict each other|is given twice",
     "Two options cannot be used together.", "Nothing was done. Exit code 2.", "Leave one out."},
    {"OUN804", "Missing argument", "is required|requires ", "The command needs another argument.",
     "Nothing was done. Exit code 2.", "'ounce help COMMAND' shows its arguments."},
    {"OUN805", "Name of an input or output", "the model has no * '|: the model has",
     "An option names an input or output that the model does not have.", "Nothing was done.",
     "Use a name that the message lists."},
    {"OUN806", "Configuration file",
     "reads a TOML file|so it is not a configuration file|is outside of a section|takes text or numbers, or "
     "a list of them|must be true or false",
     "The file of --config is not valid TOML, or sets something unknown.", "Nothing was done. Exit code 2.",
     "Correct the place that the message names."},

    // Search and publish
    {"OUN901", "No improvement", "no improvement found|no candidate could be made",
     "No candidate is smaller or faster and passes.", "Keep the original model.",
     "Give a larger `gates.max_drop` or more `budget`."},
    {"OUN902", "Result cannot be written", "passed but cannot be written",
     "The best candidate does not work as a file.", "The next best one was used.", "Nothing."},
    {"OUN903", "Configuration of a published model", "config.json is missing|* instead of *: ",
     "A tool that loads the published files expects another file or name.",
     "transformers.js, optimum or onnxruntime-genai may not load the model.",
     "Add the file, or use the name in the note."},
};

bool is_wild_match(std::string_view text, std::string_view pattern) {
  for (std::size_t at = 0; at <= pattern.size();) {
    const std::size_t star = std::min(pattern.find('*', at), pattern.size());
    const std::string_view part = pattern.substr(at, star - at);
    const std::size_t found = text.find(part);
    if (found == text.npos) return false;
    text.remove_prefix(found + part.size());
    at = star + 1;
  }
  return true;
}

// The length of the longest pattern of the row that the text matches; 0: none.
std::size_t matched(const Message& message, std::string_view text) {
  std::size_t longest = 0;
  for (std::size_t at = 0; at < message.says.size();) {
    const std::size_t end = std::min(message.says.find('|', at), message.says.size());
    const std::string_view pattern = message.says.substr(at, end - at);
    if (is_wild_match(text, pattern)) longest = std::max(longest, pattern.size());
    at = end + 1;
  }
  return longest;
}

std::string sentence_of(std::string_view text) { return with_options(text); }

}  // namespace

std::span<const Message> all_messages() { return kMessages; }

const Message* find_message(std::string_view id) {
  std::string wanted(id);
  std::transform(wanted.begin(), wanted.end(), wanted.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (!wanted.starts_with("OUN")) wanted.insert(0, "OUN");
  const auto* const found = std::find_if(std::begin(kMessages), std::end(kMessages),
                                         [&](const Message& message) { return message.id == wanted; });
  return found == std::end(kMessages) ? nullptr : found;
}

std::string_view message_id(std::string_view text) {
  const auto* found = std::max_element(
      std::begin(kMessages), std::end(kMessages),
      [&](const Message& a, const Message& b) { return matched(a, text) < matched(b, text); });
  return matched(*found, text) == 0 ? std::string_view() : found->id;
}

std::string_view error_id(ErrorCode code, std::string_view text) {
  const bool is_of_request = code != ErrorCode::kCancelled && code != ErrorCode::kInternal;
  const std::string_view id = is_of_request ? message_id(text) : std::string_view();
  return id.empty() ? kMessages[static_cast<std::size_t>(code)].id : id;
}

std::string with_id(const std::string& message, std::string_view id) {
  return id.empty() || message.empty() ? message : fmt::format("{} [{}]", message, id);
}

std::string note_text(const std::string& note) { return with_id(with_options(note), message_id(note)); }

std::string explain_text(const Message& message) {
  return fmt::format("{}: {}\n\n  Cause:        {}\n  Consequence:  {}\n  Fix:          {}\n", message.id,
                     message.title, sentence_of(message.cause), sentence_of(message.consequence),
                     sentence_of(message.fix));
}

std::string explain_list() {
  Table table({"code", "message"});
  for (const Message& message : kMessages) table.add({std::string(message.id), std::string(message.title)});
  return table.text() + "\n'ounce explain OUN101' shows the cause, the consequence and what to do.\n";
}

}  // namespace ounce::report
