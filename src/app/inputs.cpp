#include <ounce/app/inputs.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "app/call.h"
#include "app/failure.h"
#include "app/pixels.h"
#include "data/contract/preprocess.h"
#include "data/convert.h"
#include "data/image/image.h"

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
    throw Failure(Status::kNoContract, "has no contract; 'ounce contract set' gives it one", model);
  // Without a name: the only input of this kind.
  const Ruled* found = nullptr;
  Ruled kept{};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto rule = contract->inputs.find(inputs[i].name);
    if (rule == contract->inputs.end()) continue;
    if (name.empty() ? rule->second.kind != kind : inputs[i].name != name) continue;
    if (found != nullptr)
      throw Failure(Status::kUsage, fmt::format("has several inputs that are {}: name one", word_of(kind)),
                    model);
    kept = {&rule->second, &inputs[i], i};
    found = &kept;
  }
  if (found == nullptr)
    throw Failure(Status::kNoContract, fmt::format("its contract has no input that is {}", word_of(kind)),
                  model);
  if (kept.contract->kind != kind)
    throw Failure(Status::kUsage,
                  fmt::format("the input '{}' is {}, not {}", kept.input->name, word_of(kept.contract->kind),
                              word_of(kind)),
                  model);
  return kept;
}

data::Tensor mixed(const Sound& sound, const std::string& model) {
  if (sound.samples.empty() == sound.floats.empty())
    throw Failure(Status::kUsage, "sound is 16-bit samples or floats, one of them", model);
  if (sound.channels < 1) throw Failure(Status::kUsage, "sound has one channel or more", model);
  const auto channels = static_cast<std::size_t>(sound.channels);
  const auto made = [&]<class T>(ElementType type, std::span<const T> values) {
    if (values.size() % channels != 0)
      throw Failure(Status::kUsage,
                    fmt::format("{} samples are no whole number of {} channels", values.size(), channels),
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

// What the contract makes of a sample, in a row of the call's input: as data::DataFeed does it.
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
                    fmt::format("the contract makes {} and the call has {} for the input '{}'",
                                data::describe(made.type, made.dims), data::describe(place.type, place.dims),
                                ruled.input->name),
                    model);
    }
    if (row < 0 || row >= rows)
      throw Failure(Status::kUsage, fmt::format("there is no row {} among {}", row, rows), model);
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
  std::string waiting;  // bytes of samples; begins with what lies before the next hop

  std::size_t width() const { return type == ElementType::kFloat ? sizeof(float) : sizeof(std::int16_t); }

  void push(ElementType pushed, const void* samples, std::size_t bytes) {
    if (type == ElementType::kUndefined) {
      type = pushed;
      waiting.assign((length - hop) * width(), '\0');
    }
    if (type != pushed)
      throw Failure(Status::kUsage, "a stream is of 16-bit samples or of floats, not of both");
    waiting.append(static_cast<const char*>(samples), bytes);
  }
};

SoundStream::SoundStream(const Session& session, std::string input) : impl_(std::make_unique<Impl>()) {
  const auto& model = InputFiller::model_of(session);
  const Ruled ruled = InputFiller::ruled_of(model, input, InputKind::kAudio);
  if (ruled.contract->frame_length <= 0)
    throw Failure(Status::kUsage, fmt::format("the contract of '{}' has no frames", ruled.input->name),
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

}  // namespace ounce::app
