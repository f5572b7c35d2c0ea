// What quantize() works on: for storage the model as it is; for integer arithmetic the model as integer
// kernels want it, and what its activations look like; for 16-bit floats the model with its constants
// spelled out, and what its values look like if there is data.
#pragma once

#include <ounce/quantize.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "calibration/ranges.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"
#include "io/temporary_files.h"
#include "quantize/observation.h"

namespace ounce::quantization {

// Evening out moves factors into weights that have a scale for each channel, makes ranges in a file untrue,
// and what the user says of single values too. Where nothing is searched for, a recipe means what it says:
// ranges that were found with channels evened out.
bool may_equalize(const QuantizeOptions& options);

class PreparedModel {
 public:
  // Throws Error{kUsage} when there is neither data nor a file of ranges for static arithmetic,
  // Error{kUnsupported} when an op of the model cannot be brought to the opset that is needed.
  PreparedModel(const std::filesystem::path& model, const QuantizeOptions& options);

  // The same with its channels equalized (formats/onnx/prepare/equalize.h), and looked at again; null when
  // there is nothing to equalize.
  std::shared_ptr<const PreparedModel> equalized(const QuantizeOptions& options) const;

  // The same, known from every second batch of the data alone (Observation::half): what it becomes can be
  // judged on the others. Null when there is too little data for that.
  std::shared_ptr<const PreparedModel> seen_by_half() const;
  bool has_half() const { return half_ != nullptr; }

  // The same with its integer ops in place and everything else as it was; says in `result` what they are.
  std::shared_ptr<const PreparedModel> with_integers(const Recipe& recipe, ThreadPool& pool,
                                                     QuantizeResult& result) const;

  // As it was read when it was prepared; to change it, read() it again.
  const onnx::Model& model() const { return model_; }
  const graph::Index& index() const { return *index_; }
  onnx::Model read() const;
  bool is_original() const { return folder_ == nullptr; }          // nothing had to be prepared
  const std::filesystem::path& source() const { return source_; }  // of the model, for people and contracts
  const calibration::Ranges* ranges() const { return ranges_.get(); }
  const std::vector<std::string>& notes() const { return notes_; }

  std::size_t equalized_places() const { return equalized_places_; }  // where channels were

  // The model came with scales that training found, and keeps them: weights that were still floats are codes
  // now, and these ops stay in floats.
  bool is_trained() const { return is_trained_; }
  std::size_t trained_weights() const { return trained_weights_; }
  // Trained scales that were changed for the target; and whether trained scales were kept that saturate on
  // some CPUs.
  const std::vector<ScaleChange>& scale_changes() const { return scale_changes_; }
  bool keeps_saturating() const { return keeps_saturating_; }
  const std::vector<NodeOutcome>& float_ops() const { return float_ops_; }

 private:
  PreparedModel(std::filesystem::path source, bool keeps_inputs)
      : source_(std::move(source)), file_(source_), keeps_inputs_(keeps_inputs) {}
  void open();
  void keep(const onnx::Model& changed);
  bool take_trained(onnx::Model& model, const Recipe& recipe);
  void fit_trained_scales(onnx::Model& model, const Recipe& recipe);
  void note_saturation(const onnx::Model& model, const Recipe& recipe);
  void prepare_blocks();
  void prepare_halves(onnx::Model& model, const QuantizeOptions& options);
  void find_ranges(const QuantizeOptions& options, Watching watching);
  void load_ranges_of(const QuantizeOptions& options);

  std::filesystem::path source_, file_;
  bool keeps_inputs_ = false;
  std::shared_ptr<TemporaryFolder> folder_;  // of the file, unless it is the source
  onnx::Model model_;
  std::optional<graph::Index> index_;
  std::shared_ptr<const calibration::Ranges> ranges_, half_;
  std::vector<std::string> notes_;
  std::size_t equalized_places_ = 0;
  bool is_trained_ = false;
  std::size_t trained_weights_ = 0;
  std::vector<ScaleChange> scale_changes_;
  bool keeps_saturating_ = false;
  std::vector<NodeOutcome> float_ops_;
};

}  // namespace ounce::quantization
