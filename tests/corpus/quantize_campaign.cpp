// Compresses every model of the ONNX backend tests to every weight-only format, and runs the results in ONNX
// Runtime.
//
//   corpus_quantize [--every N] [--only TEXT]      every Nth model; models whose name contains TEXT
//
// Each model is tried in four forms: unchanged; with all inputs but the first as initializers ("tail") and
// with the first input as an initializer ("head"), because the suite passes weights as inputs; and declared
// as opset 13 ("opset 13"), because half of the models with weights use opset 6. A model is compressed or
// refused with a reason. The result must pass validation, load if the original loads, run if the original
// runs, and give similar outputs. Exit 0: no failures.
#include <fmt/format.h>
#include <ounce/error.h>
#include <ounce/quantize.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iostream>
#include <limits>
#include <map>
#include <set>
#include <sstream>

#include "corpus/backend_tests.h"
#include "corpus/changed_model.h"
#include "corpus/closeness.h"
#include "corpus/crash_guard.h"
#include "formats/onnx/file/reader.h"
#include "formats/onnx/graph/validate.h"
#include "support/temporary_folder.h"

namespace ounce::test {
namespace {

namespace fs = std::filesystem;

// A recipe, and the least output SQNR.
//
// The limits: uniformly distributed values with b bits give 6·b dB (48, 24), normally distributed ones about
// 5 dB less, FP16 gives 70 dB; ops that amplify (Pow) or feed back (GRU) cost up to 10 dB more. A codebook
// has 16 values for a whole tensor.
struct Variant {
  const char* name;
  Recipe recipe;
  double floor_db;
};

std::vector<Variant> variants() {
  std::vector<Variant> list;
  const auto add = [&](const char* name, Format format, double floor_db, auto&& change) {
    Recipe recipe;
    recipe.format = format;
    recipe.min_bytes = 16;   // the models are tiny
    recipe.fp16_budget = 0;  // no weights in FP16: quantized values are tested
    change(recipe);
    list.push_back({name, recipe, floor_db});
  };
  const auto plain = [](Recipe&) {};
  const auto codebook = [](Recipe& recipe) { recipe.codebook = true; };
  const auto asymmetric = [](Recipe& recipe) { recipe.asymmetric = true; };
  const auto dq = [](Recipe& recipe) { recipe.decoder = DecoderChoice::kDq; };
  const auto blocks = [](std::size_t size) {
    return [size](Recipe& recipe) { recipe.granularity = {GranularityKind::kBlock, size}; };
  };
  using enum Format;
  add("w16", kW16, 55, plain);
  add("fp16", kFp16, 50, plain);
  add("w8", kW8, 40, plain);
  add("w8 codebook", kW8, 40, codebook);
  add("w8 asymmetric", kW8, 40, asymmetric);
  add("w8 dq", kW8, 40, dq);
  add("w8 block:32", kW8, 40, blocks(32));
  add("w4", kW4, 17, plain);
  add("w4 codebook", kW4, 12, codebook);
  add("w4 asymmetric", kW4, 17, asymmetric);
  add("w4 block:4", kW4, 17, blocks(4));
  return list;
}

enum class Form { kPlain, kTail, kHead, kOpset13 };
constexpr const char* kFormNames[] = {"", " tail", " head", " opset 13"};

struct Case {
  fs::path model;
  Form form;

  std::string name() const { return name_of_model(model) + kFormNames[static_cast<int>(form)]; }
};

// The outcome of one case in one variant. The child process sends it as fields separated by tabs.
struct Outcome {
  enum class Kind {
    kRefused,  // no weights to compress
    kWritten,  // written; not loaded, because the original does not load
    kLoaded,   // written and loaded; not run, because there is no data or the original does not run
    kRan,      // written, loaded, run and compared
    kFailed,   // incorrect; see `why`
  };
  std::size_t variant = 0;
  Kind kind = Kind::kRefused;
  double sqnr_db = 0;
  std::string why;

  std::string text() const {
    std::string reason = why;
    std::replace(reason.begin(), reason.end(), '\t', ' ');
    std::replace(reason.begin(), reason.end(), '\n', ' ');
    return fmt::format("{}\t{}\t{}\t{}", variant, static_cast<int>(kind), sqnr_db, reason);
  }
  static Outcome parse(const std::string& text) {
    std::istringstream fields(text);
    std::string variant, kind, sqnr, why;
    std::getline(fields, variant, '\t');
    std::getline(fields, kind, '\t');
    std::getline(fields, sqnr, '\t');
    std::getline(fields, why);
    return {std::stoul(variant), static_cast<Kind>(std::stoi(kind)), std::stod(sqnr), why};
  }
};

// The original in the runtime. The quantized models must load and run if it does.
class Original {
 public:
  Original(const fs::path& model, std::vector<runtime::NamedTensor> inputs) : inputs_(std::move(inputs)) {
    try {
      const runtime::Session session(library(), model, {});
      loads_ = true;
      for (const auto& output : session.outputs()) {
        if (output.is_tensor() && output.element != ElementType::kString) names_.push_back(output.name);
      }
      if (names_.empty()) return;
      outputs_ = session.run(inputs_, names_);
      runs_ = true;
    } catch (const Error&) {  // recorded in loads_ and runs_
    }
  }

  Outcome judge(const fs::path& written, const Variant& variant) const {
    using Kind = Outcome::Kind;
    Outcome outcome;
    outcome.kind = Kind::kWritten;
    if (!loads_) return outcome;
    const runtime::Session session(library(), written, {});
    outcome.kind = Kind::kLoaded;
    if (!runs_) return outcome;
    const Closeness closeness = compare_outputs(outputs_, session.run(inputs_, names_));
    outcome.kind = Kind::kRan;
    outcome.sqnr_db = closeness.sqnr_db;
    outcome.why = closeness.difference;
    if (!closeness.difference.empty() || !(closeness.sqnr_db >= variant.floor_db))
      outcome.kind = Kind::kFailed;
    if (outcome.kind == Kind::kFailed && outcome.why.empty())
      outcome.why = fmt::format("{:.1f} dB", closeness.sqnr_db);
    return outcome;
  }

 private:
  static std::shared_ptr<const runtime::Library> library() {
    return runtime::Library::open(runtime::Library::find());
  }

  bool loads_ = false, runs_ = false;
  std::vector<runtime::NamedTensor> inputs_;
  std::vector<std::string> names_;
  std::vector<runtime::Tensor> outputs_;
};

Outcome try_variant(const fs::path& model, const fs::path& written, const Variant& variant,
                    const Original& original) {
  Outcome outcome;
  outcome.kind = Outcome::Kind::kFailed;
  try {
    QuantizeOptions options;
    options.recipe = variant.recipe;
    options.threads = 1;
    options.trial.is_wanted = false;  // this test runs it in every version of the runtime
    quantize(model, written, options);
    graph::validate(onnx::read_model(written));
    return original.judge(written, variant);
  } catch (const Error& error) {
    const std::string what = error.what();
    const bool is_nothing_to_do = what.find("no weights to compress") != std::string::npos ||
                                  what.find("already quantized with") != std::string::npos;
    if (error.code() == ErrorCode::kUnsupported && is_nothing_to_do) outcome.kind = Outcome::Kind::kRefused;
    const bool is_half_reason =
        what.find("nothing to convert to 16-bit floating point") != std::string::npos ||
        what.find("cannot be converted to a newer") != std::string::npos;
    if (error.code() == ErrorCode::kUnsupported && variant.recipe.is_half() && is_half_reason)
      outcome.kind = Outcome::Kind::kRefused;
    // NaN in a weight is refused by design.
    if (error.code() == ErrorCode::kBadInput && what.find("has NaN or infinite values") != std::string::npos)
      outcome.kind = Outcome::Kind::kRefused;
    outcome.why = what;
  } catch (const std::exception& error) {
    outcome.why = error.what();
  }
  return outcome;
}

// The inputs of the main graph without initializers: old models list their weights as inputs.
std::vector<std::string> input_names(const fs::path& path) {
  const onnx::Model model = onnx::read_model(path);
  const onnx::Graph& graph = *model.proto->graph;
  std::set<onnx::Bytes> initialized;
  for (const auto& tensor : graph.initializers) initialized.insert(tensor->name);
  std::vector<std::string> names;
  for (const auto& input : graph.inputs) {
    if (!initialized.contains(input->name)) names.emplace_back(input->name);
  }
  return names;
}

bool is_sound(const fs::path& path) {
  const onnx::Model model = onnx::read_model(path);
  try {
    graph::validate(model);
    return true;
  } catch (const Error&) {
    return false;
  }
}

// Makes the model and data of one form; false if the model does not have this form.
bool prepare(const Case& a_case, const fs::path& model, std::vector<runtime::NamedTensor>& data) {
  const auto inputs = test_inputs(a_case.model);
  const std::vector<std::string> names = input_names(a_case.model);
  if (a_case.form == Form::kPlain) {
    write_file(model, read_file(a_case.model));
  } else if (a_case.form == Form::kOpset13) {
    if (onnx::opset_version(onnx::read_model(a_case.model).proto->opset_imports, "") >= 7) return false;
    write_file(model, with_opset(read_file(a_case.model), 13));
    if (!is_sound(model)) return false;  // ops may differ in opset 13, such as the axes of Unsqueeze
  } else if (!inputs || inputs->size() < 2 || names.size() < inputs->size()) {
    return false;
  }
  if (!inputs) return true;  // without data the model is only loaded
  std::map<std::string, std::string> constants;
  for (std::size_t i = 0; i < std::min(inputs->size(), names.size()); ++i) {
    const bool is_constant = i == 0 ? a_case.form == Form::kHead : a_case.form == Form::kTail;
    if (is_constant) constants[names[i]] = (*inputs)[i].message;
    if (!is_constant) data.push_back({names[i], (*inputs)[i].tensor});
  }
  if (!constants.empty()) write_file(model, with_constant_inputs(read_file(a_case.model), constants));
  return true;
}

std::vector<std::string> try_case(const Case& a_case, const fs::path& folder) {
  std::vector<std::string> lines;
  const fs::path place = folder / std::to_string(::getpid());
  fs::create_directories(place);
  std::vector<runtime::NamedTensor> data;
  if (!prepare(a_case, place / "model.onnx", data)) return {};
  const std::vector<Variant> all = variants();
  const Original original(place / "model.onnx", std::move(data));
  for (std::size_t i = 0; i < all.size(); ++i) {
    Outcome outcome = try_variant(place / "model.onnx", place / "small.onnx", all[i], original);
    outcome.variant = i;
    lines.push_back(outcome.text());
  }
  return lines;
}

struct Options {
  std::size_t every = 1;
  std::string only;
};

int run(const Options& options) {
  std::vector<Case> cases;
  std::size_t models = 0;
  for (const fs::path& model : backend_models()) {
    if (models++ % options.every != 0 || name_of_model(model).find(options.only) == std::string::npos)
      continue;
    for (const Form form : {Form::kPlain, Form::kTail, Form::kHead, Form::kOpset13})
      cases.push_back({model, form});
  }
  const TemporaryFolder folder;
  const std::vector<GuardedResult> results =
      run_guarded(cases.size(), 2, 60, [&](std::size_t i) { return try_case(cases[i], folder.path()); });

  const std::vector<Variant> all = variants();
  struct Count {
    std::size_t forms = 0, refused = 0, written = 0, loaded = 0, ran = 0, failed = 0;
    std::vector<std::pair<double, std::string>> sqnr;
  };
  std::vector<Count> counts(all.size());
  std::size_t failures = 0;
  const auto fail = [&](const std::string& what) { ++failures, std::cout << "FAILED " << what << '\n'; };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (!results[i].crash.empty()) fail(fmt::format("{}: {}", cases[i].name(), results[i].crash));
    for (const std::string& line : results[i].lines) {
      using Kind = Outcome::Kind;
      const Outcome outcome = Outcome::parse(line);
      Count& count = counts[outcome.variant];
      ++count.forms;
      count.refused += outcome.kind == Kind::kRefused;
      count.written +=
          outcome.kind == Kind::kWritten || outcome.kind == Kind::kLoaded || outcome.kind == Kind::kRan;
      count.loaded += outcome.kind == Kind::kLoaded || outcome.kind == Kind::kRan;
      count.ran += outcome.kind == Kind::kRan;
      count.failed += outcome.kind == Kind::kFailed;
      if (outcome.kind == Kind::kRan) count.sqnr.emplace_back(outcome.sqnr_db, cases[i].name());
      if (outcome.kind == Kind::kFailed)
        fail(fmt::format("{} as {}: {}", cases[i].name(), all[outcome.variant].name, outcome.why));
    }
  }

  fmt::print("{:<14} {:>6} {:>8} {:>8} {:>7} {:>6} {:>7}  worst\n", "", "forms", "refused", "written",
             "loaded", "ran", "failed");
  for (std::size_t v = 0; v < all.size(); ++v) {
    Count& count = counts[v];
    std::sort(count.sqnr.begin(), count.sqnr.end());
    const std::string worst =
        count.sqnr.empty() ? "" : fmt::format("{:.1f} dB {}", count.sqnr[0].first, count.sqnr[0].second);
    fmt::print("{:<14} {:>6} {:>8} {:>8} {:>7} {:>6} {:>7}  {}\n", all[v].name, count.forms, count.refused,
               count.written, count.loaded, count.ran, count.failed, worst);
  }
  for (std::size_t v = 0; v < all.size(); ++v) {
    fmt::print("\n{}: the ten lowest (limit {} dB)\n", all[v].name, all[v].floor_db);
    for (std::size_t i = 0; i < std::min<std::size_t>(10, counts[v].sqnr.size()); ++i)
      fmt::print("  {:6.1f} dB  {}\n", counts[v].sqnr[i].first, counts[v].sqnr[i].second);
  }
  if (options.only.empty() && models < 1000) fail("libonnx-testdata is incomplete");
  for (std::size_t v = 0; options.only.empty() && v < all.size(); ++v) {
    if (counts[v].ran == 0) fail(fmt::format("{}: nothing was compared", all[v].name));
  }
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace ounce::test

int main(int argc, char** argv) {
  ounce::test::Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--every") == 0) options.every = std::stoul(argv[i + 1]);
    if (std::strcmp(argv[i], "--only") == 0) options.only = argv[i + 1];
  }
  return ounce::test::run(options);
}
