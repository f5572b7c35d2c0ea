// Runs a language model token by token, and fills in its positions, mask and key/value cache.
//
//   TokenDecoder decoder(std::move(executor), {});
//   decoder.begin();
//   decoder.feed(prompt);                            // returns the scores of the next token
//   decoder.feed(std::span(&next, 1));               // appends one token
//
// Input                         Value
//   input_ids                   the token ids
//   *mask*                      ones for the past tokens and the new ones
//   *position*                  positions of the new tokens in the text
//   use_cache_branch            true if there are past tokens
//   past*, or any of `carry`    the matching output of the last run; empty at first
//
// A model without a cache gets the whole text in every run.
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
  // `carry`: as in DataOptions; empty: states are matched by name. `constants`: inputs with fixed values.
  // Throws Error{kUsage} if the model has other inputs, or no output of scores.
  TokenDecoder(std::unique_ptr<runtime::Executor> model, const std::map<std::string, std::string>& carry,
               const std::map<std::string, double>& constants);

  const data::ValueDescription& ids() const { return model_->inputs()[ids_]; }
  bool is_cached() const { return !kept_.empty(); }
  const runtime::Executor& model() const { return *model_; }

  void begin();  // starts a new text
  // Appends ids to the text. Returns the scores of all tokens as the next one; valid until the next call.
  std::span<const float> feed(std::span<const std::int64_t> ids);
  double seconds() const { return seconds_; }  // time of the last run inside the runtime

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
  std::uint64_t past_ = 0;          // tokens in the model's cache
  std::vector<float> converted_;
  double seconds_ = 0;
};

}  // namespace ounce::evaluate
