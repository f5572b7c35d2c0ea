// The C API (include/ounce/app.h): thin wrappers around include/ounce/app. No exception crosses it.
#include <ounce/app.h>
#include <ounce/app.hpp>
#include <ounce/error.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <variant>

using ounce::app::Call;
using ounce::app::Failure;
using ounce::app::Session;
using ounce::app::Shadow;
using ounce::app::ShadowCall;
using ounce::app::Status;
using ounce::app::Type;
using ounce::app::Value;

struct ounce_app_session {
  Session session;
};

// A plain call, or a call of a shadow deployment.
struct ounce_app_call {
  std::variant<Call, ShadowCall> either;

  ShadowCall* shadow() { return std::get_if<ShadowCall>(&either); }
  const ShadowCall* shadow() const { return std::get_if<ShadowCall>(&either); }
  // The call that owns the inputs and the shapes.
  Call& call() { return shadow() != nullptr ? shadow()->inputs() : std::get<Call>(either); }
  const Call& call() const { return const_cast<ounce_app_call*>(this)->call(); }
};

struct ounce_app_shadow {
  Shadow shadow;
};

namespace {

static_assert(OUNCE_APP_BFLOAT16 == static_cast<int>(Type::kBfloat16));
static_assert(OUNCE_APP_NV21 == static_cast<int>(ounce::app::PixelFormat::kNv21));
static_assert(OUNCE_APP_FLOAT64 == static_cast<int>(Type::kFloat64));
static_assert(OUNCE_APP_GOLDEN_MISMATCH == static_cast<int>(Status::kGoldenMismatch));
static_assert(OUNCE_APP_RUN_FAILED == static_cast<int>(Status::kRunFailed));

std::string& last_error() {
  static thread_local std::string text;
  return text;
}

int fail(Status status, const char* what) noexcept {
  try {
    last_error() = what;
  } catch (const std::exception&) {  // no memory for the message: only the status is returned
    last_error().clear();
  }
  return static_cast<int>(status);
}

template <class Action>
int guarded(Action&& action) noexcept {
  try {
    action();
    return OUNCE_APP_OK;
  } catch (const Failure& failure) {
    return fail(failure.status(), failure.what());
  } catch (const std::bad_alloc&) {
    return fail(Status::kMemory, "out of memory");
  } catch (const std::exception& error) {
    return fail(Status::kInternal, error.what());
  }
}

void require(bool holds, const char* what) {
  if (!holds) throw Failure(Status::kUsage, what);
}

std::string text_of(const char* text) { return text == nullptr ? std::string() : text; }
std::string_view view_of(const char* text) { return text == nullptr ? std::string_view() : text; }

// Copies the caller's struct, which may come from an older header: missing fields are 0.
template <class Struct>
Struct as_known(const Struct* given) {
  Struct known{};
  if (given == nullptr) return known;
  require(given->size != 0, "invalid struct: its field 'size' is 0; set it to the size of the struct");
  std::memcpy(&known, given, std::min(given->size, sizeof known));
  return known;
}

std::map<std::string, std::string> config_of(const char* const* entries) {
  std::map<std::string, std::string> config;
  for (; entries != nullptr && entries[0] != nullptr; entries += 2) {
    require(entries[1] != nullptr, "the array 'config' has a key without a value");
    config[entries[0]] = entries[1];
  }
  return config;
}

// Lends the call to the callback as a handle.
void fill_golden(const ounce_app_options& options, Call& call) {
  ounce_app_call borrowed{std::move(call)};
  const int gave_up = options.golden(options.user, &borrowed);
  call = std::move(std::get<Call>(borrowed.either));
  if (gave_up != 0)
    throw Failure(Status::kCancelled, "the golden callback did not fill in the golden sample");
}

ounce::app::LoadOptions load_options_of(const ounce_app_options* given) {
  const ounce_app_options known = as_known(given);
  ounce::app::LoadOptions made;
  made.library = text_of(known.library);
  made.threads = known.threads < 0 ? 0 : std::max(1U, static_cast<unsigned>(known.threads));
  made.shares_threads = known.shares_threads != 0;
  made.cache = text_of(known.cache);
  made.config = config_of(known.config);
  made.checks.is_ours = known.requires_ours != 0;
  made.checks.has_contract = known.requires_contract != 0;
  made.checks.digest = text_of(known.digest);
  made.checks.source = text_of(known.source);
  made.checks.runtime = known.ignores_runtime == 0;
  made.checks.cpu = known.ignores_cpu == 0;
  if (known.golden != nullptr) made.golden = [known](Call& call) { fill_golden(known, call); };
  if (known.progress != nullptr) {
    made.progress = [known](ounce::app::Stage stage, double share) {
      return known.progress(known.user, static_cast<int>(stage), share) == 0;
    };
  }
  return made;
}

ounce::app::CallOptions call_options_of(const ounce_app_call_options* given) {
  const ounce_app_call_options known = as_known(given);
  ounce::app::CallOptions made;
  if (known.batch != 0) made.batch = known.batch;
  for (size_t i = 0; i < known.axes_count; ++i) made.sizes[text_of(known.axes[i])] = known.sizes[i];
  if (known.skips_warm_up != 0) made.warm_up = 0;
  return made;
}

ounce::app::ShadowOptions shadow_options_of(const ounce_app_shadow_options* given) {
  const ounce_app_shadow_options known = as_known(given);
  ounce::app::ShadowOptions made;
  if (known.share != 0) made.share = known.share;
  if (known.queue != 0) made.queue = known.queue;
  made.statistics = text_of(known.statistics);
  if (known.save_seconds != 0) made.save_seconds = known.save_seconds;
  made.isolate = known.stays_in_process == 0;
  if (known.candidate_seconds != 0) made.candidate_seconds = known.candidate_seconds;
  made.load = load_options_of(known.load);
  if (known.min_compared != 0) made.limits.min_compared = known.min_compared;
  if (known.min_agreement != 0) made.limits.min_agreement = known.min_agreement;
  if (known.min_sqnr_db != 0) made.limits.min_sqnr_db = known.min_sqnr_db;
  if (known.max_failures != 0) made.limits.max_failures = known.max_failures;
  if (known.max_latency_ratio != 0) made.limits.max_latency_ratio = known.max_latency_ratio;
  if (known.on_alarm != nullptr) {
    made.on_alarm = [known](const ounce::app::ShadowVerdict& verdict) {
      std::string reasons;
      for (const std::string& reason : verdict.reasons) reasons += (reasons.empty() ? "" : "; ") + reason;
      known.on_alarm(known.user, reasons.c_str());
    };
  }
  if (known.canary_first != 0) {
    ounce::app::Canary& canary = made.canary.emplace();
    canary.first = known.canary_first;
    if (known.canary_last != 0) canary.last = known.canary_last;
    if (known.canary_growth != 0) canary.growth = known.canary_growth;
    if (known.canary_calls_a_step != 0) canary.calls_a_step = known.canary_calls_a_step;
  }
  return made;
}

constexpr std::chrono::hours kLongest(10'000);  // longer timeouts could overflow the clock

std::chrono::nanoseconds patience_of(int64_t nanoseconds) {
  return nanoseconds < 0 ? std::chrono::nanoseconds::max() : std::chrono::nanoseconds(nanoseconds);
}

template <class Load>
int open_session(ounce_app_session** session, Load&& load) noexcept {
  return guarded([&] {
    require(session != nullptr, "the argument 'session' is NULL");
    *session = nullptr;
    *session = new ounce_app_session{load()};
  });
}

void describe_value(const std::vector<Value>& values, size_t index, ounce_app_value* value) {
  require(index < values.size() && value != nullptr,
          "invalid value: the index is out of range, or 'value' is NULL");
  const Value& found = values[index];
  *value = {found.name.c_str(), static_cast<int>(found.type), found.shape.data(), found.shape.size()};
}

void put_text(const std::string& text, char* place, std::size_t room) {
  if (place == nullptr || room == 0) return;
  const std::size_t length = std::min(text.size(), room - 1);
  std::memcpy(place, text.data(), length);
  place[length] = '\0';
}

void put_shape(const ounce::app::Shape& found, const int64_t** shape, size_t* rank) {
  *shape = found.data();
  *rank = found.size();
}

}  // namespace

extern "C" {

uint32_t ounce_app_abi_version(void) { return OUNCE_APP_ABI_VERSION; }
const char* ounce_app_version(void) { return OUNCE_VERSION; }
const char* ounce_app_error(void) { return last_error().c_str(); }
const char* ounce_app_status_name(int status) { return ounce::name_of(static_cast<Status>(status)); }

void ounce_app_set_file_guard(int is_on) { ounce::set_file_guard(is_on != 0); }

int ounce_app_share_threads(unsigned threads) {
  return guarded([&] { ounce::app::share_threads(threads); });
}

int ounce_app_open(const char* model, const ounce_app_options* options, ounce_app_session** session) {
  return open_session(session, [&] {
    require(model != nullptr, "the argument 'model' is NULL");
    return Session::load(model, load_options_of(options));
  });
}

int ounce_app_open_memory(const void* model, size_t bytes, const ounce_app_options* options,
                          ounce_app_session** session) {
  return open_session(session, [&] {
    return Session::from_memory({static_cast<const std::byte*>(model), model == nullptr ? 0 : bytes},
                                load_options_of(options));
  });
}

int ounce_app_open_descriptor(int descriptor, uint64_t offset, uint64_t length,
                              const ounce_app_options* options, ounce_app_session** session) {
  return open_session(session, [&] {
    return Session::from_descriptor(descriptor, offset, length, load_options_of(options));
  });
}

void ounce_app_close(ounce_app_session* session) { delete session; }

size_t ounce_app_input_count(const ounce_app_session* session) { return session->session.inputs().size(); }
size_t ounce_app_output_count(const ounce_app_session* session) { return session->session.outputs().size(); }

int ounce_app_input(const ounce_app_session* session, size_t index, ounce_app_value* value) {
  return guarded([&] { describe_value(session->session.inputs(), index, value); });
}

int ounce_app_output(const ounce_app_session* session, size_t index, ounce_app_value* value) {
  return guarded([&] { describe_value(session->session.outputs(), index, value); });
}

int ounce_app_get_facts(const ounce_app_session* session, ounce_app_facts* facts) {
  return guarded([&] {
    require(facts != nullptr && facts->size != 0, "invalid argument 'facts': it is NULL, or its size is 0");
    const ounce::app::Facts& found = session->session.facts();
    const ounce_app_facts all{facts->size, found.runtime_version.c_str(), found.is_unpacked ? 1 : 0,
                              found.why_not_unpacked.c_str(), found.load_seconds};
    std::memcpy(facts, &all, std::min(facts->size, sizeof all));
  });
}

int ounce_app_metadata(const ounce_app_session* session, const char* key, char* text, size_t room,
                       size_t* bytes) {
  return guarded([&] {
    require(key != nullptr && bytes != nullptr, "the argument 'key' or 'bytes' is NULL");
    const auto found = session->session.metadata(key);
    *bytes = found ? found->size() + 1 : 0;
    put_text(found.value_or(""), text, room);
  });
}

int ounce_app_call_new(const ounce_app_session* session, const ounce_app_call_options* options,
                       ounce_app_call** call) {
  return guarded([&] {
    require(session != nullptr && call != nullptr, "the argument 'session' or 'call' is NULL");
    *call = nullptr;
    *call = new ounce_app_call{session->session.call(call_options_of(options))};
  });
}

void ounce_app_call_free(ounce_app_call* call) { delete call; }

int ounce_app_call_input(ounce_app_call* call, const char* name, int type, void** values, size_t* bytes) {
  return guarded([&] {
    const Call::Bytes found = call->call().input_bytes(view_of(name), static_cast<Type>(type));
    *values = found.data;
    *bytes = found.size;
  });
}

int ounce_app_call_output(const ounce_app_call* call, const char* name, int type, const void** values,
                          size_t* bytes) {
  return guarded([&] {
    const auto asked = static_cast<Type>(type);
    const Call::Bytes found = call->shadow() != nullptr ? call->shadow()->output_bytes(view_of(name), asked)
                                                        : call->call().output_bytes(view_of(name), asked);
    *values = found.data;
    *bytes = found.size;
  });
}

int ounce_app_call_input_shape(const ounce_app_call* call, const char* name, const int64_t** shape,
                               size_t* rank) {
  return guarded([&] { put_shape(call->call().input_shape(view_of(name)), shape, rank); });
}

int ounce_app_call_output_shape(const ounce_app_call* call, const char* name, const int64_t** shape,
                                size_t* rank) {
  return guarded([&] { put_shape(call->call().output_shape(view_of(name)), shape, rank); });
}

int ounce_app_call_run(ounce_app_call* call, int64_t timeout) {
  return guarded([&] {
    if (call->shadow() != nullptr) return call->shadow()->run(patience_of(timeout));
    call->call().run(patience_of(timeout));
  });
}

int ounce_app_call_set_image(ounce_app_call* call, const char* input, int64_t row,
                             const ounce_app_pixels* pixels) {
  return guarded([&] {
    require(pixels != nullptr, "the argument 'pixels' is NULL");
    const ounce_app_pixels known = as_known(pixels);
    require(known.format >= OUNCE_APP_RGBA && known.format <= OUNCE_APP_NV21, "invalid pixel format");
    call->call().set_image(
        {.format = static_cast<ounce::app::PixelFormat>(known.format),
         .width = known.width,
         .height = known.height,
         .planes = {known.planes[0], known.planes[1]},
         .strides = {known.strides[0], known.strides[1]},
         .rotation = known.rotation,
         .range = known.is_limited != 0 ? ounce::app::YuvRange::kLimited : ounce::app::YuvRange::kFull},
        view_of(input), row);
  });
}

int ounce_app_call_set_sound(ounce_app_call* call, const char* input, int64_t row,
                             const ounce_app_sound* sound) {
  return guarded([&] {
    require(sound != nullptr, "the argument 'sound' is NULL");
    const ounce_app_sound known = as_known(sound);
    ounce::app::Sound made;
    if (known.samples != nullptr) made.samples = {known.samples, known.count};
    if (known.floats != nullptr) made.floats = {known.floats, known.count};
    made.channels = known.channels == 0 ? 1 : known.channels;
    made.rate = known.rate;
    call->call().set_sound(made, view_of(input), row);
  });
}

void ounce_app_call_cancel(ounce_app_call* call) {
  if (call->shadow() != nullptr) return call->shadow()->cancel();
  call->call().cancel();
}

int ounce_app_shadow_new(const ounce_app_session* primary, const char* candidate,
                         const ounce_app_shadow_options* options, ounce_app_shadow** shadow) {
  return guarded([&] {
    require(primary != nullptr && candidate != nullptr && shadow != nullptr,
            "the argument 'primary', 'candidate' or 'shadow' is NULL");
    *shadow = nullptr;
    *shadow = new ounce_app_shadow{Shadow(primary->session.share(), candidate, shadow_options_of(options))};
  });
}

void ounce_app_shadow_free(ounce_app_shadow* shadow) { delete shadow; }

int ounce_app_shadow_call_new(ounce_app_shadow* shadow, const ounce_app_call_options* options,
                              ounce_app_call** call) {
  return guarded([&] {
    require(shadow != nullptr && call != nullptr, "the argument 'shadow' or 'call' is NULL");
    *call = nullptr;
    *call = new ounce_app_call{shadow->shadow.call(call_options_of(options))};
  });
}

int ounce_app_call_was_canary(const ounce_app_call* call) {
  return call->shadow() != nullptr && call->shadow()->was_canary() ? 1 : 0;
}

int ounce_app_shadow_get_figures(const ounce_app_shadow* shadow, ounce_app_shadow_figures* figures) {
  return guarded([&] {
    require(figures != nullptr && figures->size != 0,
            "invalid argument 'figures': it is NULL, or its size is 0");
    const ounce::app::ShadowStatistics found = shadow->shadow.statistics();
    const ounce_app_shadow_figures all{figures->size,     found.calls,        found.compared,
                                       found.dropped,     found.errors,       found.crashes,
                                       found.timeouts,    found.not_finite,   found.agreement(),
                                       found.sqnr_db(),   found.canary_calls, found.canary_fallbacks,
                                       found.canary_share};
    std::memcpy(figures, &all, std::min(figures->size, sizeof all));
  });
}

int ounce_app_shadow_flush(ounce_app_shadow* shadow, int64_t timeout) {
  return guarded([&] {
    if (!shadow->shadow.flush(std::min<std::chrono::nanoseconds>(patience_of(timeout), kLongest)))
      throw Failure(Status::kTimeout, "timeout: some calls still wait for comparison");
  });
}

int ounce_app_unpack(const char* model, const char* cache, const ounce_app_options* options,
                     ounce_app_unpacked* unpacked) {
  return guarded([&] {
    require(model != nullptr && cache != nullptr, "the argument 'model' or 'cache' is NULL");
    require(unpacked == nullptr || unpacked->size >= sizeof *unpacked,
            "invalid argument 'unpacked': its field 'size' is too small");
    const ounce::app::LoadOptions given = load_options_of(options);
    ounce::app::UnpackOptions made;
    made.library = given.library;
    made.config = given.config;
    if (given.progress)
      made.progress = [&](double share) { return given.progress(ounce::app::Stage::kUnpack, share); };
    const ounce::app::Unpacked found = ounce::app::unpack(model, cache, made);
    if (unpacked == nullptr) return;
    unpacked->is_unpacked = found.file.empty() ? 0 : 1;
    unpacked->is_new = found.is_new ? 1 : 0;
    unpacked->bytes = found.bytes;
    put_text(found.file.string(), unpacked->file, sizeof unpacked->file);
    put_text(found.why_not, unpacked->why_not, sizeof unpacked->why_not);
  });
}

size_t ounce_app_evict(const char* cache, uint64_t max_bytes) {
  size_t gone = 0;
  guarded([&] { gone = ounce::app::evict(text_of(cache), max_bytes); });
  return gone;
}

}  // extern "C"
