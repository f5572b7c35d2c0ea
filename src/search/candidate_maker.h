// Makes models out of recipes, for measuring. The ground that each format works on (a prepared model, the
// statistics of its activations) is made once, when it is first wanted.
#pragma once

#include <ounce/quantize.h>

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include "make/prepared_model.h"
#include "make/static_search.h"
#include "search/layers.h"

namespace ounce::search {

// A recipe in which nothing is open, and the ground it is for.
struct Mix {
  Recipe recipe;
  bool is_even = false;  // channels are evened out between layers
};

// A layer, and how a mix treats it.
struct TreatedLayer {
  Layer layer;
  Format format = Format::kFp32;
};

class Workshop {
 public:
  // `options` say what models are calibrated on and for which target. Throws what quantize() throws.
  Workshop(std::filesystem::path model, const QuantizeOptions& options);

  // Null when there is nothing to even out.
  std::shared_ptr<const make::Groundwork> ground(const Mix& mix);
  // What quantize() would settle on for this recipe, by measuring.
  Mix settle(const Recipe& recipe, const make::RefineLimits& limits, std::vector<std::string>& notes);
  std::vector<TreatedLayer> layers(const Mix& mix);
  // Puts the model in its place, with all the checks of quantize().
  QuantizeResult write(const Mix& mix, const std::filesystem::path& output);

  // Safe in several threads once the ground is there. Gives the bytes of the model.
  std::uint64_t make(const Mix& mix, const std::filesystem::path& file);

  const std::filesystem::path& model() const { return model_; }

 private:
  // As quantize() would take them on this machine.
  QuantizeOptions options_for(const Recipe& recipe) const;
  // … and as the target lets them be.
  Recipe fitted(const Mix& mix, const make::Groundwork& ground) const;

  std::filesystem::path model_;
  QuantizeOptions options_;
  std::mutex mutex_;
  // By format, by whether activations have 16 bits (which needs a newer opset), and whether it is even.
  std::map<std::tuple<Format, bool, bool>, std::shared_ptr<const make::Groundwork>> grounds_;
};

}  // namespace ounce::search
