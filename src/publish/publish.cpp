#include <fmt/format.h>
#include <ounce/error.h>
#include <ounce/model.h>
#include <ounce/publish.h>
#include <ounce/quantize.h>
#include <ounce/verify.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/cancel.h"
#include "base/machine.h"
#include "data/source/open_source.h"
#include "evaluate/compare/worst_output.h"
#include "formats/onnx/file/reader.h"
#include "formats/open.h"
#include "formats/onnx/graph/validate.h"
#include "io/output_file.h"
#include "model/model_file.h"
#include "publish/configs.h"
#include "publish/variants.h"
#include "quantize/original.h"
#include "quantize/output_place.h"
#include "quantize/statement.h"
#include "quantize/target_fit.h"
#include "recipe/format_info.h"

namespace ounce {
namespace fs = std::filesystem;
namespace {

using publication::InputFolder;
using publication::Variant;
using publication::WrittenVariant;

// Neither folder may contain the other: the output would be published, or the input replaced.
void require_folders_apart(const fs::path& input, const fs::path& output) {
  const auto place = [](const fs::path& path) {
    const fs::path plain = fs::weakly_canonical(path);
    return plain.has_filename() ? plain : plain.parent_path();
  };
  const fs::path from = place(input), to = place(output);
  const auto is_in = [](const fs::path& path, const fs::path& folder) {
    const fs::path relative = path.lexically_relative(folder);
    return !relative.empty() && *relative.begin() != "..";
  };
  if (is_in(to, from))
    throw Error(ErrorCode::kUsage, "the output folder is inside the input folder; choose another `output`",
                output.string());
  if (is_in(from, to))
    throw Error(ErrorCode::kUsage, "the output folder contains the input; choose another `output`",
                output.string());
}

std::set<std::string> op_types_of(const graph::Index& index) {
  std::set<std::string> types;
  for (const auto& body : index.bodies()) {
    for (const auto& node : body.nodes()) types.emplace(node->op_type());
  }
  return types;
}

void write_text(const io::OutputFolder& folder, const fs::path& relative, const std::string& text) {
  io::OutputFile file(folder.place_for(relative), text.size());
  file.write(0, text);
  file.commit();
}

// Runs one publication, from reading the input to moving the output folder into place.
class Publication {
 public:
  Publication(const fs::path& input, const fs::path& output, const PublishOptions& options)
      : options_(options),
        variants_(publication::chosen_variants(options.variants)),
        folder_(publication::read_input(input)),
        output_place_(output) {
    require_folders_apart(input, output);
    result_.output = output;
    result_.layout = options.layout;
    result_.notes = folder_.notes;
    leave_out_quantized(input);
    require_names_apart();
    require_configs();
    for (const fs::path& model : folder_.models) evaluate::require_outputs(options.verify.outputs, model);
  }

  PublishResult run() {
    const Stopwatch time;
    io::OutputFolder output(output_place_, options_.replace ? io::OutputFolder::Existing::kReplace
                                                            : io::OutputFolder::Existing::kRefuse);
    for (const fs::path& model : folder_.models) publish_model(model, output);
    if (result_.written() == 0) return std::move(result_);  // no output
    measure(output);
    write_configs(output);
    carry_files(output);
    output.commit();
    result_.seconds = time.seconds();
    return std::move(result_);
  }

 private:
  // Variants are made only from original models, not from quantized ones.
  void leave_out_quantized(const fs::path& input) {
    if (folder_.root.empty()) return quantization::require_original(*formats::open_model(input), "Publish");
    std::erase_if(folder_.models, [this](const fs::path& model) {
      const std::string why = why_no_original(model);
      if (!why.empty()) result_.notes.push_back(fmt::format("skipped {}: {}", model.string(), why));
      return !why.empty();
    });
    if (folder_.models.empty())
      throw Error(ErrorCode::kUsage, "no original model: all .onnx files in the folder are already quantized",
                  input.string());
  }

  // Models of the same name in different folders would overwrite each other.
  void require_names_apart() const {
    std::set<std::string> stems;
    for (const fs::path& model : folder_.models) {
      if (stems.insert(model.stem().string()).second) continue;
      throw Error(ErrorCode::kUsage,
                  fmt::format("two models are named '{}': publish them separately", model.stem().string()),
                  model.string());
    }
  }

  // Reports unreadable configuration files before minutes of work, not after.
  void require_configs() const {
    if (options_.layout == Layout::kHuggingFace && folder_.has("config.json"))
      publication::transformers_config(text_of("config.json"), {}, where("config.json"));
    if (options_.layout == Layout::kGenai && folder_.has("genai_config.json")) {
      std::vector<std::string> files;
      for (const fs::path& model : folder_.models) files.push_back(model.filename().string());
      publication::genai_config(text_of("genai_config.json"), files, where("genai_config.json"));
    }
    publication::with_section(text_of("README.md"), {}, {}, where("README.md"));
  }

  void publish_model(const fs::path& path, const io::OutputFolder& output) {
    PublishedModel& model = result_.models.emplace_back();
    model.model = path;
    const onnx::Model original = onnx::read_model(path);
    const graph::Index index = graph::validate(original);
    original_bytes_ = onnx::bytes_of(original);
    op_types_ = op_types_of(index);
    for (const Variant* variant : variants_) {
      PublishedVariant& made = model.variants.emplace_back();
      made.variant = variant->name;
      made.file = publication::place_of(options_.layout, path.stem().string(), *variant);
      if (variant->recipes.empty()) {
        carry_original(path, original, output, made);
      } else {
        make_variant(path, *variant, output, made);
      }
      made.ratio =
          original_bytes_ == 0 ? 1 : static_cast<double>(made.bytes) / static_cast<double>(original_bytes_);
      if (made.is_written) note_written(path, made, output);
    }
  }

  void note_written(const fs::path& path, const PublishedVariant& made, const io::OutputFolder& output) {
    const onnx::Model written = onnx::read_model(output.path() / made.file);
    written_.push_back({path.stem().string(), made.variant, made.file, !written.external_files.empty(),
                        made.format, op_types_});
  }

  // Copies the original model. Its external data is renamed if the layout expects another name.
  void carry_original(const fs::path& path, const onnx::Model& original, const io::OutputFolder& output,
                      PublishedVariant& made) {
    const fs::path place = output.place_for(made.file);
    const std::string data = publication::data_name_of(options_.layout, made.file);
    const auto& files = original.external_files;
    const bool is_named_so = files.size() == 1 && files.begin()->first == data;
    ExternalData how = files.empty() || is_named_so ? ExternalData::kAuto : ExternalData::kAlways;
    if (options_.external_data != ExternalData::kAuto) how = options_.external_data;
    made.bytes = 
        copy_model(path, place, {.external_data = how, .data_name = data, .progress = options_.progress}).bytes_after;
    made.releases = quantization::oldest_releases(original);
    made.is_written = true;
  }

  // Writes the variant with the first recipe that passes. Failed recipes are added to the notes; if all fail,
  // `why_not` has the last reason.
  void make_variant(const fs::path& path, const Variant& variant, const io::OutputFolder& output,
                    PublishedVariant& made) {
    for (const Recipe& recipe : variant.recipes) {
      if (!made.why_not.empty())
        made.notes.push_back(
            fmt::format("{} instead of {}: {}", name_of(recipe.format), name_of(made.format), made.why_not));
      made.why_not.clear();
      made.is_gate_failure = false;
      made.format = recipe.format;
      try_recipe(path, recipe, output, made);
      if (made.is_written) return;
    }
  }

  void try_recipe(const fs::path& path, const Recipe& recipe, const io::OutputFolder& output,
                  PublishedVariant& made) {
    const fs::path place = output.place_for(made.file);
    QuantizeOptions how;
    how.recipe = recipe;
    how.recipe.target = options_.target;
    how.external_data = options_.external_data;
    how.data_name = publication::data_name_of(options_.layout, made.file);
    how.threads = options_.threads;
    how.progress = options_.progress;
    how.trial.runtime = options_.verify.runtime;
    how.trial.data = options_.verify.data;
    how.trial.is_timed = false;
    how.trial.cpus = options_.verify.cpus;
    try {
      const QuantizeResult quantized = quantize(path, place, how);
      if (quantized.stored_as() != recipe.format) {
        remove_model(place);
        made.why_not = info_of(recipe.format).family == Family::kWeights
                           ? "the model's opset cannot dequantize w4 weights"
                           : "no weight of the model can use a MatMulNBits kernel";
        return;
      }
      for (const std::string& note : quantized.notes) made.notes.push_back(note);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kUnsupported) throw;
      made.why_not = error.what();
      return;
    }
    judge(path, place, made);
  }

  void judge(const fs::path& path, const fs::path& place, PublishedVariant& made) {
    VerifyOptions how = options_.verify;
    how.cpus.clear();  // quantize() has compared the CPUs already
    how.reference_outputs = reference_outputs_;
    how.progress = options_.progress;
    VerifyResult verified = verify(path, place, how);
    result_.runtime_version = verified.runtime_version;
    result_.cpu = verified.cpu;
    if (!verified.passed) {
      made.why_not = verified.verdict;
      made.is_gate_failure = true;
      remove_model(place);
      return;
    }
    Statement statement = statement_of(place).value();
    statement.trial.reset();
    statement.gate = quantization::stated_gate(how, verified);
    quantization::restate(place, statement);
    made.bytes = onnx::bytes_of(onnx::read_model(place));
    made.releases = statement.releases;
    made.verified = std::move(verified);
    made.is_written = true;
  }

  static void remove_model(const fs::path& place) {
    const onnx::Model model = onnx::read_model(place);
    std::error_code ignored;
    for (const auto& [location, file] : model.external_files) fs::remove(file.path(), ignored);
    fs::remove(place, ignored);
  }

  void measure(const io::OutputFolder& output) {
    if (options_.bench_seconds <= 0) return;
    for (PublishedModel& model : result_.models) {
      std::vector<fs::path> files = {model.model};
      std::vector<PublishedVariant*> measured;
      for (PublishedVariant& variant : model.variants) {
        if (!variant.is_written) continue;
        files.push_back(output.path() / variant.file);
        measured.push_back(&variant);
      }
      if (measured.empty()) continue;
      BenchOptions how;
      how.runtime = options_.verify.runtime;
      how.data = options_.verify.data;
      how.data.labels.clear();
      how.seconds = options_.bench_seconds;
      how.progress = options_.progress;
      BenchReport report = bench(files, how);
      for (std::size_t i = 0; i < measured.size(); ++i) {
        measured[i]->bench = std::move(report.models.at(i + 1));
        measured[i]->bench->model = measured[i]->file;
      }
    }
  }

  std::string where(const char* file) const { return (folder_.root / file).string(); }
  // The text of a file of the input; empty if the file does not exist.
  std::string text_of(const std::string& file) const {
    return folder_.has(file) ? publication::read_text(folder_.root / file) : "";
  }

  void write_config(const io::OutputFolder& output, const fs::path& file, const std::string& text) {
    write_text(output, file, text);
    result_.configs.push_back(file);
  }

  void write_configs(const io::OutputFolder& output) {
    if (options_.layout == Layout::kHuggingFace) {
      if (!folder_.has("config.json")) {
        result_.notes.emplace_back("config.json is missing; transformers.js and optimum need it");
      } else if (const std::string text =
                     publication::transformers_config(text_of("config.json"), written_, where("config.json"));
                 !text.empty()) {
        write_config(output, "config.json", text);
      }
      write_config(output, "quantize_config.json", publication::quantize_config(written_));
    }
    if (options_.layout == Layout::kGenai) write_genai(output);
    const std::string name = fs::weakly_canonical(output_place_).filename().string();
    write_config(output, "README.md",
                 publication::with_section(text_of("README.md"), publication::card_section(result_), name,
                                           where("README.md")));
  }

  void write_genai(const io::OutputFolder& output) {
    if (!folder_.has("genai_config.json")) {
      result_.notes.emplace_back("genai_config.json is missing; onnxruntime-genai needs it");
      return;
    }
    std::map<std::string, std::vector<std::string>> files;  // by the variant's folder
    for (const WrittenVariant& one : written_) files[one.variant].push_back(one.file.filename().string());
    const std::string text = text_of("genai_config.json");
    for (const auto& [variant, names] : files) {
      const std::string updated = publication::genai_config(text, names, where("genai_config.json"));
      write_config(output, fs::path(variant) / "genai_config.json", updated.empty() ? text : updated);
    }
  }

  // Copies all other files. With Layout::kGenai every variant's folder gets them.
  void carry_files(const io::OutputFolder& output) {
    std::set<std::string> folders = {""};
    if (options_.layout == Layout::kGenai) {
      folders.clear();
      for (const WrittenVariant& one : written_) folders.insert(one.variant);
    }
    for (const fs::path& file : folder_.files) {
      for (const std::string& folder : folders) {
        const fs::path relative = fs::path(folder) / file;
        if (std::find(result_.configs.begin(), result_.configs.end(), relative) != result_.configs.end() ||
            file == "README.md")
          continue;
        output.copy(folder_.root / file, relative);
        result_.carried.push_back(relative);
      }
    }
  }

  const PublishOptions& options_;
  std::vector<const Variant*> variants_;
  InputFolder folder_;
  fs::path output_place_;
  std::vector<WrittenVariant> written_;
  std::uint64_t original_bytes_ = 0;  // of the current model
  std::set<std::string> op_types_;
  std::shared_ptr<ReferenceOutputs> reference_outputs_ = keep_reference_outputs();
  PublishResult result_;
};

}  // namespace

std::size_t PublishResult::written() const {
  std::size_t count = 0;
  for (const PublishedModel& model : models)
    count += static_cast<std::size_t>(std::count_if(model.variants.begin(), model.variants.end(),
                                                    [](const auto& variant) { return variant.is_written; }));
  return count;
}

bool PublishResult::passed() const {
  return std::all_of(models.begin(), models.end(), [](const PublishedModel& model) {
    return std::all_of(model.variants.begin(), model.variants.end(),
                       [](const auto& variant) { return variant.is_written; });
  });
}

PublishResult publish(const fs::path& input, const fs::path& output, const PublishOptions& options) {
  const CancellationScope scope(options.progress);
  model::require_support(input, "publish");
  data::require_files(options.verify.data);
  return Publication(input, output, options).run();
}

}  // namespace ounce
