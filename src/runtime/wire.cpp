#include "runtime/wire.h"

#include <ounce/error.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "base/cancel.h"

namespace ounce::runtime {
namespace {

constexpr std::size_t kReadStep = std::size_t{16} << 20;
constexpr std::size_t kHead = 12;

static_assert(std::endian::native == std::endian::little, "numbers go over the wire as they stand in memory");

class Packer {
 public:
  Packer& number(std::uint64_t value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Packer& signed_number(std::int64_t value) { return number(std::bit_cast<std::uint64_t>(value)); }
  Packer& real(double value) { return number(std::bit_cast<std::uint64_t>(value)); }
  Packer& text(std::string_view value) {
    number(value.size());
    bytes_ += value;
    return *this;
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
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
  std::string_view text() { return take(number()); }
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
  [[noreturn]] static void refuse() {
    throw Error(ErrorCode::kBadInput, "the runner and this program do not understand each other");
  }
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

data::ElementType unpack_type(Unpacker& unpacker) {
  return onnx::element_type_of(unpacker.signed_number()).value_or(data::ElementType::kUndefined);
}

Tensor unpack_tensor(Unpacker& unpacker) {
  Tensor tensor;
  tensor.type = unpack_type(unpacker);
  tensor.dims.resize(unpacker.count());
  for (std::int64_t& dim : tensor.dims) dim = unpacker.signed_number();
  tensor.bytes = unpacker.text();
  tensor.strings.resize(unpacker.count());
  for (std::string& text : tensor.strings) text = unpacker.text();
  if (tensor.type != data::ElementType::kString &&
      tensor.bytes.size() != data::byte_count(tensor.type, tensor.dims, "a tensor of the runner"))
    throw Error(ErrorCode::kBadInput, "the runner gave a tensor whose bytes do not fit its shape");
  return tensor;
}

void pack_values(Packer& packer, const std::vector<ValueDescription>& values) {
  packer.number(values.size());
  for (const ValueDescription& value : values) {
    packer.text(value.name)
        .signed_number(static_cast<std::int32_t>(value.element))
        .number(value.shape.size());
    for (const auto& dimension : value.shape) packer.signed_number(dimension.value).text(dimension.name);
  }
}

std::vector<ValueDescription> unpack_values(Unpacker& unpacker) {
  std::vector<ValueDescription> values(unpacker.count());
  for (ValueDescription& value : values) {
    value.name = unpacker.text();
    value.element = unpack_type(unpacker);
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
  Packer packer;
  packer.text(load.library).text(load.model);
  packer.number(load.options.threads).number(load.options.threads_between);
  packer.number(static_cast<unsigned>(load.options.optimization));
  packer.number(load.options.config.size());
  for (const auto& [key, value] : load.options.config) packer.text(key).text(value);
  packer.number(load.options.stand_ins.size());
  for (const auto& [location, path] : load.options.stand_ins) packer.text(location).text(path.string());
  packer.text(load.options.save_optimized.string());
  return packer.take();
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
    load.options.stand_ins[std::string(location)] = unpacker.text();
  }
  load.options.save_optimized = unpacker.text();
  unpacker.end();
  return load;
}

std::string pack(const Loaded& loaded) {
  Packer packer;
  packer.text(loaded.library_version).real(loaded.seconds);
  pack_values(packer, loaded.inputs);
  pack_values(packer, loaded.outputs);
  return packer.take();
}

Loaded unpack_loaded(std::string_view body) {
  Unpacker unpacker(body);
  Loaded loaded;
  loaded.library_version = unpacker.text();
  loaded.seconds = unpacker.real();
  loaded.inputs = unpack_values(unpacker);
  loaded.outputs = unpack_values(unpacker);
  unpacker.end();
  return loaded;
}

std::string pack(const std::vector<TensorView>& tensors) {
  Packer packer;
  packer.number(tensors.size());
  for (const TensorView& tensor : tensors) pack_tensor(packer, tensor);
  return packer.take();
}

std::vector<Tensor> unpack_tensors(std::string_view body) {
  Unpacker unpacker(body);
  std::vector<Tensor> tensors(unpacker.count());
  for (Tensor& tensor : tensors) tensor = unpack_tensor(unpacker);
  unpacker.end();
  return tensors;
}

std::string pack(const Ran& ran) {
  Packer packer;
  packer.real(ran.seconds).number(ran.peak_memory).number(ran.outputs.size());
  for (const Tensor& tensor : ran.outputs) pack_tensor(packer, tensor);
  return packer.take();
}

Ran unpack_ran(std::string_view body) {
  Unpacker unpacker(body);
  Ran ran;
  ran.seconds = unpacker.real();
  ran.peak_memory = unpacker.number();
  ran.outputs.resize(unpacker.count());
  for (Tensor& tensor : ran.outputs) tensor = unpack_tensor(unpacker);
  unpacker.end();
  return ran;
}

std::string pack_failure(int code, const std::string& message) {
  return Packer().signed_number(code).text(message).take();
}

void throw_failure(std::string_view body) {
  Unpacker unpacker(body);
  const std::int64_t code = unpacker.signed_number();
  const std::string message(unpacker.text());
  const bool is_known = code >= 0 && code <= static_cast<int>(ErrorCode::kInternal);
  throw Error(is_known ? static_cast<ErrorCode>(code) : ErrorCode::kBadInput, message);
}

// Waits in short turns: whoever was asked to stop must not sit here until the other side answers.
Channel::Outcome Channel::wait(int descriptor, short events, Deadline deadline) const {
  using std::chrono::milliseconds, std::chrono::steady_clock;
  constexpr milliseconds kTurn(100);
  for (;;) {
    throw_if_cancelled();
    milliseconds turn = kTurn;
    if (deadline) {
      const auto left = std::chrono::ceil<milliseconds>(*deadline - steady_clock::now());
      if (left <= milliseconds(0)) return Outcome::kLate;
      turn = std::min(turn, left);
    }
    pollfd state{descriptor, events, 0};
    const int ready = ::poll(&state, 1, static_cast<int>(turn.count()));
    if (ready > 0) return Outcome::kDone;  // also at the end, and on errors: the next call finds out
    if (ready < 0 && errno != EINTR) return Outcome::kClosed;
  }
}

Channel::Outcome Channel::read(char* to, std::size_t size, Deadline deadline) const {
  while (size > 0) {
    if (const Outcome outcome = wait(in_, POLLIN, deadline); outcome != Outcome::kDone) return outcome;
    const ssize_t got = ::read(in_, to, size);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return Outcome::kClosed;
    to += got;
    size -= static_cast<std::size_t>(got);
  }
  return Outcome::kDone;
}

// A socket that was closed must not end this process with SIGPIPE; a pipe (over ssh, say) takes plain writes.
Channel::Outcome Channel::write(std::string_view bytes, Deadline deadline) const {
  while (!bytes.empty()) {
    if (const Outcome outcome = wait(out_, POLLOUT, deadline); outcome != Outcome::kDone) return outcome;
    ssize_t sent = ::send(out_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == ENOTSOCK) sent = ::write(out_, bytes.data(), bytes.size());
    if (sent < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (sent < 0) return Outcome::kClosed;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return Outcome::kDone;
}

Channel::Outcome Channel::send(Kind kind, std::string_view body, Deadline deadline) const {
  char head[kHead];
  const auto number = static_cast<std::uint32_t>(kind);
  const std::uint64_t size = body.size();
  std::memcpy(head, &number, sizeof number);
  std::memcpy(head + sizeof number, &size, sizeof size);
  const Outcome outcome = write({head, sizeof head}, deadline);
  return outcome == Outcome::kDone ? write(body, deadline) : outcome;
}

Channel::Outcome Channel::receive(Message& message, Deadline deadline) const {
  char head[kHead];
  if (const Outcome outcome = read(head, sizeof head, deadline); outcome != Outcome::kDone) return outcome;
  std::uint32_t number = 0;
  std::uint64_t size = 0;
  std::memcpy(&number, head, sizeof number);
  std::memcpy(&size, head + sizeof number, sizeof size);
  message.kind = static_cast<Kind>(number);
  message.body.clear();
  while (message.body.size() < size) {
    const std::size_t at = message.body.size();
    message.body.resize(at + std::min<std::uint64_t>(size - at, kReadStep));
    const Outcome outcome = read(message.body.data() + at, message.body.size() - at, deadline);
    if (outcome != Outcome::kDone) return outcome;
  }
  return Outcome::kDone;
}

}  // namespace ounce::runtime
