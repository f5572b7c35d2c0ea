#include "app/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "app/load_checks.h"
#include "data/contract/preprocess.h"
#include "data/image/image.h"
#include "data/tensor.h"

namespace ounce::app {
namespace {

// The contract of one input.
struct Ruled {
  const InputContract* contract;
  const data::ValueDescription* input;
  std::size_t index;
};

constexpr const char* word_of(InputKind kind) {
  return kind == InputKind::kImage ? "an image" : kind == InputKind::kAudio ? "sound" : "a tensor";
}

Ruled find_ruled(const std::optional<Contract>& contract, const std::vector<data::ValueDescription>& inputs,
                 std::string_view name, InputKind kind, const std::string& model) {
  if (!contract)
    throw Failure(Status::kNoContract, "the model has no contract; add one with 'ounce contract set'", model);
  // An empty name means the only input of this kind.
  const Ruled* found = nullptr;
  Ruled kept{};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto rule = contract->inputs.find(inputs[i].name);
    if (rule == contract->inputs.end()) continue;
    if (name.empty() ? rule->second.kind != kind : inputs[i].name != name) continue;
    if (found != nullptr)
      throw Failure(Status::kUsage,
                    fmt::format("the model has several inputs that take {}: name one", word_of(kind)), model);
    kept = {&rule->second, &inputs[i], i};
    found = &kept;
  }
  if (found == nullptr)
    throw Failure(Status::kNoContract,
                  fmt::format("the model's contract has no input that takes {}", word_of(kind)), model);
  if (kept.contract->kind != kind)
    throw Failure(Status::kUsage,
                  fmt::format("the input '{}' takes {}, not {}", kept.input->name,
                              word_of(kept.contract->kind), word_of(kind)),
                  model);
  return kept;
}

data::Tensor mixed(const Sound& sound, const std::string& model) {
  if (sound.samples.empty() == sound.floats.empty())
    throw Failure(Status::kUsage, "sound needs either 16-bit samples or floats, not both or none", model);
  if (sound.channels < 1) throw Failure(Status::kUsage, "the number of channels must be at least 1", model);
  const auto channels = static_cast<std::size_t>(sound.channels);
  const auto made = [&]<class T>(ElementType type, std::span<const T> values) {
    if (values.size() % channels != 0)
      throw Failure(Status::kUsage,
                    fmt::format("{} samples cannot be divided into {} channels", values.size(), channels),
                    model);
    const std::size_t count = values.size() / channels;
    data::Tensor tensor{type, {static_cast<std::int64_t>(count)}, std::string(count * sizeof(T), '\0')};
    const auto out = data::values_of<T>(tensor);
    for (std::size_t i = 0; i < count; ++i) {
      double sum = 0;
      for (std::size_t channel = 0; channel < channels; ++channel) sum += values[i * channels + channel];
      const double mean = sum / static_cast<double>(channels);
      out[i] = static_cast<T>(std::is_integral_v<T> ? std::floor(mean + 0.5) : mean);
    }
    return tensor;
  };
  return sound.floats.empty() ? made(ElementType::kInt16, sound.samples)
                              : made(ElementType::kFloat, sound.floats);
}

}  // namespace

// Preprocesses a sample and writes it to a row of a call's input, in the same way as data::DataFeed.
struct InputFiller {
  static void fill(Call::Impl& call, const Ruled& ruled, data::Tensor raw, double rate, std::int64_t row) {
    const std::string& model = call.model->session->model();
    data::Sample sample;
    sample.name = model;
    sample.sampling_rate = rate;
    const data::Tensor made = as_failures(Status::kUsage, [&] {
      data::Tensor tensor = data::Preprocess(*ruled.contract, ruled.input->name)
                                .apply(std::move(raw), sample, ruled.input->element);
      tensor = data::convert(std::move(tensor), ruled.input->element, ruled.input->name);
      tensor.dims = data::fit(tensor.dims, *ruled.input, false, model);
      return tensor;
    });
    const data::TensorView& place = call.inputs[ruled.index];
    const bool has_rows = made.dims.size() == place.dims.size() && !made.dims.empty();
    const std::int64_t rows = has_rows ? place.dims[0] : 1;
    const bool fits = has_rows ? std::equal(made.dims.begin() + 1, made.dims.end(), place.dims.begin() + 1)
                               : made.dims == place.dims;
    if (!fits || made.bytes.size() * static_cast<std::size_t>(rows) != place.bytes.size()) {
      throw Failure(Status::kUsage,
                    fmt::format("the contract produces {}, but the call has {} for the input '{}'",
                                data::describe(made.type, made.dims), data::describe(place.type, place.dims),
                                ruled.input->name),
                    model);
    }
    if (row < 0 || row >= rows)
      throw Failure(Status::kUsage, fmt::format("row {} is out of range: the batch has {} rows", row, rows),
                    model);
    std::memcpy(const_cast<char*>(place.bytes.data()) + static_cast<std::size_t>(row) * made.bytes.size(),
                made.bytes.data(), made.bytes.size());
  }

  static Ruled ruled_of(const Session::Impl& model, std::string_view input, InputKind kind) {
    return find_ruled(model.contract, model.session->inputs(), input, kind, model.session->model());
  }

  static const Session::Impl& model_of(const Session& session) { return *session.impl_; }
  static Call::Impl& impl_of(Call& call) { return *call.impl_; }
};

void Call::set_image(const Pixels& pixels, std::string_view input, std::int64_t row) {
  const Ruled ruled = InputFiller::ruled_of(*impl_->model, input, InputKind::kImage);
  InputFiller::fill(*impl_, ruled, upright(pixels), 0, row);
}

void Call::set_sound(const Sound& sound, std::string_view input, std::int64_t row) {
  const Ruled ruled = InputFiller::ruled_of(*impl_->model, input, InputKind::kAudio);
  InputFiller::fill(*impl_, ruled, mixed(sound, impl_->model->session->model()), sound.rate, row);
}

struct SoundStream::Impl {
  std::string input;
  std::size_t length = 0, hop = 0;
  ElementType type = ElementType::kUndefined;
  std::string waiting;  // bytes of samples that are not in a frame yet, after the overlap with the last frame

  std::size_t width() const { return type == ElementType::kFloat ? sizeof(float) : sizeof(std::int16_t); }

  void push(ElementType pushed, const void* samples, std::size_t bytes) {
    if (type == ElementType::kUndefined) {
      type = pushed;
      waiting.assign((length - hop) * width(), '\0');
    }
    if (type != pushed) throw Failure(Status::kUsage, "a sound stream cannot mix 16-bit samples and floats");
    waiting.append(static_cast<const char*>(samples), bytes);
  }
};

SoundStream::SoundStream(const Session& session, std::string input) : impl_(std::make_unique<Impl>()) {
  const auto& model = InputFiller::model_of(session);
  const Ruled ruled = InputFiller::ruled_of(model, input, InputKind::kAudio);
  if (ruled.contract->frame_length <= 0)
    throw Failure(Status::kUsage,
                  fmt::format("the contract of the input '{}' has no frame length", ruled.input->name),
                  model.session->model());
  impl_->input = ruled.input->name;
  impl_->length = static_cast<std::size_t>(ruled.contract->frame_length);
  impl_->hop =
      ruled.contract->hop_length > 0 ? static_cast<std::size_t>(ruled.contract->hop_length) : impl_->length;
}

SoundStream::~SoundStream() = default;
SoundStream::SoundStream(SoundStream&&) noexcept = default;
SoundStream& SoundStream::operator=(SoundStream&&) noexcept = default;

void SoundStream::push(std::span<const std::int16_t> samples) {
  impl_->push(ElementType::kInt16, samples.data(), samples.size_bytes());
}

void SoundStream::push(std::span<const float> samples) {
  impl_->push(ElementType::kFloat, samples.data(), samples.size_bytes());
}

bool SoundStream::next(Call& call) {
  const std::size_t width = impl_->width();
  if (impl_->type == ElementType::kUndefined || impl_->waiting.size() < impl_->length * width) return false;
  data::Tensor frame{impl_->type,
                     {static_cast<std::int64_t>(impl_->length)},
                     impl_->waiting.substr(0, impl_->length * width)};
  auto& filled = InputFiller::impl_of(call);
  InputFiller::fill(filled, InputFiller::ruled_of(*filled.model, impl_->input, InputKind::kAudio),
                    std::move(frame), 0, 0);
  impl_->waiting.erase(0, impl_->hop * width);
  return true;
}

void SoundStream::reset() {
  impl_->type = ElementType::kUndefined;
  impl_->waiting.clear();
}

namespace {

struct Rgb {
  std::uint8_t red, green, blue;
};

// Fixed-point numbers with 16 fractional bits, rounded to nearest, as in libjpeg.
constexpr int kPoint = 16;
constexpr int fixed(double value) { return static_cast<int>(value * (1 << kPoint) + 0.5); }
constexpr int kHalf = 1 << (kPoint - 1);

std::uint8_t clamped(int value) { return static_cast<std::uint8_t>(std::clamp(value, 0, 255)); }

Rgb from_full(int y, int blue, int red) {
  const int cb = blue - 128, cr = red - 128;
  return {clamped(y + ((fixed(1.402) * cr + kHalf) >> kPoint)),
          clamped(y + ((-fixed(0.34414) * cb - fixed(0.71414) * cr + kHalf) >> kPoint)),
          clamped(y + ((fixed(1.772) * cb + kHalf) >> kPoint))};
}

Rgb from_limited(int y, int blue, int red) {
  const int base = fixed(255.0 / 219) * (y - 16), cb = blue - 128, cr = red - 128;
  return {clamped((base + fixed(1.596027) * cr + kHalf) >> kPoint),
          clamped((base - fixed(0.391762) * cb - fixed(0.812968) * cr + kHalf) >> kPoint),
          clamped((base + fixed(2.017232) * cb + kHalf) >> kPoint)};
}

int bytes_a_pixel(PixelFormat format) {
  switch (format) {
    case PixelFormat::kRgba:
    case PixelFormat::kBgra: return 4;
    case PixelFormat::kRgb:
    case PixelFormat::kBgr: return 3;
    default: return 1;  // gray, and the Y plane of NV12 and NV21
  }
}

bool is_yuv(PixelFormat format) { return format == PixelFormat::kNv12 || format == PixelFormat::kNv21; }

// Reads single pixels as RGB.
class Reader {
 public:
  explicit Reader(const Pixels& pixels)
      : pixels_(pixels), step_(static_cast<std::size_t>(bytes_a_pixel(pixels.format))) {
    const auto width = static_cast<std::size_t>(pixels.width);
    strides_ = {pixels.strides[0] != 0 ? pixels.strides[0] : width * step_,
                pixels.strides[1] != 0 ? pixels.strides[1] : (width + 1) / 2 * 2};
    if (strides_[0] < width * step_ || (is_yuv(pixels.format) && strides_[1] < (width + 1) / 2 * 2))
      throw Failure(Status::kUsage, fmt::format("the stride of {} bytes is too short for rows of {} pixels",
                                                pixels.strides[0], width));
  }

  Rgb at(int x, int y) const {
    const auto column = static_cast<std::size_t>(x), row = static_cast<std::size_t>(y);
    const std::uint8_t* const first = pixels_.planes[0] + row * strides_[0] + column * step_;
    switch (pixels_.format) {
      case PixelFormat::kRgba:
      case PixelFormat::kRgb: return {first[0], first[1], first[2]};
      case PixelFormat::kBgra:
      case PixelFormat::kBgr: return {first[2], first[1], first[0]};
      case PixelFormat::kGrey: return {first[0], first[0], first[0]};
      case PixelFormat::kNv12:
      case PixelFormat::kNv21: break;
    }
    const std::uint8_t* const pair = pixels_.planes[1] + row / 2 * strides_[1] + column / 2 * 2;
    const bool is_red_first = pixels_.format == PixelFormat::kNv21;
    const int blue = pair[is_red_first ? 1 : 0], red = pair[is_red_first ? 0 : 1];
    return pixels_.range == YuvRange::kFull ? from_full(first[0], blue, red)
                                            : from_limited(first[0], blue, red);
  }

 private:
  const Pixels& pixels_;
  std::size_t step_;
  std::array<std::size_t, 2> strides_{};
};

void require_pixels(const Pixels& pixels) {
  if (pixels.planes[0] == nullptr || (is_yuv(pixels.format) && pixels.planes[1] == nullptr))
    throw Failure(Status::kUsage, "the image has no pixel data");
  if (pixels.rotation % 90 != 0 || pixels.rotation < 0 || pixels.rotation > 270)
    throw Failure(Status::kUsage,
                  fmt::format("the rotation must be 0, 90, 180 or 270 degrees, not {}", pixels.rotation));
  as_failures(Status::kUsage,
              [&] { data::check_image_size(data::side(pixels.width), data::side(pixels.height), "image"); });
}

}  // namespace

data::Tensor upright(const Pixels& pixels) {
  require_pixels(pixels);
  const Reader reader(pixels);
  const bool lies = pixels.rotation == 90 || pixels.rotation == 270;
  const int width = lies ? pixels.height : pixels.width, height = lies ? pixels.width : pixels.height;
  const bool is_grey = pixels.format == PixelFormat::kGrey;
  data::Tensor made{ElementType::kUint8, {height, width}, {}};
  if (!is_grey) made.dims.push_back(3);
  made.bytes.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * (is_grey ? 1 : 3));
  auto* out = reinterpret_cast<std::uint8_t*>(made.bytes.data());
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      // The source of this pixel. A clockwise quarter turn moves the left column to the top row.
      const std::pair<int, int> from = pixels.rotation == 0     ? std::pair(x, y)
                                       : pixels.rotation == 90  ? std::pair(y, width - 1 - x)
                                       : pixels.rotation == 180 ? std::pair(width - 1 - x, height - 1 - y)
                                                                : std::pair(height - 1 - y, x);
      const Rgb color = reader.at(from.first, from.second);
      *out++ = color.red;
      if (is_grey) continue;
      *out++ = color.green;
      *out++ = color.blue;
    }
  }
  return made;
}

}  // namespace ounce::app
