#include "app/session.h"

#include <fmt/format.h>
#include <ounce/app.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>

#include "app/load_checks.h"
#include "data/tensor.h"

namespace ounce::app {
namespace {

constexpr std::size_t kAlignment = 64;  // of every input: a cache line, and the widest SIMD register

std::size_t rounded_up(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// An empty name means the only value.
std::size_t index_of(const std::vector<Value>& values, std::string_view name, const char* what,
                     const std::string& model) {
  if (name.empty() && values.size() == 1) return 0;
  const auto found =
      std::find_if(values.begin(), values.end(), [&](const Value& value) { return value.name == name; });
  if (found != values.end()) return static_cast<std::size_t>(found - values.begin());
  std::string names;
  for (const Value& value : values) names += (names.empty() ? "" : ", ") + value.name;
  throw Failure(Status::kUsage,
                name.empty() ? fmt::format("a name is needed: the model has these {}s: {}", what, names)
                             : fmt::format("no {} is named '{}'; the model has {}", what, name, names),
                model);
}

// 16-bit floats may be accessed as uint16.
void require_type(Type has, Type wanted, const Value& value, const std::string& model) {
  const bool is_half = has == Type::kFloat16 || has == Type::kBfloat16;
  if (wanted == Type::kOther || wanted == has || (is_half && wanted == Type::kUint16)) return;
  throw Failure(
      Status::kUsage,
      fmt::format("'{}' has type {}, but {} was requested", value.name,
                  name_of(static_cast<ElementType>(has)), name_of(static_cast<ElementType>(wanted))),
      model);
}

Shape shape_of(const data::ValueDescription& input, const CallOptions& options, const std::string& model) {
  if (const auto given = options.shapes.find(input.name); given != options.shapes.end()) return given->second;
  Shape shape;
  for (std::size_t i = 0; i < input.shape.size(); ++i) {
    const auto& dimension = input.shape[i];
    if (dimension.value >= 0) {
      shape.push_back(dimension.value);
      continue;
    }
    const auto size = options.sizes.find(dimension.name);
    if (size != options.sizes.end() && !dimension.name.empty()) {
      shape.push_back(size->second);
    } else if (i == 0) {
      shape.push_back(options.batch);
    } else {
      throw Failure(
          Status::kUsage,
          fmt::format("axis {} of the input '{}' is dynamic{}; set its size in the call options", i,
                      input.name, dimension.name.empty() ? "" : fmt::format(" ('{}')", dimension.name)),
          model);
    }
  }
  return shape;
}

}  // namespace

Call::Impl::Impl(std::shared_ptr<const Session::Impl> loaded)
    : model(std::move(loaded)),
      timer([](void* self) { static_cast<Impl*>(self)->stop(End::kTimeout); }, this) {}

void Call::Impl::stop(End why) noexcept {
  const std::lock_guard lock(mutex);
  if (!is_running || end != End::kNone) return;
  end = why;
  run->stop();
}

Call::Call(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Call::~Call() = default;
Call::Call(Call&&) noexcept = default;
Call& Call::operator=(Call&&) noexcept = default;

Call Session::call(const CallOptions& options) const {
  return as_failures(Status::kUsage, [&] {
    const std::string& model = impl_->session->model();
    auto impl = std::make_unique<Call::Impl>(impl_);
    std::size_t total = 0;
    for (const auto& values : {impl_->inputs, impl_->outputs}) {
      for (const Value& value : values) {
        if (value.type == Type::kString || value.type == Type::kOther)
          throw Failure(Status::kUnsupported,
                        fmt::format("'{}' has a type that apps cannot access", value.name), model);
      }
    }
    for (const data::ValueDescription& input : impl_->session->inputs()) {
      data::TensorView view;
      view.type = input.element;
      view.dims = shape_of(input, options, model);
      total += rounded_up(data::byte_count(view.type, view.dims, input.name));
      impl->inputs.push_back(std::move(view));
    }
    total = std::max(total, kAlignment);
    impl->memory.reset(static_cast<std::byte*>(std::aligned_alloc(kAlignment, total)));
    if (!impl->memory)
      throw Failure(Status::kMemory, fmt::format("out of memory: the inputs need {} bytes", total), model);
    std::memset(impl->memory.get(), 0, total);
    std::size_t at = 0;
    for (data::TensorView& view : impl->inputs) {
      const std::uint64_t bytes = data::byte_count(view.type, view.dims, model);
      view.bytes = {reinterpret_cast<const char*>(impl->memory.get() + at), bytes};
      at += rounded_up(bytes);
    }
    impl->run = impl_->session->start();
    impl->run->bind(impl->inputs);
    Call call(std::move(impl));
    for (unsigned i = 0; i < options.warm_up; ++i) call.run();
    return call;
  });
}

void Call::run(std::chrono::nanoseconds timeout) {
  Impl& impl = *impl_;
  const bool has_timeout = timeout != std::chrono::nanoseconds::max();
  {
    const std::lock_guard lock(impl.mutex);
    impl.is_running = true;
    impl.end = Impl::End::kNone;
  }
  const auto finish = [&]() noexcept {
    if (has_timeout) impl.timer.disarm();
    const std::lock_guard lock(impl.mutex);
    impl.is_running = false;
    if (impl.end != Impl::End::kNone) impl.run->resume();
    return impl.end;
  };
  using Clock = std::chrono::steady_clock;
  const auto deadline = has_timeout ? Clock::now() + timeout : Clock::time_point::max();
  const std::string& model = impl.model->session->model();
  const auto too_late = [&] {
    return Failure(
        Status::kTimeout,
        fmt::format("the run took longer than {:.3g} s", std::chrono::duration<double>(timeout).count()),
        model);
  };
  const auto cut = [&] {
    return Failure(Status::kIo, "a file of the model was truncated while it was in use; load the model again",
                   model);
  };
  try {
    if (has_timeout) impl.timer.arm(deadline);
    impl.run->run();
    finish();
    impl.outputs = impl.run->outputs();
  } catch (const Error& error) {
    impl.outputs = {};
    const Impl::End end = finish();
    if (end == Impl::End::kCancelled) throw Failure(Status::kCancelled, "the run was canceled", model);
    if (end == Impl::End::kTimeout) throw too_late();
    if (impl.model->was_cut()) throw cut();
    throw Failure(status_of(error.code(), Status::kRunFailed), error.what());
  } catch (const std::bad_alloc&) {
    finish();
    throw Failure(Status::kMemory, "out of memory during a run");
  } catch (const std::system_error&) {
    finish();
    throw Failure(Status::kMemory, "cannot start the thread that enforces timeouts");
  }
  // The watchdog may fire late: a run that ends after the deadline is a timeout, too.
  if (has_timeout && Clock::now() > deadline) {
    impl.outputs = {};
    throw too_late();
  }
  if (impl.model->was_cut()) {
    impl.outputs = {};
    throw cut();
  }
}

void Call::cancel() noexcept { impl_->stop(Impl::End::kCancelled); }

Call::Bytes Call::input_bytes(std::string_view name, Type type) {
  const std::string& model = impl_->model->session->model();
  const std::size_t i = index_of(impl_->model->inputs, name, "input", model);
  require_type(impl_->model->inputs[i].type, type, impl_->model->inputs[i], model);
  const std::string_view bytes = impl_->inputs[i].bytes;
  return {reinterpret_cast<std::byte*>(const_cast<char*>(bytes.data())), bytes.size()};
}

std::size_t Call::output_index(std::string_view name, Type type) const {
  const std::string& model = impl_->model->session->model();
  const std::size_t i = index_of(impl_->model->outputs, name, "output", model);
  require_type(impl_->model->outputs[i].type, type, impl_->model->outputs[i], model);
  return i;
}

Call::Bytes Call::output_bytes(std::string_view name, Type type) const {
  const std::string& model = impl_->model->session->model();
  const std::size_t i = output_index(name, type);
  if (impl_->outputs.empty())
    throw Failure(Status::kUsage, "no outputs: the model was not run yet, or its last run failed", model);
  const std::string_view bytes = impl_->outputs[i].bytes;
  return {reinterpret_cast<std::byte*>(const_cast<char*>(bytes.data())), bytes.size()};
}

const Shape& Call::input_shape(std::string_view name) const {
  return impl_->inputs[index_of(impl_->model->inputs, name, "input", impl_->model->session->model())].dims;
}

const Shape& Call::output_shape(std::string_view name) const {
  const std::string& model = impl_->model->session->model();
  const std::size_t i = index_of(impl_->model->outputs, name, "output", model);
  if (impl_->outputs.empty())
    throw Failure(Status::kUsage, "no outputs: the model was not run yet, or its last run failed", model);
  return impl_->outputs[i].dims;
}

struct Watchdog::State {
  std::mutex mutex;
  std::condition_variable changed;
  Entry* first = nullptr;
  Moment wakes_at = Moment::max();
  bool is_running = false;

  void remove(Entry& entry) {
    (entry.previous_ == nullptr ? first : entry.previous_->next_) = entry.next_;
    if (entry.next_ != nullptr) entry.next_->previous_ = entry.previous_;
    entry.previous_ = entry.next_ = nullptr;
    entry.is_armed_ = false;
  }
};

Watchdog::State& Watchdog::state() {
  static auto* const kept = new State;  // never freed: its thread runs until the process ends
  return *kept;
}

void Watchdog::watch() {
  State& all = state();
  std::unique_lock lock(all.mutex);
  for (;;) {
    const Moment now = std::chrono::steady_clock::now();
    all.wakes_at = Moment::max();
    for (Entry* entry = all.first; entry != nullptr;) {
      Entry* const next = entry->next_;
      if (entry->deadline_ <= now) {
        all.remove(*entry);
        entry->late_(entry->user_);
      } else if (entry->deadline_ < all.wakes_at) {
        all.wakes_at = entry->deadline_;
      }
      entry = next;
    }
    if (all.wakes_at == Moment::max()) {
      all.changed.wait(lock);
    } else {
      all.changed.wait_until(lock, all.wakes_at);
    }
  }
}

void Watchdog::Entry::arm(Moment deadline) {
  State& all = state();
  bool is_next = false;
  {
    const std::lock_guard lock(all.mutex);
    if (!all.is_running) {
      std::thread(&Watchdog::watch).detach();
      all.is_running = true;
    }
    deadline_ = deadline;
    next_ = all.first;
    if (next_ != nullptr) next_->previous_ = this;
    all.first = this;
    is_armed_ = true;
    is_next = deadline < all.wakes_at;
  }
  if (is_next) all.changed.notify_one();
}

void Watchdog::Entry::disarm() noexcept {
  State& all = state();
  const std::lock_guard lock(all.mutex);
  if (is_armed_) all.remove(*this);
}

}  // namespace ounce::app
