// A language model that reads a text piece by piece: positions, mask and the kept past are filled in.
//
//   TokenDecoder decoder(std::move(executor), {});
//   decoder.begin();
//   decoder.feed(prompt);                            // scores of the token behind it
//   for (…) decoder.feed(std::span(&next, 1));
//
// input                         gets
//   input_ids                   the ids
//   … mask …                    ones for the past and the ids
//   … position …                their places in the text
//   use_cache_branch            whether there is a past
//   past…, or any of `carry`    its output of the last run; empty at first
//
// A model that keeps no past gets the whole text so far.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/tensor.h"
#include "runtime/executor.h"

namespace ounce::evaluate {

class TokenDecoder {
 public:
  // `carry`: as in DataOptions; empty: by names. `constants` are inputs that never change. Throws
  // Error{kUsage} for a model with inputs that are none of the above, or that gives no scores.
  TokenDecoder(std::unique_ptr<runtime::Executor> model, const std::map<std::string, std::string>& carry,
               const std::map<std::string, double>& constants);

  const data::ValueDescription& ids() const { return model_->inputs()[ids_]; }
  bool is_cached() const { return !kept_.empty(); }
  const runtime::Executor& model() const { return *model_; }

  void begin();  // a new text
  // Scores of all tokens for the place behind the last of these ids; valid until the next call.
  std::span<const float> feed(std::span<const std::int64_t> ids);
  double seconds() const { return seconds_; }  // inside the runtime, the last time

 private:
  enum class Role { kIds, kMask, kPositions, kHasPast, kKept, kConstant };
  struct Kept {
    std::size_t input, output;
    data::Tensor state;
  };

  void pair_kept(const std::map<std::string, std::string>& carry);
  Role role_of(std::size_t input, const std::map<std::string, double>& constants);
  void find_scores();
  data::Tensor tensor_for(std::size_t input, std::span<const std::int64_t> ids) const;

  std::unique_ptr<runtime::Executor> model_;
  std::size_t ids_ = 0, scores_ = 0;
  std::vector<Role> roles_;
  std::map<std::size_t, double> constants_;
  std::vector<Kept> kept_;
  std::vector<std::int64_t> text_;  // so far
  std::uint64_t past_ = 0;          // ids that the model keeps
  std::vector<float> converted_;
  double seconds_ = 0;
};

}  // namespace ounce::evaluate
