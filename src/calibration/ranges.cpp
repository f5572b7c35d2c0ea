#include "calibration/ranges.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/json_text.h"

namespace ounce::calibration {

using Json = nlohmann::ordered_json;
using SortedJson = nlohmann::json;  // sorted keys, because files may have very many values

constexpr std::size_t kMostBytes = std::size_t{256} << 20;

// Converts Statistics of one value to and from JSON.
struct StatisticsFile {
  static Json write(const Statistics& statistics) {
    Json json;
    json["samples"] = statistics.samples_;
    json["count"] = statistics.count_;
    if (statistics.not_finite_ != 0) json["not_finite"] = statistics.not_finite_;
    json["minimum"] = statistics.minimum_;
    json["maximum"] = statistics.maximum_;
    json["mean_minimum"] = statistics.mean_minimum();  // informative; the exact sums are read back
    json["mean_maximum"] = statistics.mean_maximum();
    json["sum_of_minima"] = statistics.minima_.text();
    json["sum_of_maxima"] = statistics.maxima_.text();
    json["histogram"] = Json::array();
    for (const auto& [bin, count] : statistics.histogram_.numbered_bins())
      json["histogram"].push_back(Json::array({bin, count}));
    if (statistics.has_lost_channels_) json["channels"] = nullptr;
    if (!statistics.channels_.empty()) {
      json["channels"] = Json::array();
      for (const Channel& channel : statistics.channels_)
        json["channels"].push_back(Json::array({channel.minimum, channel.maximum, channel.sum.text()}));
    }
    return json;
  }

  static Statistics read(const SortedJson& json, const std::string& where) {
    const auto refuse = [&](const char* what) { throw Error(ErrorCode::kBadInput, what, where); };
    const auto whole = [&](const char* key, std::uint64_t otherwise) {
      const auto found = json.find(key);
      if (found == json.end()) return otherwise;
      if (!found->is_number_unsigned()) refuse("a count is not a whole number");
      return found->get<std::uint64_t>();
    };
    const auto real = [&](const SortedJson& value) {
      const float number = value.is_number() ? value.get<float>() : std::numeric_limits<float>::infinity();
      if (!std::isfinite(number)) refuse("a limit is not an FP32 number");
      return number;
    };
    const auto sum = [&](const char* key) {
      const auto found = json.find(key);
      if (found == json.end() || !found->is_string()) refuse("a sum is missing");
      return ExactSum::parse(found->get<std::string>());
    };
    if (!json.is_object() || !json.contains("minimum") || !json.contains("maximum") ||
        !json.contains("histogram"))
      refuse("minimum, maximum or histogram is missing");
    Statistics statistics;
    statistics.samples_ = whole("samples", 0);
    statistics.count_ = whole("count", 0);
    statistics.not_finite_ = whole("not_finite", 0);
    statistics.minimum_ = real(json["minimum"]);
    statistics.maximum_ = real(json["maximum"]);
    statistics.minima_ = sum("sum_of_minima");
    statistics.maxima_ = sum("sum_of_maxima");
    for (const SortedJson& bin : json["histogram"]) {
      const bool is_pair =
          bin.is_array() && bin.size() == 2 && bin[0].is_number_unsigned() && bin[1].is_number_unsigned();
      if (!is_pair || bin[0].get<std::uint64_t>() > Histogram::kZeroBin) refuse("the histogram is invalid");
      statistics.histogram_.add(bin[0].get<std::size_t>(), bin[1].get<std::uint64_t>());
    }
    if (statistics.histogram_.count() != statistics.count_)
      refuse("the counts of the histogram do not add up");
    const auto channels = json.find("channels");
    statistics.has_lost_channels_ = channels != json.end() && channels->is_null();
    if (channels == json.end() || channels->is_null()) return statistics;
    for (const SortedJson& channel : *channels) {
      if (!channel.is_array() || channel.size() != 3 || !channel[2].is_string())
        refuse("a channel is not two limits and a sum");
      statistics.channels_.push_back(
          {real(channel[0]), real(channel[1]), FixedSum::parse(channel[2].get<std::string>())});
    }
    return statistics;
  }
};

Json to_json(const Coverage& coverage) {
  Json json;
  json["data"] = coverage.data();
  json["size"] = coverage.size();
  json["window"] = {coverage.begin(), coverage.end()};
  json["samples"] = Json::array();
  for (const SampleRun& run : coverage.runs())
    json["samples"].push_back(Json::array({run.first, run.step, run.count}));
  return json;
}

std::uint64_t number_of_samples(const SortedJson& json) {
  if (!json.is_number_unsigned())
    throw Error(ErrorCode::kBadInput, "has an invalid number of covered samples");
  return json.get<std::uint64_t>();
}

// Throws nlohmann::json::exception and Error{kBadInput}.
Coverage coverage_from(const SortedJson& json) {
  const SortedJson& window = json.at("window");
  Coverage coverage(json.at("data").get<std::string>(), number_of_samples(json.at("size")),
                    number_of_samples(window.at(0)), number_of_samples(window.at(1)));
  for (const SortedJson& run : json.at("samples"))
    coverage.add(
        SampleRun{number_of_samples(run.at(0)), number_of_samples(run.at(1)), number_of_samples(run.at(2))});
  return coverage;
}

std::vector<Coverage> covers_from(const SortedJson& json, const std::string& where) {
  std::vector<Coverage> covers;
  std::uint64_t samples = 0;
  try {
    for (const SortedJson& one : json) {
      covers.push_back(coverage_from(one));
      samples += covers.back().size();
      if (samples > Coverage::kMostSamples) throw Error(ErrorCode::kBadInput, "covers too many samples");
    }
  } catch (const SortedJson::exception&) {
    throw Error(ErrorCode::kBadInput, "has an invalid list of covered samples", where);
  } catch (const Error& error) {
    throw Error(error.code(), error.what(), where);
  }
  return covers;
}

void Ranges::add(const Ranges& other, const std::string& where) {
  if (values.empty() && samples == 0) model = other.model;
  if (model != other.model) {
    throw Error(
        ErrorCode::kBadInput,
        "belongs to another model than the parts before it; only parts of one calibration can be merged",
        where);
  }
  for (const Coverage& part : other.covers) {
    const auto same = std::find_if(covers.begin(), covers.end(),
                                   [&](const Coverage& known) { return known.is_of_same_data(part); });
    if (same == covers.end()) continue;
    const std::vector<SampleRun> twice = same->overlap(part);
    if (!twice.empty())
      throw Error(
          ErrorCode::kBadInput,
          fmt::format("covers {} of the same data as the parts before it ({} in total); each sample may "
                      "count only once",
                      text_of(twice), count_of(twice)),
          where);
  }
  for (const Coverage& part : other.covers) {
    const auto same = std::find_if(covers.begin(), covers.end(),
                                   [&](const Coverage& known) { return known.is_of_same_data(part); });
    if (same == covers.end()) {
      covers.push_back(part);
    } else {
      same->add(part);
    }
  }
  // The file must not depend on the order of the parts.
  std::sort(covers.begin(), covers.end(), [](const Coverage& a, const Coverage& b) {
    return std::pair(a.data(), a.size()) < std::pair(b.data(), b.size());
  });
  samples += other.samples;
  for (const auto& [name, statistics] : other.values) values[name].add(statistics);
}

std::string to_json(const Ranges& ranges) {
  Json json;
  json["format"] = "ounce.ranges";
  json["version"] = Ranges::kVersion;
  json["model"] = ranges.model;
  json["samples"] = ranges.samples;
  if (!ranges.covers.empty()) {
    json["covers"] = Json::array();
    for (const Coverage& coverage : ranges.covers) json["covers"].push_back(to_json(coverage));
  }
  // One value per line, so that files can be read and compared line by line.
  std::string text = json_text(json);
  text.pop_back();
  text += ",\n\"values\": {";
  const char* separator = "\n";
  for (const auto& [name, statistics] : ranges.values) {
    text += fmt::format("{}{}: {}", separator, json_text(Json(name)),
                        json_text(StatisticsFile::write(statistics)));
    separator = ",\n";
  }
  return text + "\n}}\n";
}

Ranges parse_ranges(std::string_view text, const std::string& where) {
  const auto refuse = [&](const std::string& what) { throw Error(ErrorCode::kBadInput, what, where); };
  const auto json = parse_json_or_nothing<SortedJson>(text, {.bytes = kMostBytes});
  if (!json.is_object() || !json.contains("format") || json["format"] != "ounce.ranges")
    refuse("is not a calibration file (`calibrate()` writes one)");
  const auto version = json.find("version");
  if (version == json.end() || !version->is_number_integer()) refuse("has no version");
  if (version->get<std::int64_t>() < Ranges::kVersion)
    refuse("was written by an older version of ounce; run `calibrate()` again");
  if (version->get<std::int64_t>() > Ranges::kVersion) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("has version {}, but this program supports {}; update ounce",
                            version->get<std::int64_t>(), Ranges::kVersion),
                where);
  }
  const auto model = json.find("model"), samples = json.find("samples"), values = json.find("values");
  if (model == json.end() || !model->is_string() || samples == json.end() || !samples->is_number_unsigned() ||
      values == json.end() || !values->is_object())
    refuse("is an invalid calibration file");
  Ranges ranges;
  ranges.model = model->get<std::string>();
  ranges.samples = samples->get<std::uint64_t>();
  if (const auto covers = json.find("covers"); covers != json.end()) {
    if (!covers->is_array()) refuse("has an invalid list of covered samples");
    ranges.covers = covers_from(*covers, where);
  }
  for (const auto& [name, value] : values->items())
    ranges.values.emplace(name, StatisticsFile::read(value, fmt::format("{}: value '{}'", where, name)));
  return ranges;
}

Coverage::Coverage(std::string data, std::uint64_t size, std::uint64_t begin, std::uint64_t end)
    : data_(std::move(data)), size_(size), begin_(begin), end_(end) {
  if (size > kMostSamples)
    throw Error(ErrorCode::kBadInput,
                fmt::format("covers data of {} samples; at most {} are supported", size, kMostSamples));
  if (begin > end || end > size)
    throw Error(ErrorCode::kBadInput, "covers samples that its data does not have");
}

void Coverage::add(const SampleRun& run) {
  if (run.count == 0) return;
  if (run.step == 0 || run.first >= size_ || run.count - 1 > (size_ - 1 - run.first) / run.step)
    throw Error(ErrorCode::kBadInput, "covers samples that its data does not have");
  const std::uint64_t last = run.first + (run.count - 1) * run.step;
  if (seen_.size() <= last) seen_.resize(last + 1);
  for (std::uint64_t i = 0; i < run.count; ++i) {
    if (seen_[run.first + i * run.step])
      throw Error(ErrorCode::kBadInput, fmt::format("covers sample {} twice", run.first + i * run.step + 1));
    seen_[run.first + i * run.step] = true;
  }
}

void Coverage::add(const Coverage& other) {
  begin_ = std::min(begin_, other.begin_);
  end_ = std::max(end_, other.end_);
  if (seen_.size() < other.seen_.size()) seen_.resize(other.seen_.size());
  for (std::size_t i = 0; i < other.seen_.size(); ++i) {
    if (other.seen_[i]) seen_[i] = true;
  }
}

// Samples at equal distances form one run.
template <class IsWanted>
std::vector<SampleRun> Coverage::runs_of(const IsWanted& is_wanted) const {
  std::vector<SampleRun> runs;
  std::uint64_t last = 0;
  for (std::uint64_t i = 0; i < std::max<std::uint64_t>(seen_.size(), end_); ++i) {
    if (!is_wanted(i)) continue;
    if (!runs.empty() && runs.back().count == 1) runs.back().step = i - last;
    if (!runs.empty() && i - last == runs.back().step) {
      ++runs.back().count;
    } else {
      runs.push_back({i, 1, 1});
    }
    last = i;
  }
  if (!runs.empty() && runs.back().count == 1) runs.back().step = 1;
  return runs;
}

std::vector<SampleRun> Coverage::runs() const {
  return runs_of([&](std::uint64_t i) { return has(i); });
}

std::vector<SampleRun> Coverage::overlap(const Coverage& other) const {
  if (!is_of_same_data(other)) return {};
  return runs_of([&](std::uint64_t i) { return has(i) && other.has(i); });
}

std::vector<SampleRun> Coverage::missing() const {
  return runs_of([&](std::uint64_t i) { return i >= begin_ && i < end_ && !has(i); });
}

std::uint64_t count_of(const std::vector<SampleRun>& runs) {
  std::uint64_t count = 0;
  for (const SampleRun& run : runs) count += run.count;
  return count;
}

std::string text_of(const std::vector<SampleRun>& runs) {
  constexpr std::uint64_t kShown = 3;
  const std::uint64_t count = count_of(runs);
  std::string text = count == 1 ? "sample" : "samples";
  std::uint64_t shown = 0;
  for (const SampleRun& run : runs) {
    for (std::uint64_t i = 0; i < run.count && shown < kShown; ++i, ++shown)
      text += fmt::format("{} {}", shown == 0 ? "" : ",", run.first + i * run.step + 1);
  }
  return text + (count > kShown ? " …" : "");
}

}  // namespace ounce::calibration
