#include "calibration/coverage.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <utility>

namespace ounce::calibration {

Coverage::Coverage(std::string data, std::uint64_t size, std::uint64_t begin, std::uint64_t end)
    : data_(std::move(data)), size_(size), begin_(begin), end_(end) {
  if (size > kMostSamples)
    throw Error(ErrorCode::kBadInput,
                fmt::format("covers data of {} samples, and {} are the most", size, kMostSamples));
  if (begin > end || end > size)
    throw Error(ErrorCode::kBadInput, "covers samples that its data does not have");
}

void Coverage::add(const SampleRun& run) {
  if (run.count == 0) return;
  if (run.step == 0 || run.first >= size_ || run.count - 1 > (size_ - 1 - run.first) / run.step)
    throw Error(ErrorCode::kBadInput, "covers samples that its data does not have");
  const std::uint64_t last = run.first + (run.count - 1) * run.step;
  if (seen_.size() <= last) seen_.resize(last + 1);
  for (std::uint64_t i = 0; i < run.count; ++i) {
    if (seen_[run.first + i * run.step])
      throw Error(ErrorCode::kBadInput, fmt::format("covers sample {} twice", run.first + i * run.step + 1));
    seen_[run.first + i * run.step] = true;
  }
}

void Coverage::add(const Coverage& other) {
  begin_ = std::min(begin_, other.begin_);
  end_ = std::max(end_, other.end_);
  if (seen_.size() < other.seen_.size()) seen_.resize(other.seen_.size());
  for (std::size_t i = 0; i < other.seen_.size(); ++i) {
    if (other.seen_[i]) seen_[i] = true;
  }
}

// As long as the distance stays the same, it is one run.
template <class IsWanted>
std::vector<SampleRun> Coverage::runs_of(const IsWanted& is_wanted) const {
  std::vector<SampleRun> runs;
  std::uint64_t last = 0;
  for (std::uint64_t i = 0; i < std::max<std::uint64_t>(seen_.size(), end_); ++i) {
    if (!is_wanted(i)) continue;
    if (!runs.empty() && runs.back().count == 1) runs.back().step = i - last;
    if (!runs.empty() && i - last == runs.back().step) {
      ++runs.back().count;
    } else {
      runs.push_back({i, 1, 1});
    }
    last = i;
  }
  if (!runs.empty() && runs.back().count == 1) runs.back().step = 1;
  return runs;
}

std::vector<SampleRun> Coverage::runs() const {
  return runs_of([&](std::uint64_t i) { return has(i); });
}

std::vector<SampleRun> Coverage::overlap(const Coverage& other) const {
  if (!is_of_same_data(other)) return {};
  return runs_of([&](std::uint64_t i) { return has(i) && other.has(i); });
}

std::vector<SampleRun> Coverage::missing() const {
  return runs_of([&](std::uint64_t i) { return i >= begin_ && i < end_ && !has(i); });
}

std::uint64_t count_of(const std::vector<SampleRun>& runs) {
  std::uint64_t count = 0;
  for (const SampleRun& run : runs) count += run.count;
  return count;
}

std::string text_of(const std::vector<SampleRun>& runs) {
  constexpr std::uint64_t kShown = 3;
  const std::uint64_t count = count_of(runs);
  std::string text = count == 1 ? "sample" : "samples";
  std::uint64_t shown = 0;
  for (const SampleRun& run : runs) {
    for (std::uint64_t i = 0; i < run.count && shown < kShown; ++i, ++shown)
      text += fmt::format("{} {}", shown == 0 ? "" : ",", run.first + i * run.step + 1);
  }
  return text + (count > kShown ? " …" : "");
}

}  // namespace ounce::calibration
