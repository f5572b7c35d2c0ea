#include "app/session.h"

#include <ounce/app.hpp>

#include <atomic>

#include "app/load_checks.h"
#include "app/model_bytes.h"
#include "app/unpacked_file.h"
#include "base/cancel.h"
#include "base/digest.h"
#include "base/machine.h"
#include "data/contract/contract_file.h"

namespace ounce::app {
namespace {

Type type_named(ElementType element) {
  switch (const auto type = static_cast<Type>(element); type) {
    case Type::kFloat32:
    case Type::kUint8:
    case Type::kInt8:
    case Type::kUint16:
    case Type::kInt16:
    case Type::kInt32:
    case Type::kInt64:
    case Type::kString:
    case Type::kBool:
    case Type::kFloat16:
    case Type::kFloat64:
    case Type::kUint32:
    case Type::kUint64:
    case Type::kBfloat16: return type;
    default: return Type::kOther;
  }
}

std::vector<Value> values_of(const std::vector<data::ValueDescription>& descriptions) {
  std::vector<Value> values;
  for (const data::ValueDescription& description : descriptions) {
    Value value{description.name, type_named(description.element), {}, {}};
    for (const auto& dimension : description.shape) {
      value.shape.push_back(dimension.value);
      if (dimension.value < 0) value.axes.push_back(dimension.name);
    }
    values.push_back(std::move(value));
  }
  return values;
}

// True if share_threads() succeeded.
std::atomic<bool> has_shared_threads{false};

void tell_stage(const LoadOptions& options, Stage stage, double share) {
  if (options.progress && !options.progress(stage, share))
    throw Failure(Status::kCancelled, "loading was canceled");
}

UnpackOptions unpack_options_of(const LoadOptions& options) {
  UnpackOptions made;
  made.config = options.config;
  made.progress = [&options](double share) {
    return !options.progress || options.progress(Stage::kUnpack, share);
  };
  return made;
}

}  // namespace

struct Loader {
  using Impl = Session::Impl;

  // Loads the model from its file in the cache, creating the file if needed. Does nothing if it cannot be
  // created.
  static void try_unpacked(Impl& impl, const std::string& identity,
                           const std::shared_ptr<const runtime::Library>& library,
                           const LoadOptions& options) {
    // The cache key covers the external data, so the model must be readable: this throws the reason if it is
    // not.
    if (identity.empty()) as_failures(Status::kBadModel, [&] { ModelDigest(*impl.bytes).identity(); });
    for (int tries = 0; tries < 2; ++tries) {
      Unpacking made = unpack_into(*impl.bytes, identity, options.cache, library, unpack_options_of(options),
                                   Verification::kOnce);
      impl.facts.why_not_unpacked = made.result.why_not;
      if (!made.file) return;
      tell_stage(options, Stage::kLoad, 0);
      try {
        impl.session = load_ort_mapped(made.file->model, impl.bytes->name(), library, options);
        impl.unpacked = std::move(made.file);
        return;
      } catch (const Error& error) {
        if (error.code() != ErrorCode::kBadInput || tries != 0) throw;
        std::error_code ignored;  // the file is damaged: remove and recreate it
        std::filesystem::remove(made.result.file, ignored);
      }
    }
  }

  static void open(Impl& impl, const std::string& identity, const LoadOptions& options) {
    ModelBytes& bytes = *impl.bytes;
    if (bytes.is_tflite()) {
      tell_stage(options, Stage::kLoad, 0);
      impl.session = load_litert(bytes, options);
      if (!options.cache.empty())
        impl.facts.why_not_unpacked = "the model is a TFLite model: only ONNX models are unpacked";
      if (!bytes.stays()) impl.bytes.reset();
      return;
    }
    const auto library = open_library(options.library);
    if (bytes.is_ort() && bytes.stays()) {
      tell_stage(options, Stage::kLoad, 0);
      impl.session = load_ort_mapped(bytes.bytes(), bytes.name(), library, options);
      return;
    }
    if (!options.cache.empty() && !bytes.is_ort()) try_unpacked(impl, identity, library, options);
    if (!impl.session) {
      tell_stage(options, Stage::kLoad, 0);
      impl.session = load_ort(bytes, library, options);
    }
    impl.bytes.reset();  // not needed any more
  }

  static void check(const std::shared_ptr<const Impl>& impl, const LoadOptions& options) {
    if (!options.golden) return;
    if (!impl->contract || !impl->contract->golden) {
      throw Failure(Status::kNoContract,
                    "the model has no golden sample to verify; record one with 'ounce contract set' and data",
                    impl->session->model());
    }
    CallOptions how = options.golden_call;
    how.warm_up = 0;
    Call call = Session(impl).call(how);
    options.golden(call);
    check_golden_input(*impl->contract->golden, call.impl_->inputs, impl->session->model());
    call.run();
    check_golden_output(*impl->contract->golden, call.impl_->run->outputs(), impl->session->outputs(),
                        impl->session->model());
  }

  // If a file was truncated while it was read, any error is reported as an error of that file.
  template <class Open>
  static Session load(const Open& open_bytes, const LoadOptions& options) {
    try {
      return load_guarded(open_bytes, options);
    } catch (const Failure& failure) {
      if (failure.status() == Status::kCancelled) throw;
      if (const auto cut = take_file_fault()) throw Failure(Status::kIo, *cut);
      throw;
    }
  }

  template <class Open>
  static Session load_guarded(const Open& open_bytes, const LoadOptions& options) {
    return as_failures(Status::kBadModel, [&] {
      const ounce::CancellationScope reading(nullptr);  // throws if a file was truncated
      ModelBytes bytes = open_bytes();
      const Stopwatch time;
      if (options.shares_threads && !has_shared_threads)
        throw Failure(Status::kThreadsTaken,
                      "no shared threads: call share_threads() before the first model is loaded");
      auto impl = std::make_shared<Impl>();
      impl->bytes.emplace(std::move(bytes));
      check_digest(*impl->bytes, options.checks.digest);
      const std::string identity = impl->bytes->is_ort() ? "" : identity_or_nothing(*impl->bytes);
      if (!impl->bytes->is_ort())
        impl->facts.digest = identity.empty() ? hex(digest_of(impl->bytes->bytes())) : identity;
      open(*impl, identity, options);
      tell_stage(options, Stage::kCheck, 0);
      check_metadata(*impl->session, options.checks);
      if (const auto contract = impl->session->metadata(Contract::kMetadataKey))
        impl->contract = data::parse_contract(*contract, impl->session->model());
      impl->inputs = values_of(impl->session->inputs());
      impl->outputs = values_of(impl->session->outputs());
      impl->facts.runtime_version = impl->session->runtime_version();
      impl->facts.is_unpacked = impl->unpacked.has_value();
      check(impl, options);
      impl->facts.load_seconds = time.seconds();
      tell_stage(options, Stage::kCheck, 1);
      return Session(std::move(impl));
    });
  }
};

Session::Session(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
Session::~Session() = default;
Session Session::share() const { return Session(impl_); }
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

Session Session::load(const std::filesystem::path& model, const LoadOptions& options) {
  tell_stage(options, Stage::kOpen, 0);
  return Loader::load([&] { return ModelBytes::of_file(model); }, options);
}

Session Session::from_memory(std::span<const std::byte> model, const LoadOptions& options) {
  tell_stage(options, Stage::kOpen, 0);
  return Loader::load([&] { return ModelBytes::of_memory(model); }, options);
}

Session Session::from_descriptor(int descriptor, std::uint64_t offset, std::uint64_t length,
                                 const LoadOptions& options) {
  tell_stage(options, Stage::kOpen, 0);
  return Loader::load([&] { return ModelBytes::of_descriptor(descriptor, offset, length); }, options);
}

const std::vector<Value>& Session::inputs() const { return impl_->inputs; }
const std::vector<Value>& Session::outputs() const { return impl_->outputs; }
const Facts& Session::facts() const { return impl_->facts; }
std::optional<std::string> Session::metadata(const std::string& key) const {
  return impl_->session->metadata(key);
}

void share_threads(unsigned threads) {
  if (runtime::Library::share_threads(threads)) {
    has_shared_threads = true;
    return;
  }
  throw Failure(
      Status::kThreadsTaken,
      "threads cannot be shared any more: call share_threads() before the first model of the process is "
      "loaded, and always with the same number");
}

}  // namespace ounce::app
