#include "data/contract/preprocess.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "data/image/image.h"
#include "data/tensor.h"

namespace ounce::data {
namespace {

const std::map<std::string, Filter> kPillowFilters = {
    {"nearest", Filter::kNearest}, {"box", Filter::kBox},         {"bilinear", Filter::kBilinear},
    {"hamming", Filter::kHamming}, {"bicubic", Filter::kBicubic}, {"lanczos", Filter::kLanczos}};
const std::map<std::string, Interpolation> kOpenCvFilters = {{"nearest", Interpolation::kNearest},
                                                             {"bilinear", Interpolation::kLinear},
                                                             {"bicubic", Interpolation::kCubic},
                                                             {"area", Interpolation::kArea}};

bool resizes(const InputContract& contract) { return contract.height > 0 || contract.shortest_edge > 0; }

bool scales(const InputContract& contract) {
  return contract.rescale_factor || !contract.mean.empty() || !contract.deviation.empty();
}

Image to_image(Tensor raw, const std::string& where) {
  const bool has_channels = raw.dims.size() == 3 && (raw.dims[2] == 1 || raw.dims[2] == 3);
  if (raw.type != ElementType::kUint8 || (raw.dims.size() != 2 && !has_channels)) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("an image must be uint8[height,width,3] or uint8[height,width], not {}",
                            describe(raw.type, raw.dims)),
                where);
  }
  if (raw.dims[0] < 1 || raw.dims[1] < 1 || raw.dims[0] > (1 << 20) || raw.dims[1] > (1 << 20)) {
    throw Error(ErrorCode::kBadInput, fmt::format("is an image of {}×{} pixels", raw.dims[1], raw.dims[0]),
                where);
  }
  Image image;
  image.height = static_cast<int>(raw.dims[0]);
  image.width = static_cast<int>(raw.dims[1]);
  image.channels = has_channels ? static_cast<int>(raw.dims[2]) : 1;
  image.pixels.assign(raw.bytes.begin(), raw.bytes.end());
  return image;
}

Image resize(const Image& image, const InputContract& contract) {
  Size size{static_cast<int>(contract.width), static_cast<int>(contract.height)};
  if (contract.shortest_edge > 0)
    size = shortest_side_size(image.width, image.height, static_cast<int>(contract.shortest_edge));
  if (size == Size{image.width, image.height}) return image;
  if (contract.backend == ResizeBackend::kOpenCv)
    return resize_opencv(image, size.width, size.height, kOpenCvFilters.at(contract.resample));
  return resize_pillow(image, size.width, size.height, kPillowFilters.at(contract.resample));
}

double entry(const std::vector<double>& values, std::size_t channel, double otherwise) {
  if (values.empty()) return otherwise;
  return values[values.size() == 1 ? 0 : channel];
}

Tensor as_floats(Tensor values, const std::string& where) {
  std::vector<float> floats;
  to_floats(values, floats, where);
  values.type = ElementType::kFloat;
  values.bytes.assign(reinterpret_cast<const char*>(floats.data()), floats.size() * sizeof(float));
  return values;
}

void require(bool holds, const std::string& what, const std::string& input) {
  if (!holds) throw Error(ErrorCode::kUsage, what, fmt::format("contract of input '{}'", input));
}

}  // namespace

Preprocess::Preprocess(const InputContract& contract, std::string input)
    : contract_(contract), input_(std::move(input)) {
  const bool is_known = contract.backend == ResizeBackend::kOpenCv
                            ? kOpenCvFilters.contains(contract.resample)
                            : kPillowFilters.contains(contract.resample);
  require(is_known || !resizes(contract), fmt::format("unknown resample '{}'", contract.resample), input_);
  require((contract.height > 0) == (contract.width > 0), "size needs height and width", input_);
  require(contract.height == 0 || contract.shortest_edge == 0,
          "size must be height and width, or shortest_edge, not both", input_);
  require((contract.crop_height > 0) == (contract.crop_width > 0), "crop_size needs height and width",
          input_);
  require(contract.length == 0 || contract.frame_length == 0,
          "max_length and frame_length exclude each other", input_);
  require(contract.hop_length <= contract.frame_length, "hop_length must not exceed frame_length", input_);
  for (const double deviation : contract.deviation) require(deviation != 0, "std must not be 0", input_);
  const std::size_t channels = contract.kind != InputKind::kImage          ? 1
                               : contract.color_order == ColorOrder::kGrey ? 1
                                                                           : 3;
  for (const auto* values : {&contract.mean, &contract.deviation}) {
    require(values->size() <= 1 || values->size() == channels || contract.kind == InputKind::kTensor,
            fmt::format("mean and std must have one entry, or one for each of {} channels", channels),
            input_);
  }
  require(contract.mean.size() <= 1 || contract.deviation.size() <= 1 ||
              contract.mean.size() == contract.deviation.size(),
          "mean and std must have one entry, or the same number of entries", input_);
}

// Computes x · factor, then (x − mean) / deviation. The values are runs of `stride` values, one per channel,
// repeated.
Tensor Preprocess::scale(Tensor values, std::size_t channels, std::size_t stride,
                         const std::string& where) const {
  if (!scales(contract_)) return values;
  Tensor scaled = as_floats(std::move(values), where);
  const auto floats = values_of<float>(scaled);
  for (std::size_t i = 0; i < floats.size(); ++i) {
    const std::size_t channel = i / stride % channels;
    const double x = static_cast<double>(floats[i]) * contract_.rescale_factor.value_or(1);
    floats[i] =
        static_cast<float>((x - entry(contract_.mean, channel, 0)) / entry(contract_.deviation, channel, 1));
  }
  return scaled;
}

Tensor Preprocess::image(Tensor raw, const std::string& where, ElementType model_type) const {
  Image image = to_image(std::move(raw), where);
  if (contract_.color_order == ColorOrder::kGrey) image = in_grey(image);
  if (contract_.color_order != ColorOrder::kGrey && image.channels != 3)
    throw Error(
        ErrorCode::kBadInput,
        "the image is gray, but the contract is for color images; use `color_order=grey` if the model "
        "takes gray images",
        where);
  if (resizes(contract_)) image = resize(image, contract_);
  if (contract_.crop_height > 0) {
    image = center_crop(image, static_cast<int>(contract_.crop_width),
                        static_cast<int>(contract_.crop_height), contract_.crop_rule);
  }
  const auto channels = static_cast<std::size_t>(image.channels);
  const std::size_t pixels = image.pixels.size() / channels;
  const bool is_planar = contract_.layout == ImageLayout::kNchw;
  const bool swaps = contract_.color_order == ColorOrder::kBgr;
  const auto place = [&](std::size_t pixel, std::size_t channel) {
    return is_planar ? channel * pixels + pixel : pixel * channels + channel;
  };
  Tensor made;
  made.dims = is_planar ? Dims{image.channels, image.height, image.width}
                        : Dims{image.height, image.width, image.channels};
  const bool stays_integer = model_type == ElementType::kUint8 && !scales(contract_);
  made.type = stays_integer ? ElementType::kUint8 : ElementType::kFloat;
  made.bytes.resize(image.pixels.size() * (made.type == ElementType::kUint8 ? 1 : sizeof(float)));
  for (std::size_t channel = 0; channel < channels; ++channel) {
    const std::size_t from = swaps ? channels - 1 - channel : channel;
    if (made.type == ElementType::kUint8) {
      for (std::size_t i = 0; i < pixels; ++i)
        made.bytes[place(i, channel)] = static_cast<char>(image.pixels[i * channels + from]);
      continue;
    }
    // Compute each of the 256 pixel values once.
    std::array<float, 256> table{};
    for (std::size_t value = 0; value < table.size(); ++value) {
      const double x = static_cast<double>(value) * contract_.rescale_factor.value_or(1);
      table[value] = static_cast<float>((x - entry(contract_.mean, channel, 0)) /
                                        entry(contract_.deviation, channel, 1));
    }
    const auto out = values_of<float>(made);
    for (std::size_t i = 0; i < pixels; ++i)
      out[place(i, channel)] = table[image.pixels[i * channels + from]];
  }
  return made;
}

Tensor Preprocess::audio(Tensor raw, const Sample& sample, const std::string& where) const {
  if (contract_.sampling_rate > 0 && sample.sampling_rate > 0 &&
      sample.sampling_rate != static_cast<double>(contract_.sampling_rate)) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("has {} samples per second, but the contract requires {}; resample the data",
                            sample.sampling_rate, contract_.sampling_rate),
                where);
  }
  if (raw.dims.size() == 2 && raw.dims[0] == 1) raw.dims.erase(raw.dims.begin());
  if (raw.dims.size() != 1) {
    throw Error(
        ErrorCode::kBadInput,
        fmt::format("sound must have one channel, but this is {}; mix it down", describe(raw.type, raw.dims)),
        where);
  }
  Tensor scaled = scale(std::move(raw), 1, 1, where);
  if (contract_.length <= 0) return scaled;
  const std::string padding = bytes_of_value(contract_.padding_value, scaled.type, where);
  const std::size_t wanted = static_cast<std::size_t>(contract_.length) * padding.size();
  scaled.bytes.reserve(wanted);
  while (scaled.bytes.size() < wanted) scaled.bytes += padding;
  scaled.bytes.resize(wanted);
  scaled.dims[0] = contract_.length;
  return scaled;
}

Tensor Preprocess::array(Tensor raw, const std::string& where) const {
  const std::size_t channels = std::max(contract_.mean.size(), contract_.deviation.size());
  if (channels <= 1) return scale(std::move(raw), 1, 1, where);
  if (raw.dims.empty() || raw.dims[0] != static_cast<std::int64_t>(channels)) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("mean and std have {} entries, but the first axis of {} has another length",
                            channels, describe(raw.type, raw.dims)),
                where);
  }
  const std::uint64_t stride = element_count(raw.dims, where) / channels;
  return scale(std::move(raw), channels, std::max<std::size_t>(stride, 1), where);
}

Tensor Preprocess::apply(Tensor raw, const Sample& sample, ElementType model_type) const {
  const std::string where = fmt::format("{}: input '{}'", sample.name, input_);
  Tensor made = contract_.kind == InputKind::kImage   ? image(std::move(raw), where, model_type)
                : contract_.kind == InputKind::kAudio ? audio(std::move(raw), sample, where)
                                                      : array(std::move(raw), where);
  // A contract without a scale means that the numbers need no scaling.
  const bool becomes_float = is_float_weight_type(model_type) && !is_float_weight_type(made.type);
  return becomes_float ? as_floats(std::move(made), where) : made;
}

namespace {

constexpr std::uint64_t kEnoughSamples = 16;  // with fewer, a range or a mean is not reliable

// The means and standard deviations of three channels before the contract's normalization, which differs by
// channel.
struct Colors {
  std::array<double, 3> mean{}, deviation{};
};

Colors colors_of(const InputContract::Observed& observed, const InputContract& contract) {
  Colors colors;
  for (std::size_t i = 0; i < 3; ++i) {
    const double scale = contract.deviation.size() == 3 ? contract.deviation[i] : 1;
    colors.mean[i] = observed.mean[i] * scale + (contract.mean.size() == 3 ? contract.mean[i] : 0);
    colors.deviation[i] = std::fabs(observed.deviation[i] * scale);
  }
  return colors;
}

// The differences of the channels' means from their average, which do not depend on brightness.
std::array<double, 3> tint_of(const Colors& colors) {
  const double average = (colors.mean[0] + colors.mean[1] + colors.mean[2]) / 3;
  return {colors.mean[0] - average, colors.mean[1] - average, colors.mean[2] - average};
}

bool have_three_channels(const InputContract::Observed& recorded, const InputContract::Observed& seen) {
  const bool has_enough = recorded.samples >= kEnoughSamples && seen.samples >= kEnoughSamples;
  return has_enough && recorded.mean.size() == 3 && recorded.deviation.size() == 3 && seen.mean.size() == 3 &&
         seen.deviation.size() == 3;
}

// True if the means of the channels match much better in the opposite order.
bool is_reversed(const InputContract& contract, const InputContract::Observed& seen) {
  if (!have_three_channels(*contract.observed, seen)) return false;
  const Colors recorded = colors_of(*contract.observed, contract);
  const std::array<double, 3> wanted = tint_of(recorded), given = tint_of(colors_of(seen, contract));
  double straight = 0, backwards = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    straight += std::fabs(wanted[i] - given[i]);
    backwards += std::fabs(wanted[i] - given[2 - i]);
  }
  return std::fabs(wanted[0] - wanted[2]) > 0.1 * recorded.deviation[0] && backwards < straight / 4;
}

}  // namespace

void ObservedRange::add(std::span<const float> floats, const Dims& dims, const InputContract& contract) {
  if (floats.empty()) return;
  std::size_t channels = 1, stride = 1;
  const bool is_image = contract.kind == InputKind::kImage;
  // A tensor may be an image that the app has preprocessed.
  const bool is_prepared =
      contract.kind == InputKind::kTensor && dims.size() == 3 && (dims[0] == 3 || dims[2] == 3);
  if (dims.size() == 3 && (is_image || is_prepared)) {
    const bool is_planar = is_image ? contract.layout == ImageLayout::kNchw : dims[0] == 3;
    channels = static_cast<std::size_t>(is_planar ? dims[0] : dims[2]);
    stride = is_planar ? floats.size() / channels : 1;
  }
  sums_.resize(channels);
  squares_.resize(channels);
  const auto [low, high] = std::minmax_element(floats.begin(), floats.end());
  minimum_ = samples_ == 0 ? *low : std::min<double>(minimum_, *low);
  maximum_ = samples_ == 0 ? *high : std::max<double>(maximum_, *high);
  for (std::size_t start = 0, run = 0; start < floats.size(); start += stride, ++run) {
    double sum = 0, square = 0;
    for (std::size_t i = start; i < std::min(start + stride, floats.size()); ++i) {
      sum += floats[i];
      square += static_cast<double>(floats[i]) * floats[i];
    }
    sums_[run % channels] += sum;
    squares_[run % channels] += square;
  }
  count_ += static_cast<double>(floats.size()) / static_cast<double>(channels);
  ++samples_;
}

InputContract::Observed ObservedRange::result() const {
  InputContract::Observed observed;
  observed.samples = samples_;
  observed.minimum = minimum_;
  observed.maximum = maximum_;
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    const double mean = sums_[i] / count_;
    observed.mean.push_back(mean);
    observed.deviation.push_back(std::sqrt(std::max(0.0, squares_[i] / count_ - mean * mean)));
  }
  return observed;
}

std::optional<std::string> contradiction(const InputContract& contract, const InputContract::Observed& seen) {
  if (!contract.observed) return std::nullopt;
  const InputContract::Observed& recorded = *contract.observed;
  if (recorded.samples == 0 || seen.samples == 0) return std::nullopt;
  const double width = recorded.maximum - recorded.minimum;
  const bool is_beyond =
      seen.minimum < recorded.minimum - 0.5 * width || seen.maximum > recorded.maximum + 0.5 * width;
  const bool has_enough = seen.samples >= kEnoughSamples && recorded.samples >= kEnoughSamples;
  // Values around zero, such as sound, may be quiet or silent, but not smaller than one step of 16-bit
  // samples.
  const bool swings = recorded.minimum < 0 && recorded.maximum > 0 && seen.minimum <= 0 && seen.maximum >= 0;
  const bool is_silent = swings && seen.minimum == seen.maximum;
  const bool is_tiny =
      has_enough && !is_silent && seen.maximum - seen.minimum < width / (swings ? 16384 : 32);
  const bool lacks_a_sign = has_enough && !is_silent && recorded.minimum < -0.25 * width && seen.minimum >= 0;
  if (is_beyond || is_tiny || lacks_a_sign) {
    return fmt::format("its values range from {:.4g} to {:.4g}, but the contract recorded {:.4g} to {:.4g}",
                       seen.minimum, seen.maximum, recorded.minimum, recorded.maximum);
  }
  if (is_reversed(contract, seen)) {
    return fmt::format(
        "the means of its channels ({:.3g}) match the recorded ones ({:.3g}) in the opposite order: "
        "red and blue are swapped",
        fmt::join(seen.mean, ", "), fmt::join(recorded.mean, ", "));
  }
  return std::nullopt;
}

std::optional<std::string> doubt(const InputContract& contract, const InputContract::Observed& seen) {
  constexpr double kNarrower = 1.8, kShifted = 1.5;  // in recorded standard deviations
  if (!contract.observed || !have_three_channels(*contract.observed, seen)) return std::nullopt;
  const InputContract::Observed& recorded = *contract.observed;
  bool is_narrower = true, is_wider = true, is_shifted = true;
  for (std::size_t i = 0; i < 3; ++i) {
    is_narrower = is_narrower && seen.deviation[i] * kNarrower < recorded.deviation[i];
    is_wider = is_wider && seen.deviation[i] > recorded.deviation[i] * kNarrower;
    is_shifted = is_shifted && std::fabs(seen.mean[i] - recorded.mean[i]) > kShifted * recorded.deviation[i];
  }
  if (!is_narrower && !is_wider && !is_shifted) return std::nullopt;
  return fmt::format(
      "its channels have means of {:.3g} and standard deviations of {:.3g}, but the contract recorded means "
      "of "
      "{:.3g} and standard deviations of {:.3g}: the images were normalized in another way, or are of "
      "another "
      "kind",
      fmt::join(seen.mean, ", "), fmt::join(seen.deviation, ", "), fmt::join(recorded.mean, ", "),
      fmt::join(recorded.deviation, ", "));
}

}  // namespace ounce::data
