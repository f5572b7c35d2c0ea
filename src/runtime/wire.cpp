#include "runtime/wire.h"

#include <ounce/error.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace ounce::runtime {
namespace {

constexpr std::size_t kReadStep = std::size_t{16} << 20;
constexpr std::size_t kHead = 12;

static_assert(std::endian::native == std::endian::little, "numbers go over the wire as they stand in memory");

[[noreturn]] void refuse() {
  throw Error(ErrorCode::kBadInput,
              "the runner and this program do not understand each other: they are of different versions, and "
              "have to be "
              "installed together");
}

constexpr std::uint64_t filling(std::uint64_t size) { return (8 - size % 8) % 8; }

class Packer {
 public:
  explicit Packer(std::string& bytes) : bytes_(bytes) { bytes_.clear(); }

  Packer& number(std::uint64_t value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Packer& signed_number(std::int64_t value) { return number(std::bit_cast<std::uint64_t>(value)); }
  Packer& real(double value) { return number(std::bit_cast<std::uint64_t>(value)); }
  Packer& text(std::string_view value) {
    number(value.size());
    bytes_ += value;
    bytes_.append(filling(value.size()), '\0');
    return *this;
  }

 private:
  std::string& bytes_;
};

class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : rest_(bytes) {}

  std::uint64_t number() {
    std::uint64_t value = 0;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::int64_t signed_number() { return std::bit_cast<std::int64_t>(number()); }
  double real() { return std::bit_cast<double>(number()); }
  std::string_view text() {
    const std::string_view found = take(number());
    take(filling(found.size()));
    return found;
  }
  // Of things that take `least` bytes each.
  std::size_t count(std::size_t least = sizeof(std::uint64_t)) {
    const std::uint64_t value = number();
    if (value > rest_.size() / least) refuse();
    return value;
  }
  void end() const {
    if (!rest_.empty()) refuse();
  }

 private:
  std::string_view take(std::uint64_t size) {
    if (size > rest_.size()) refuse();
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  std::string_view rest_;
};

void pack_tensor(Packer& packer, const TensorView& tensor) {
  packer.signed_number(static_cast<std::int32_t>(tensor.type)).number(tensor.dims.size());
  for (const std::int64_t dim : tensor.dims) packer.signed_number(dim);
  packer.text(tensor.bytes).number(tensor.strings == nullptr ? 0 : tensor.strings->size());
  if (tensor.strings != nullptr) {
    for (const std::string& text : *tensor.strings) packer.text(text);
  }
}

ElementType unpack_type(Unpacker& unpacker) {
  return ounce::element_type_of(unpacker.signed_number()).value_or(ElementType::kUndefined);
}

void unpack_tensor(Unpacker& unpacker, TensorView& tensor, std::vector<std::string>& strings) {
  tensor.type = unpack_type(unpacker);
  tensor.dims.resize(unpacker.count());
  for (std::int64_t& dim : tensor.dims) dim = unpacker.signed_number();
  tensor.bytes = unpacker.text();
  strings.resize(unpacker.count());
  for (std::string& text : strings) text = unpacker.text();
  tensor.strings = &strings;
  if (tensor.type != ElementType::kString &&
      tensor.bytes.size() != data::byte_count(tensor.type, tensor.dims, "a tensor of the runner"))
    throw Error(ErrorCode::kBadInput, "the runner gave a tensor whose bytes do not fit its shape");
}

void pack_tensors(Packer& packer, std::span<const TensorView> tensors) {
  packer.number(tensors.size());
  for (const TensorView& tensor : tensors) pack_tensor(packer, tensor);
}

Tensors unpack_all(Unpacker& unpacker) {
  Tensors tensors;
  tensors.views.resize(unpacker.count());
  tensors.strings.resize(tensors.views.size());
  for (std::size_t i = 0; i < tensors.views.size(); ++i)
    unpack_tensor(unpacker, tensors.views[i], tensors.strings[i]);
  return tensors;
}

// Enough for all of them: a body that grows on its way is copied as often.
void reserve(std::string& body, std::span<const TensorView> tensors) {
  std::uint64_t size = 64;
  for (const TensorView& tensor : tensors) {
    size += 64 + 8 * tensor.dims.size() + tensor.bytes.size();
    if (tensor.strings == nullptr) continue;
    for (const std::string& text : *tensor.strings) size += 16 + text.size();
  }
  body.clear();
  body.reserve(size);
}

void pack_values(Packer& packer, const std::vector<ValueDescription>& values) {
  packer.number(values.size());
  for (const ValueDescription& value : values) {
    packer.text(value.name)
        .signed_number(static_cast<std::int32_t>(value.element))
        .signed_number(static_cast<std::int32_t>(value.inside))
        .number(value.shape.size());
    for (const auto& dimension : value.shape) packer.signed_number(dimension.value).text(dimension.name);
  }
}

std::vector<ValueDescription> unpack_values(Unpacker& unpacker) {
  std::vector<ValueDescription> values(unpacker.count());
  for (ValueDescription& value : values) {
    value.name = unpacker.text();
    value.element = unpack_type(unpacker);
    value.inside = unpack_type(unpacker);
    value.shape.resize(unpacker.count());
    for (auto& dimension : value.shape) {
      dimension.value = unpacker.signed_number();
      dimension.name = unpacker.text();
    }
  }
  return values;
}

}  // namespace

std::string pack(const Load& load) {
  std::string body;
  Packer packer(body);
  packer.text(load.library).text(load.model);
  packer.number(load.options.threads).number(load.options.threads_between);
  packer.number(static_cast<unsigned>(load.options.optimization));
  packer.number(load.options.config.size());
  for (const auto& [key, value] : load.options.config) packer.text(key).text(value);
  packer.number(load.options.external_data_paths.size());
  for (const auto& [location, path] : load.options.external_data_paths)
    packer.text(location).text(path.string());
  packer.text(load.options.save_optimized.string()).text(load.options.profile.string());
  return body;
}

Load unpack_load(std::string_view body) {
  Unpacker unpacker(body);
  Load load;
  load.library = unpacker.text();
  load.model = unpacker.text();
  load.options.threads = static_cast<unsigned>(unpacker.number());
  load.options.threads_between = static_cast<unsigned>(unpacker.number());
  load.options.optimization = static_cast<Optimization>(
      std::min<std::uint64_t>(unpacker.number(), static_cast<unsigned>(Optimization::kAll)));
  for (std::size_t left = unpacker.count(); left > 0; --left) {
    const std::string_view key = unpacker.text();
    load.options.config[std::string(key)] = unpacker.text();
  }
  for (std::size_t left = unpacker.count(); left > 0; --left) {
    const std::string_view location = unpacker.text();
    load.options.external_data_paths[std::string(location)] = unpacker.text();
  }
  load.options.save_optimized = unpacker.text();
  load.options.profile = unpacker.text();
  unpacker.end();
  return load;
}

std::string pack(const Loaded& loaded) {
  std::string body;
  Packer packer(body);
  packer.text(loaded.library_version).real(loaded.seconds).real(loaded.library_seconds);
  packer.number(loaded.memory.peak).number(loaded.memory.stays);
  pack_values(packer, loaded.inputs);
  pack_values(packer, loaded.outputs);
  return body;
}

Loaded unpack_loaded(std::string_view body) {
  Unpacker unpacker(body);
  Loaded loaded;
  loaded.library_version = unpacker.text();
  loaded.seconds = unpacker.real();
  loaded.library_seconds = unpacker.real();
  loaded.memory.peak = unpacker.number();
  loaded.memory.stays = unpacker.number();
  loaded.inputs = unpack_values(unpacker);
  loaded.outputs = unpack_values(unpacker);
  unpacker.end();
  return loaded;
}

void pack(std::string& body, std::span<const TensorView> tensors) {
  reserve(body, tensors);
  Packer packer(body);
  pack_tensors(packer, tensors);
}

Tensors unpack_tensors(std::string_view body) {
  Unpacker unpacker(body);
  Tensors tensors = unpack_all(unpacker);
  unpacker.end();
  return tensors;
}

void pack(std::string& body, std::uint64_t runs, std::span<const TensorView> inputs) {
  reserve(body, inputs);
  Packer packer(body);
  packer.number(runs);
  pack_tensors(packer, inputs);
}

Timing unpack_timing(std::string_view body) {
  Unpacker unpacker(body);
  Timing timing;
  timing.runs = unpacker.number();
  timing.inputs = unpack_all(unpacker);
  unpacker.end();
  return timing;
}

std::string pack(const SlotTimes& times) {
  std::string body;
  Packer packer(body);
  packer.real(times.cpu_seconds).real(times.wait_seconds).number(times.calls.size());
  for (const double seconds : times.calls) packer.real(seconds);
  return body;
}

SlotTimes unpack_times(std::string_view body) {
  Unpacker unpacker(body);
  SlotTimes times;
  times.cpu_seconds = unpacker.real();
  times.wait_seconds = unpacker.real();
  times.calls.resize(unpacker.count());
  for (double& seconds : times.calls) seconds = unpacker.real();
  unpacker.end();
  return times;
}

void pack(std::string& body, const Ran& ran) {
  reserve(body, ran.outputs.views);
  Packer packer(body);
  packer.real(ran.seconds).number(ran.peak_memory);
  pack_tensors(packer, ran.outputs.views);
}

Ran unpack_ran(std::string_view body) {
  Unpacker unpacker(body);
  Ran ran;
  ran.seconds = unpacker.real();
  ran.peak_memory = unpacker.number();
  ran.outputs = unpack_all(unpacker);
  unpacker.end();
  return ran;
}

std::string pack_failure(int code, const std::string& message) {
  std::string body;
  Packer(body).signed_number(code).text(message);
  return body;
}

void throw_failure(std::string_view body) {
  Unpacker unpacker(body);
  const std::int64_t code = unpacker.signed_number();
  const std::string message(unpacker.text());
  const bool is_known = (code >= 0 && code <= static_cast<int>(ErrorCode::kInternal)) ||
                        code == static_cast<int>(ErrorCode::kMemory);
  throw Error(is_known ? static_cast<ErrorCode>(code) : ErrorCode::kBadInput, message);
}

Outcome Channel::send(Kind kind, std::string_view body, Deadline deadline) const {
  char head[kHead];
  const auto number = static_cast<std::uint32_t>(kind);
  const std::uint64_t size = body.size();
  std::memcpy(head, &number, sizeof number);
  std::memcpy(head + sizeof number, &size, sizeof size);
  const Outcome outcome = write_all(out_, {head, sizeof head}, deadline);
  return outcome == Outcome::kDone ? write_all(out_, body, deadline) : outcome;
}

Outcome Channel::receive(Message& message, Deadline deadline) const {
  char head[kHead];
  if (const Outcome outcome = read_exactly(in_, head, sizeof head, deadline); outcome != Outcome::kDone)
    return outcome;
  std::uint32_t number = 0;
  std::uint64_t size = 0;
  std::memcpy(&number, head, sizeof number);
  std::memcpy(&size, head + sizeof number, sizeof size);
  // A greeting of a login shell, say, must not be waited for as if it were a message of that length.
  if (number < static_cast<std::uint32_t>(Kind::kLoad) || number > static_cast<std::uint32_t>(Kind::kTimed))
    refuse();
  message.kind = static_cast<Kind>(number);
  if (message.body.size() > size) message.body.resize(size);
  for (std::uint64_t at = 0; at < size;) {
    if (message.body.size() == at)
      message.body.resize(at + std::min<std::uint64_t>(size - at, std::max(kReadStep, at)));
    const std::uint64_t step = message.body.size() - at;
    const Outcome outcome = read_exactly(in_, message.body.data() + at, step, deadline);
    if (outcome != Outcome::kDone) return outcome;
    at += step;
  }
  return Outcome::kDone;
}

}  // namespace ounce::runtime
