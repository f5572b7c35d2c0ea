// The model that plans are made for, with the ranges of its values on data:
//
//   weight-only    the unchanged source
//   INT8           the source rewritten for INT8 kernels, with ranges
//   FP16, BF16     the source with its constants as initializers, with ranges if there is data
//
// Immutable. A copy with other ranges shares the model.
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

// The values to observe: those that INT8 ops may need ranges of, or all floating-point values.
enum class Watching { kForIntegers, kAllFloats };

// True if channels may be equalized. Equalization needs per-channel scales and invalidates ranges from a file
// and ranges that the user gave for single values. Without a search, such values in a recipe refer to
// equalized channels.
bool may_equalize(const QuantizeOptions& options);

class PreparedModel : public StaticModel {
 public:
  // Prepares a validated model, without ranges. Throws Error{kUsage} if static INT8 has neither data nor a
  // calibration file, Error{kUnsupported} if an op cannot be converted to the required opset.
  PreparedModel(const onnx::Model& source, const QuantizeOptions& options);

  // Returns the same model with the ranges that the format needs, from data or from a calibration file of
  // `source`.
  std::shared_ptr<const PreparedModel> observed(const onnx::Model& source,
                                                const QuantizeOptions& options) const;

  // Returns the model after cross-layer equalization (formats/onnx/prepare/equalize.h) and another
  // calibration; null if there is nothing to equalize.
  std::shared_ptr<const PreparedModel> equalized(const QuantizeOptions& options) const;

  // Returns the same model with ranges of every second batch only (Observation::half), so that candidates can
  // be tested on the other batches. Null if there is too little data for a split.
  std::shared_ptr<const PreparedModel> fit_split() const;
  bool has_half() const { return half_ != nullptr; }

  // Returns `changed` as a prepared model with these notes and without ranges, for a second format.
  std::shared_ptr<const PreparedModel> replaced_by(const onnx::Model& changed) const;

  const onnx::Model& model() const { return opened_->model; }
  const graph::Index& index() const { return opened_->index; }
  bool is_original() const { return opened_->folder == nullptr; }  // preparation changed nothing
  const std::filesystem::path& source() const { return source_; }  // the user's file
  const calibration::Ranges* ranges() const override { return ranges_.get(); }
  const std::vector<std::string>& notes() const { return notes_; }

  std::size_t equalized_pairs() const override { return equalized_pairs_; }

  // The interface of a static search (static_model.cpp).
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

  // True if the model has scales from quantization-aware training, which are kept. Its FP32 weights are
  // quantized with these scales.
  bool is_trained() const { return is_trained_; }
  std::size_t trained_weights() const { return trained_weights_; }
  // Trained scales that were changed for the target, and whether trained scales were kept that saturate on
  // some CPUs.
  const std::vector<ScaleChange>& scale_changes() const { return scale_changes_; }
  bool keeps_saturating() const { return keeps_saturating_; }
  const std::vector<NodeOutcome>& float_ops() const { return float_ops_; }

 private:
  struct Opened {
    Opened(onnx::Model opened, std::unique_ptr<TemporaryFolder> its_folder)
        : folder(std::move(its_folder)), model(std::move(opened)), index(model) {}

    std::unique_ptr<TemporaryFolder> folder;  // of the file; null for the source itself
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
  std::optional<Watching> watching_;  // empty if no ranges are needed
  std::shared_ptr<const calibration::Ranges> ranges_, half_;
  std::vector<std::string> notes_;
  std::size_t equalized_pairs_ = 0;
  bool is_trained_ = false;
  std::size_t trained_weights_ = 0;
  std::vector<ScaleChange> scale_changes_;
  bool keeps_saturating_ = false;
  std::vector<NodeOutcome> float_ops_;
};

// Reads, validates, prepares and calibrates a model for candidates.
std::shared_ptr<const PreparedModel> prepare_model(const std::filesystem::path& path,
                                                   const QuantizeOptions& options);

}  // namespace ounce::quantization
