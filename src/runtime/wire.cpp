#include "runtime/wire.h"

#include <ounce/error.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <map>
#include <type_traits>

#include "base/fields.h"

namespace ounce::runtime {
namespace {

constexpr std::size_t kReadStep = std::size_t{16} << 20;
constexpr std::size_t kHead = 12;

static_assert(std::endian::native == std::endian::little, "numbers are sent as in memory");

[[noreturn]] void refuse() {
  throw Error(
      ErrorCode::kBadInput,
      "ounce-runner and this program cannot communicate: they have different versions; install both from "
      "the same release");
}

constexpr std::uint64_t filling(std::uint64_t size) { return (8 - size % 8) % 8; }

// Visit the parts of each message in order. `wire` is a Packer or an Unpacker.
void parts(MaybeConst<LoadRequest> auto& load, auto& wire) {
  auto& settings = load.settings;
  wire(load.kind, load.library, load.model, settings.threads, settings.options, settings.external_data_paths,
       settings.profile);
}
void parts(MaybeConst<ValueDescription::Dimension> auto& dimension, auto& wire) {
  wire(dimension.value, dimension.name);
}
void parts(MaybeConst<ValueDescription> auto& value, auto& wire) {
  wire(value.name, value.element, value.inside, value.shape);
}
void parts(MaybeConst<Loaded> auto& loaded, auto& wire) {
  wire(loaded.library_version, loaded.seconds, loaded.library_seconds, loaded.memory.peak,
       loaded.memory.stays, loaded.inputs, loaded.outputs);
}
void parts(MaybeConst<Ran> auto& ran, auto& wire) { wire(ran.seconds, ran.peak_memory, ran.outputs); }
void parts(MaybeConst<Timing> auto& timing, auto& wire) { wire(timing.runs, timing.inputs); }
void parts(MaybeConst<SlotTimes> auto& times, auto& wire) {
  wire(times.cpu_seconds, times.wait_seconds, times.calls, times.pieces);
}

class Packer {
 public:
  explicit Packer(std::string& bytes) : bytes_(bytes) { bytes_.clear(); }

  template <class... Values>
  void operator()(const Values&... values) {
    (add(values), ...);
  }

 private:
  void number(std::uint64_t value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }

  template <class T>
  void add(const T& value) {
    if constexpr (std::is_same_v<T, double>) {
      number(std::bit_cast<std::uint64_t>(value));
    } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
      number(static_cast<std::uint64_t>(value));
    } else {
      parts(value, *this);
    }
  }
  void add(std::string_view text) {
    number(text.size());
    bytes_ += text;
    bytes_.append(filling(text.size()), '\0');
  }
  void add(const std::string& text) { add(std::string_view(text)); }
  void add(const std::filesystem::path& path) { add(std::string_view(path.native())); }
  template <class T>
  void add(const std::vector<T>& list) {
    add_all(list);
  }
  void add(std::span<const TensorView> list) { add_all(list); }
  void add(const Tensors& tensors) { add_all(tensors.views); }
  template <class T>
  void add(const std::map<std::string, T>& map) {
    number(map.size());
    for (const auto& [key, value] : map) (*this)(key, value);
  }
  void add(const TensorView& tensor) {
    static const std::vector<std::string> kNone;
    (*this)(tensor.type, tensor.dims, tensor.bytes, tensor.strings == nullptr ? kNone : *tensor.strings);
  }
  void add_all(const auto& list) {
    number(list.size());
    for (const auto& one : list) add(one);
  }

  std::string& bytes_;
};

class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : rest_(bytes) {}

  template <class... Values>
  void operator()(Values&... values) {
    (take(values), ...);
  }
  void end() const {
    if (!rest_.empty()) refuse();
  }

 private:
  std::string_view bytes(std::uint64_t size) {
    if (size > rest_.size()) refuse();
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes(sizeof value).data(), sizeof value);
    return value;
  }
  // Reads a number of elements of at least 8 bytes each.
  std::size_t count() {
    const std::uint64_t value = number();
    if (value > rest_.size() / sizeof value) refuse();
    return value;
  }

  template <class T>
  void take(T& value) {
    if constexpr (std::is_same_v<T, double>) {
      value = std::bit_cast<double>(number());
    } else if constexpr (std::is_integral_v<T>) {
      value = static_cast<T>(number());
    } else {
      parts(value, *this);
    }
  }
  void take(ElementType& type) {
    type = ounce::element_type_of(static_cast<std::int64_t>(number())).value_or(ElementType::kUndefined);
  }
  void take(model::ModelKind& kind) {
    const std::uint64_t value = number();
    if (value >= kModelKinds) refuse();
    kind = static_cast<model::ModelKind>(value);
  }
  void take(std::string_view& text) {
    text = bytes(number());
    bytes(filling(text.size()));
  }
  void take(std::string& text) {
    std::string_view view;
    take(view);
    text = view;
  }
  void take(std::filesystem::path& path) {
    std::string_view view;
    take(view);
    path = view;
  }
  template <class T>
  void take(std::vector<T>& list) {
    list.resize(count());
    for (T& one : list) take(one);
  }
  template <class T>
  void take(std::map<std::string, T>& map) {
    for (std::size_t left = count(); left > 0; --left) {
      std::string key;
      take(key);
      take(map[key]);
    }
  }
  void take(Tensors& tensors) {
    tensors.views.resize(count());
    tensors.strings.resize(tensors.views.size());
    for (std::size_t i = 0; i < tensors.views.size(); ++i) {
      TensorView& view = tensors.views[i];
      (*this)(view.type, view.dims, view.bytes, tensors.strings[i]);
      view.strings = &tensors.strings[i];
      if (view.type != ElementType::kString &&
          view.bytes.size() != data::byte_count(view.type, view.dims, "a tensor of the runner"))
        throw Error(ErrorCode::kBadInput, "the runner sent a tensor whose size does not match its shape");
    }
  }

  std::string_view rest_;
};

template <class... Values>
std::string packed(const Values&... values) {
  std::string body;
  Packer packer(body);
  packer(values...);
  return body;
}

template <class T>
T unpacked(std::string_view body) {
  Unpacker unpacker(body);
  T value;
  unpacker(value);
  unpacker.end();
  return value;
}

// Reserves memory for all tensors, to avoid copies when the body grows.
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

}  // namespace

std::string pack(const LoadRequest& request) { return packed(request); }
std::string pack(const Loaded& loaded) { return packed(loaded); }
std::string pack(const SlotTimes& times) { return packed(times); }

void pack(std::string& body, std::span<const TensorView> tensors) {
  reserve(body, tensors);
  Packer packer(body);
  packer(tensors);
}

void pack(std::string& body, std::uint64_t runs, std::span<const TensorView> inputs) {
  reserve(body, inputs);
  Packer packer(body);
  packer(runs, inputs);
}

void pack(std::string& body, const Ran& ran) {
  reserve(body, ran.outputs.views);
  Packer packer(body);
  packer(ran);
}

std::string pack_failure(int code, const std::string& message) { return packed(code, message); }

LoadRequest unpack_load(std::string_view body) { return unpacked<LoadRequest>(body); }
Loaded unpack_loaded(std::string_view body) { return unpacked<Loaded>(body); }
Ran unpack_ran(std::string_view body) { return unpacked<Ran>(body); }
Tensors unpack_tensors(std::string_view body) { return unpacked<Tensors>(body); }
Timing unpack_timing(std::string_view body) { return unpacked<Timing>(body); }
SlotTimes unpack_times(std::string_view body) { return unpacked<SlotTimes>(body); }

void throw_failure(std::string_view body) {
  Unpacker unpacker(body);
  std::int64_t code = 0;
  std::string message;
  unpacker(code, message);
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
  // Refuse other bytes, such as the greeting of a login shell, instead of waiting for a message of that
  // length.
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
