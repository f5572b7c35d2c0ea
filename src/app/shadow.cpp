#include <ounce/app.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/load_checks.h"
#include "app/model_bytes.h"
#include "app/shadow.h"
#include "base/digest.h"
#include "base/machine.h"

namespace ounce::app {
namespace {

// After kPatience failures in a row the candidate is paused for one compared call. Each further failure
// doubles the pause, at most kLongestRest times.
constexpr std::uint64_t kPatience = 3;
constexpr unsigned kLongestRest = 10;
constexpr double kGoldenRatio = 0.6180339887498949;

// Selects a share of the call numbers, evenly spread (golden ratio sequence) and reproducible in tests.
bool is_chosen(std::uint64_t number, double share) {
  if (share >= 1) return true;
  const double place = static_cast<double>(number) * kGoldenRatio;
  return place - std::floor(place) < share;
}

void copy_into(std::vector<data::Tensor>& place, std::span<const data::TensorView> tensors) {
  place.resize(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    place[i].type = tensors[i].type;
    place[i].dims = tensors[i].dims;
    place[i].bytes.assign(tensors[i].bytes);
  }
}

ShadowStatistics taken_up(const ShadowOptions& options, const ShadowStatistics& fresh) {
  if (options.statistics.empty() || !std::filesystem::exists(options.statistics)) return fresh;
  ShadowStatistics before = read_shadow(options.statistics);
  if (before.primary != fresh.primary || before.candidate != fresh.candidate) {
    throw Failure(Status::kUsage,
                  "the file has statistics of other models: give this pair its own statistics file",
                  options.statistics.string());
  }
  return before;
}

}  // namespace

std::vector<std::size_t> order_by_name(const std::vector<data::ValueDescription>& wanted,
                                       const std::vector<data::ValueDescription>& has) {
  std::vector<std::size_t> order;
  for (const data::ValueDescription& value : wanted) {
    const auto found = std::find_if(has.begin(), has.end(), [&](const data::ValueDescription& other) {
      return other.name == value.name && other.element == value.element;
    });
    if (found == has.end())
      throw Error(ErrorCode::kBadInput,
                  fmt::format("the candidate has no input or output '{}' of the same type", value.name));
    order.push_back(static_cast<std::size_t>(found - has.begin()));
  }
  return order;
}

Shadow::Impl::Impl(Session session, MakeCandidate make, std::string primary_digest,
                   std::string candidate_digest, const ShadowOptions& given, bool isolated)
    : primary(std::move(session)), make_candidate(std::move(make)), options(given) {
  ShadowStatistics fresh;
  fresh.primary = std::move(primary_digest);
  fresh.candidate = std::move(candidate_digest);
  statistics = taken_up(options, fresh);
  calls = statistics.calls;
  if (options.canary && statistics.canary_stopped.empty()) {
    if (options.isolate && !isolated) {
      statistics.canary_stopped =
          "ounce-runner was not found: without it a crash of the candidate would end the app";
    } else {
      canary_share = statistics.canary_share > 0 ? statistics.canary_share : options.canary->first;
      statistics.canary_share = canary_share;
    }
  }
  slots.resize(std::max<std::size_t>(options.queue, 1));
  waiting.reserve(slots.size());
  for (std::size_t i = slots.size(); i > 0; --i) free.push_back(i - 1);
  thread = std::thread([this] { work(); });
}

Shadow::Impl::~Impl() {
  {
    const std::lock_guard lock(mutex);
    ends = true;
  }
  changed.notify_all();
  thread.join();
  save(true);
}

void Shadow::Impl::offer(const Call::Impl& call, double seconds) {
  const bool is_sampled = is_chosen(calls.load(std::memory_order_relaxed), options.share);
  std::size_t slot = 0;
  {
    const std::lock_guard lock(mutex);
    ++statistics.calls;
    statistics.primary_latency.add(seconds);
    if (!is_sampled) return;
    if (free.empty()) {
      ++statistics.dropped;
      return;
    }
    slot = free.back();
    free.pop_back();
  }
  try {
    copy_into(slots[slot].inputs, call.inputs);
    copy_into(slots[slot].outputs, call.outputs);
  } catch (const std::bad_alloc&) {  // the primary's outputs are complete; only the comparison is lost
    const std::lock_guard lock(mutex);
    free.push_back(slot);
    ++statistics.dropped;
    return;
  }
  {
    const std::lock_guard lock(mutex);
    waiting.push_back(slot);
  }
  changed.notify_one();
}

void Shadow::Impl::work() {
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait(lock, [&] { return ends || !waiting.empty(); });
    if (ends) return;
    const std::size_t slot = waiting.front();
    waiting.erase(waiting.begin());
    is_busy = true;
    if (to_rest > 0) {
      --to_rest;
      ++statistics.dropped;
    } else {
      lock.unlock();
      compare(slots[slot]);
      check_limits();
      save(false);
      lock.lock();
    }
    free.push_back(slot);
    is_busy = false;
    changed.notify_all();  // for flush()
  }
}

void Shadow::Impl::count_failure(CandidateFault fault, bool is_finite_answer) {
  if (!is_finite_answer) {
    ++statistics.not_finite;
  } else if (fault == CandidateFault::kTimeout) {
    ++statistics.timeouts;
  } else if (fault == CandidateFault::kCrash) {
    ++statistics.crashes;
  } else {
    ++statistics.errors;
  }
}

// Failures of the candidate are counted, never thrown.
void Shadow::Impl::compare(const WaitingCall& call) {
  CandidateFault fault = CandidateFault::kNone;
  bool are_numbers = true;
  double seconds = 0;
  std::map<std::string, ShadowOutput> sums;
  try {
    if (!candidate) candidate = make_candidate();
    const std::vector<std::size_t> inputs_order =
        order_by_name(candidate->inputs(), primary.impl_->session->inputs());
    std::vector<data::TensorView> inputs;
    for (const std::size_t input : inputs_order) inputs.emplace_back(call.inputs[input]);
    const Stopwatch time;
    const auto outputs = candidate->run(inputs);
    seconds = time.seconds();
    const auto& names = primary.impl_->session->outputs();
    const std::vector<std::size_t> order = order_by_name(names, candidate->outputs());
    for (std::size_t i = 0; i < names.size(); ++i) {
      const data::TensorView& other = outputs[order[i]];
      if (other.type != call.outputs[i].type || other.dims != call.outputs[i].dims)
        throw Error(ErrorCode::kBadInput, "the candidate's output shapes differ");
      are_numbers = are_numbers && add_comparison(names[i], call.outputs[i], other, sums[names[i].name]);
    }
  } catch (const Error& error) {
    if (candidate) {
      fault = candidate->fault_of(error);
    } else {
      fault = error.code() == ErrorCode::kTimeout ? CandidateFault::kTimeout : CandidateFault::kError;
    }
  } catch (const std::exception&) {
    fault = CandidateFault::kError;
  }
  const bool went_well = fault == CandidateFault::kNone && are_numbers;
  failures_in_a_row = went_well ? 0 : failures_in_a_row + 1;
  const std::lock_guard lock(mutex);
  if (!went_well) {
    count_failure(fault, are_numbers);
    if (failures_in_a_row >= kPatience)
      to_rest = std::uint64_t{1} << std::min<std::uint64_t>(failures_in_a_row - kPatience, kLongestRest);
    return;
  }
  ++statistics.compared;
  statistics.candidate_latency.add(seconds);
  for (const auto& [name, output] : sums) {
    ShadowOutput& sum = statistics.outputs[name];
    sum.values += output.values;
    sum.signal += output.signal;
    sum.noise += output.noise;
    sum.largest = std::max(sum.largest, output.largest);
    sum.answers += output.answers;
    sum.flips += output.flips;
  }
}

void Shadow::Impl::check_limits() {
  ShadowVerdict verdict;
  {
    const std::lock_guard lock(mutex);
    if (has_alarmed) return;
    verdict = judge(statistics, options.limits);
    if (!verdict.is_known || verdict.passed) return;
    has_alarmed = true;
  }
  canary_failed(verdict.reasons.front());
  if (options.on_alarm) options.on_alarm(verdict);
}

bool Shadow::Impl::is_for_canary(std::uint64_t number) const {
  const double share = canary_share.load(std::memory_order_relaxed);
  return share > 0 && is_chosen(number, share);
}

void Shadow::Impl::canary_answered(double seconds) {
  const std::lock_guard lock(mutex);
  ++statistics.calls;
  ++statistics.canary_calls;
  statistics.candidate_latency.add(seconds);
  if (++canary_good < options.canary->calls_a_step || !statistics.canary_stopped.empty()) return;
  canary_good = 0;
  canary_share = std::min(options.canary->last, canary_share * options.canary->growth);
  statistics.canary_share = canary_share;
}

void Shadow::Impl::canary_failed(const std::string& reason) {
  const std::lock_guard lock(mutex);
  canary_share = 0;
  statistics.canary_share = 0;
  if (options.canary && statistics.canary_stopped.empty()) statistics.canary_stopped = reason;
}

void Shadow::Impl::save(bool at_once) {
  if (options.statistics.empty()) return;
  const auto now = std::chrono::steady_clock::now();
  if (!at_once && now - saved_at < std::chrono::duration<double>(options.save_seconds)) return;
  saved_at = now;
  ShadowStatistics copy;
  {
    const std::lock_guard lock(mutex);
    copy = statistics;
  }
  try {
    write_shadow(copy, options.statistics);
  } catch (const std::exception&) {  // for example a full disk: the next save tries again
  }
}

Shadow::Shadow(Session primary, const std::filesystem::path& candidate, const ShadowOptions& options) {
  const ModelBytes bytes = ModelBytes::of_file(candidate);
  std::string digest = identity_or_nothing(bytes);
  if (digest.empty()) digest = hex(digest_of(bytes.bytes()));
  const bool isolated = options.isolate && can_isolate();
  std::string primary_digest = primary.facts().digest;
  impl_ = std::make_shared<Impl>(std::move(primary),
                                 candidate_of(candidate, options.load, isolated, options.candidate_seconds),
                                 std::move(primary_digest), digest, options, isolated);
}

Shadow::Shadow(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Shadow::~Shadow() = default;
Shadow::Shadow(Shadow&&) noexcept = default;
Shadow& Shadow::operator=(Shadow&&) noexcept = default;

ShadowStatistics Shadow::statistics() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->statistics;
}

bool Shadow::flush(std::chrono::nanoseconds patience) {
  {
    std::unique_lock lock(impl_->mutex);
    if (!impl_->changed.wait_for(lock, patience, [&] { return impl_->waiting.empty() && !impl_->is_busy; }))
      return false;
  }
  impl_->save(true);
  return true;
}

ShadowCall Shadow::call(const CallOptions& options) {
  auto impl = std::make_unique<ShadowCall::Impl>(
      ShadowCall::Impl{impl_, impl_->primary.call(options), nullptr, {}, false});
  if (impl_->canary_share.load() > 0) {
    try {
      impl->canary = impl_->make_candidate();
    } catch (const std::exception& error) {
      impl_->canary_failed(error.what());
    }
  }
  return ShadowCall(std::move(impl));
}

ShadowCall::ShadowCall(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ShadowCall::~ShadowCall() = default;
ShadowCall::ShadowCall(ShadowCall&&) noexcept = default;
ShadowCall& ShadowCall::operator=(ShadowCall&&) noexcept = default;

Call& ShadowCall::inputs() { return impl_->call; }
bool ShadowCall::was_canary() const { return impl_->was_canary; }
void ShadowCall::cancel() noexcept { impl_->call.cancel(); }

bool ShadowCall::answer_by_canary() noexcept {
  Impl& impl = *impl_;
  Shadow::Impl& shadow = *impl.shadow;
  bool are_numbers = true;
  try {
    const auto& model = *shadow.primary.impl_;
    std::vector<data::TensorView> inputs;
    for (const std::size_t input : order_by_name(impl.canary->inputs(), model.session->inputs()))
      inputs.push_back(impl.call.impl_->inputs[input]);
    const Stopwatch time;
    const auto outputs = impl.canary->run(inputs);
    const double seconds = time.seconds();
    const auto& names = model.session->outputs();
    const std::vector<std::size_t> order = order_by_name(names, impl.canary->outputs());
    impl.answer.resize(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      are_numbers = is_finite(outputs[order[i]]);
      if (!are_numbers)
        throw Error(ErrorCode::kBadInput,
                    fmt::format("the candidate's output '{}' has NaN or infinity", names[i].name));
      impl.answer[i].assign(outputs[order[i]].bytes);
    }
    shadow.canary_answered(seconds);
    return true;
  } catch (const std::exception& error) {
    const auto* known = dynamic_cast<const Error*>(&error);
    {
      const std::lock_guard lock(shadow.mutex);
      ++shadow.statistics.canary_fallbacks;
      shadow.count_failure(known == nullptr ? CandidateFault::kError : impl.canary->fault_of(*known),
                           are_numbers);
    }
    shadow.canary_failed(error.what());
    impl.canary.reset();
    return false;
  }
}

void ShadowCall::run(std::chrono::nanoseconds timeout) {
  Impl& impl = *impl_;
  Shadow::Impl& shadow = *impl.shadow;
  const std::uint64_t number = shadow.calls.fetch_add(1, std::memory_order_relaxed);
  impl.was_canary = impl.canary && shadow.is_for_canary(number) && answer_by_canary();
  if (impl.was_canary) return;
  const Stopwatch time;
  impl.call.run(timeout);
  shadow.offer(*impl.call.impl_, time.seconds());
}

Call::Bytes ShadowCall::output_bytes(std::string_view name, Type type) const {
  if (!impl_->was_canary) return impl_->call.output_bytes(name, type);
  const std::size_t index = impl_->call.output_index(name, type);
  std::string& bytes = impl_->answer[index];
  return {reinterpret_cast<std::byte*>(bytes.data()), bytes.size()};
}

}  // namespace ounce::app
