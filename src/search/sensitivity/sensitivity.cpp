#include <fmt/format.h>
#include <ounce/error.h>
#include <ounce/search.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/cancel.h"
#include "base/machine.h"
#include "data/source/open_source.h"
#include "evaluate/compare/worst_output.h"
#include "evaluate/metrics/metric_command.h"
#include "model/model_file.h"
#include "recipe/format_info.h"
#include "search/sensitivity/findings.h"
#include "search/sensitivity/meter.h"

namespace ounce::search {
namespace {

using Floats = std::set<std::size_t>;  // layers kept in FP32

constexpr double kAsGood = 1.12;  // ratio of noise powers that counts as equal: 0.5 dB

double decibels(double noise) {
  return noise > 0 ? -10 * std::log10(noise) : std::numeric_limits<double>::infinity();
}

class Sensitivity {
 public:
  Sensitivity(const std::filesystem::path& model, const SensitivityOptions& options)
      : options_(options), meter_(model, options) {
    result_.model = model;
    result_.format = options.format;
    result_.min_sqnr = options.min_sqnr;
  }

  SensitivityResult run() {
    const Stopwatch time;
    estimate();
    measure_groups();
    rank();
    choose_exclude();
    result_.findings = find_findings(result_);
    result_.notes = meter_.survey().notes;
    result_.notes.insert(result_.notes.end(), meter_.notes().begin(), meter_.notes().end());
    result_.measured = meter_.measured();
    result_.recalled = meter_.recalled();
    result_.seconds = time.seconds();
    return std::move(result_);
  }

 private:
  struct Entry {
    Group group;
    GroupSensitivity row;
    double estimated = 0;
    GroupNoise noise;
  };

  const std::vector<Layer>& layers() { return meter_.survey().layers; }

  void estimate() {
    const Survey& survey = meter_.survey();
    for (Group& group : group_layers(survey.layers, options_.grouping)) {
      Entry& entry = entries_.emplace_back();
      GroupSensitivity& row = entry.row;
      row.name = group.name;
      row.place = entries_.size() - 1;
      row.op_type = survey.layers[group.layers.front()].op_type;
      for (const std::size_t i : group.layers) {
        const Layer& layer = survey.layers[i];
        row.layers.push_back(layer.name);
        row.weight_bytes += 4 * layer.values;
        row.is_first |= layer.is_first;
        row.is_last |= layer.is_last;
        row.is_attention |= layer.is_attention;
        entry.estimated += survey.noise[i];
      }
      row.estimated_db = decibels(entry.estimated);
      entry.noise.bytes = row.weight_bytes;
      entry.group = std::move(group);
    }
    std::stable_sort(entries_.begin(), entries_.end(),
                     [](const Entry& a, const Entry& b) { return a.estimated > b.estimated; });
  }

  Floats floats_of(const std::set<std::size_t>& entries) const {
    Floats floats;
    for (const std::size_t i : entries)
      floats.insert(entries_[i].group.layers.begin(), entries_[i].group.layers.end());
    return floats;
  }
  Floats all_but(const Floats& floats) {
    Floats others;
    for (std::size_t i = 0; i < layers().size(); ++i) {
      if (!floats.contains(i)) others.insert(i);
    }
    return others;
  }

  // Measures the model with all layers quantized, with none (only tensors too small to be layers), and then
  // for each group with only this group and with all others. Groups with the largest estimated error come
  // first.
  void measure_groups() {
    const std::size_t wanted =
        options_.measure == 0 ? entries_.size() : std::min<std::size_t>(options_.measure, entries_.size());
    std::vector<Floats> variants = {{}, all_but({})};
    for (std::size_t i = 0; i < wanted; ++i) {
      const Floats own = floats_of({i});
      variants.push_back(all_but(own));
      variants.push_back(own);
    }
    if (options_.progress != nullptr) {
      options_.progress->done = 0;
      options_.progress->total = variants.size();
    }
    const std::vector<Measured> measured = meter_.measure(variants);
    all_ = measured[0];
    for (std::size_t i = 0; i < wanted; ++i)
      take(entries_[i], measured[2 * i + 2], measured[2 * i + 3], measured[1].noise);
    result_.all_db = decibels(all_.noise);
    result_.all_drop = all_.drop;
    result_.metric = all_.metric;
    result_.metric_reference = all_.reference;
    result_.samples = all_.samples;
    result_.runtime_version = all_.runtime_version;
  }

  // `floor` is the noise of all variants, from tensors too small to be layers.
  static void take(Entry& entry, const Measured& alone, const Measured& without, double floor) {
    entry.row.is_measured = true;
    entry.noise.alone = std::isfinite(alone.noise) ? std::max(alone.noise - floor, 0.0) : alone.noise;
    entry.noise.without = without.noise;
    entry.row.alone_db = decibels(alone.noise);
    entry.row.without_db = decibels(without.noise);
    entry.row.alone_drop = alone.drop;
    entry.row.without_drop = without.drop;
  }

  void rank() {
    std::stable_sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
      if (a.row.is_measured != b.row.is_measured) return a.row.is_measured;
      return a.row.is_measured && *a.noise.alone > *b.noise.alone;
    });
    double sum = 0;
    for (const Entry& entry : entries_) sum += noise_of(entry);
    for (Entry& entry : entries_) {
      entry.row.share = sum > 0 ? noise_of(entry) / sum : 0;
      result_.groups.push_back(entry.row);
    }
  }
  // Bounds infinite noise, so that shares are finite.
  static double noise_of(const Entry& entry) { return std::min(entry.noise.alone.value_or(0), 1e6); }

  // Storage formats for the weights of excluded layers, the smallest first. None if a weight is sliced or
  // concatenated before its use: such weights can only be kept in FP32, by name.
  std::vector<Format> storages() {
    const bool is_moved =
        std::any_of(layers().begin(), layers().end(), [](const Layer& layer) { return layer.is_moved; });
    if (is_storage(options_.format) && is_moved) return {};
    if (options_.format == weight_only(8)) return {weight_only(16)};
    return {weight_only(8), weight_only(16)};
  }

  double noise_without(const std::set<std::size_t>& entries, Format stored) {
    if (options_.progress != nullptr) ++options_.progress->total;
    return meter_.measure({floats_of(entries)}, stored).front().noise;
  }

  void choose_exclude() {
    std::vector<GroupNoise> noises;
    for (const Entry& entry : entries_) noises.push_back(entry.noise);
    const double limit = std::pow(10, -options_.min_sqnr / 10);
    Exclusion chosen = choose_exclusion(noises, all_.noise, limit, [&](const std::set<std::size_t>& entries) {
      return noise_without(entries, kUnchanged);
    });
    const Floats floats = floats_of(chosen.groups);
    for (const std::size_t i : floats) {
      for (const std::string& expression : layers()[i].expressions) {
        if (std::find(result_.exclude.begin(), result_.exclude.end(), expression) == result_.exclude.end())
          result_.exclude.push_back(expression);
      }
    }
    if (!floats.empty()) store_small(floats, chosen, chosen.is_enough ? limit : kAsGood * chosen.noise);
    result_.exclude_db = decibels(chosen.noise);
    result_.is_enough = chosen.is_enough;
  }

  // Compresses the weights of excluded layers if the outputs remain good enough.
  void store_small(const Floats& floats, Exclusion& chosen, double most) {
    for (const Format stored : storages()) {
      const double noise = noise_without(chosen.groups, stored);
      if (!(noise <= most)) continue;
      for (const std::size_t i : floats) result_.nodes[layers()[i].output] = stored;
      chosen.noise = noise;
      return;
    }
  }

  const SensitivityOptions& options_;
  SensitivityMeter meter_;
  std::vector<Entry> entries_;
  Measured all_;
  SensitivityResult result_;
};

}  // namespace

}  // namespace ounce::search

namespace ounce {
namespace {

void require_sense(const SensitivityOptions& options) {
  if (!has_layer_errors(options.format))
    throw Error(ErrorCode::kUsage, "sensitivity supports the formats int8, int8-dynamic, w8 and w4");
  if (info_of(options.format).needs_data && options.data.is_generated())
    throw Error(ErrorCode::kUsage, "`format=int8` needs calibration data: give `data`");
}

}  // namespace

SensitivityResult sensitivity(const std::filesystem::path& model, const SensitivityOptions& options) {
  const CancellationScope scope(options.progress);
  model::require_support(model, "sensitivity");
  require_sense(options);
  data::require_files(options.data);
  evaluate::require_program(options.metric_command);
  evaluate::require_outputs(options.outputs, model);
  return search::Sensitivity(model, options).run();
}

}  // namespace ounce
