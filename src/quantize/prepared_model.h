// The model that plans are made for, and what its values look like on data:
//
//   weight-only          the source as it is
//   integer arithmetic   the source in the form that integer kernels want, with ranges
//   16-bit floats        the source with its constants as initializers, with ranges where there is data
//
// Nothing of it changes once it is there. A copy with other ranges shares the model.
#pragma once

#include <ounce/quantize.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "calibration/ranges.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"
#include "io/temporary_files.h"
#include "quantize/static_model.h"

namespace ounce::quantization {

// What is looked at: the values that integer arithmetic may want ranges of, or all floats.
enum class Watching { kForIntegers, kAllFloats };

// Equalizing moves factors into weights that have a scale for each channel, and makes ranges in a file
// untrue, and what the user says of single values too. Where nothing is searched for, a recipe means what it
// says: ranges that were found with equalized channels.
bool may_equalize(const QuantizeOptions& options);

class PreparedModel : public StaticModel {
 public:
  // Without ranges. `source` is validated. Throws Error{kUsage} when there is neither data nor a file of
  // ranges for static arithmetic, Error{kUnsupported} when an op of the model cannot be brought to the opset
  // that is needed.
  PreparedModel(const onnx::Model& source, const QuantizeOptions& options);

  // The same with the ranges that the format asks for, of the data or of a file, which names `source`.
  std::shared_ptr<const PreparedModel> observed(const onnx::Model& source,
                                                const QuantizeOptions& options) const;

  // The same with its channels equalized (formats/onnx/prepare/equalize.h) and observed again; null when
  // there is nothing to equalize.
  std::shared_ptr<const PreparedModel> equalized(const QuantizeOptions& options) const;

  // The same with ranges of every second batch only (Observation::half), so that a candidate can be judged on
  // the other batches. Null when there is too little data for a split.
  std::shared_ptr<const PreparedModel> fit_split() const;
  bool has_half() const { return half_ != nullptr; }

  // Another model in the place of this one, with its notes and without ranges: for the next format.
  std::shared_ptr<const PreparedModel> replaced_by(const onnx::Model& changed) const;

  const onnx::Model& model() const { return opened_->model; }
  const graph::Index& index() const { return opened_->index; }
  bool is_original() const { return opened_->folder == nullptr; }  // nothing had to be prepared
  const std::filesystem::path& source() const { return source_; }  // of the model, for people and contracts
  const calibration::Ranges* ranges() const override { return ranges_.get(); }
  const std::vector<std::string>& notes() const { return notes_; }

  std::size_t equalized_pairs() const override { return equalized_pairs_; }

  // What a static search asks for (static_model.cpp).
  std::shared_ptr<const StaticModel> with_half_the_ranges() const override { return fit_split(); }
  std::shared_ptr<const StaticModel> with_equal_channels(const QuantizeOptions& options) const override {
    return equalized(options);
  }
  std::size_t node_count() const override;
  std::vector<IntegerNode> integer_nodes(const Recipe& recipe, ThreadPool& pool) const override;
  std::vector<plan::NamedDivision> float_choices(const Recipe& recipe,
                                                 const std::map<std::string, double>& noise) const override;
  std::uint64_t write_candidate(const Recipe& recipe, const std::filesystem::path& file,
                                ThreadPool& pool) const override;
  const char* candidate_name() const override { return "variant.onnx"; }

  // The model came with scales that training found, and keeps them: weights that were still floats are
  // quantized now, and these ops are kept in FP32.
  bool is_trained() const { return is_trained_; }
  std::size_t trained_weights() const { return trained_weights_; }
  // Trained scales that were changed for the target; and whether trained scales were kept that saturate on
  // some CPUs.
  const std::vector<ScaleChange>& scale_changes() const { return scale_changes_; }
  bool keeps_saturating() const { return keeps_saturating_; }
  const std::vector<NodeOutcome>& float_ops() const { return float_ops_; }

 private:
  struct Opened {
    Opened(onnx::Model opened, std::unique_ptr<TemporaryFolder> its_folder)
        : folder(std::move(its_folder)), model(std::move(opened)), index(model) {}

    std::unique_ptr<TemporaryFolder> folder;  // of the file, unless it is the source
    onnx::Model model;
    graph::Index index;
  };

  PreparedModel(std::filesystem::path source, bool keeps_inputs)
      : source_(std::move(source)), keeps_inputs_(keeps_inputs) {}
  void open(onnx::Model model, std::unique_ptr<TemporaryFolder> folder = nullptr);
  void keep(const onnx::Model& changed);
  bool take_trained(onnx::Model& model, const Recipe& recipe);
  void fit_trained_scales(onnx::Model& model, const Recipe& recipe);
  void note_saturation(const onnx::Model& model, const Recipe& recipe);
  void prepare_integers(const QuantizeOptions& options);
  void note_left_alone(const std::vector<std::string>& reasons);
  void prepare_blocks();
  void prepare_halves(const QuantizeOptions& options);
  void observe(const QuantizeOptions& options);

  std::filesystem::path source_;
  bool keeps_inputs_ = false;
  std::shared_ptr<const Opened> opened_;
  std::optional<Watching> watching_;  // nothing where no ranges are wanted
  std::shared_ptr<const calibration::Ranges> ranges_, half_;
  std::vector<std::string> notes_;
  std::size_t equalized_pairs_ = 0;
  bool is_trained_ = false;
  std::size_t trained_weights_ = 0;
  std::vector<ScaleChange> scale_changes_;
  bool keeps_saturating_ = false;
  std::vector<NodeOutcome> float_ops_;
};

// Reads, validates, prepares and observes. For models that are made to be measured.
std::shared_ptr<const PreparedModel> prepare_model(const std::filesystem::path& path,
                                                   const QuantizeOptions& options);

}  // namespace ounce::quantization
