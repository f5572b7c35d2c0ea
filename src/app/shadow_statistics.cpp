// Adds up, judges, and stores as JSON the statistics of a shadow deployment (docs/reference/app.md).
#include <fmt/format.h>
#include <ounce/app.hpp>

#include <nlohmann/json.hpp>
#include <algorithm>
#include <cmath>
#include <limits>

#include "app/load_checks.h"
#include "base/json_text.h"
#include "io/mapped_file.h"
#include "io/output_file.h"

namespace ounce::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "ounce.shadow";
constexpr int kShadowVersion = 1;
constexpr double kShortest = 1e-7, kBucketsInADoubling = 8;
constexpr JsonLimits kShadowLimits{.depth = 6};
constexpr double kInfinite = std::numeric_limits<double>::infinity();

// Accepts 12, but not 12.0 or -12.
std::uint64_t count_in(const Json& made) {
  if (!made.is_number_unsigned()) throw Json::other_error::create(501, "not a count", &made);
  return made.get<std::uint64_t>();
}

// Visits each count with its JSON key, for writing, reading and adding.
template <class Statistics, class Each>
void each_count(Statistics& statistics, const Each& each) {
  each("calls", statistics.calls);
  each("compared", statistics.compared);
  each("dropped", statistics.dropped);
  each("errors", statistics.errors);
  each("crashes", statistics.crashes);
  each("timeouts", statistics.timeouts);
  each("not_finite", statistics.not_finite);
  each("canary_calls", statistics.canary_calls);
  each("canary_fallbacks", statistics.canary_fallbacks);
  each("devices", statistics.devices);
}

Json latencies_json(const Latencies& latencies) {
  Json made = Json::array();
  for (std::size_t i = 0; i < Latencies::kBuckets; ++i) {
    if (latencies.buckets()[i] != 0) made.push_back({i, latencies.buckets()[i]});
  }
  return made;
}

Latencies latencies_from(const Json& made) {
  Latencies latencies;
  for (const Json& bucket : made) {
    const std::uint64_t index = count_in(bucket.at(0));
    if (index >= Latencies::kBuckets) throw Json::other_error::create(501, "no such bucket", &made);
    latencies.set(index, count_in(bucket.at(1)));
  }
  return latencies;
}

ShadowStatistics statistics_from(const Json& made) {
  if (made.at("format") != kFormat || made.at("version") != kShadowVersion)
    throw Json::other_error::create(501, "another format", &made);
  ShadowStatistics statistics;
  statistics.primary = made.at("primary").get<std::string>();
  statistics.candidate = made.at("candidate").get<std::string>();
  each_count(statistics, [&](const char* key, std::uint64_t& count) { count = count_in(made.at(key)); });
  statistics.canary_share = made.at("canary_share").get<double>();
  statistics.canary_stopped = made.at("canary_stopped").get<std::string>();
  for (const auto& [name, output] : made.at("outputs").items()) {
    ShadowOutput& read = statistics.outputs[name];
    read.values = count_in(output.at("values"));
    read.signal = output.at("signal").get<double>();
    read.noise = output.at("noise").get<double>();
    read.largest = output.at("largest").get<double>();
    read.answers = count_in(output.at("answers"));
    read.flips = count_in(output.at("flips"));
  }
  statistics.primary_latency = latencies_from(made.at("primary_latency"));
  statistics.candidate_latency = latencies_from(made.at("candidate_latency"));
  return statistics;
}

}  // namespace

void Latencies::add(double seconds) {
  const double bucket = std::log2(std::max(seconds, kShortest) / kShortest) * kBucketsInADoubling;
  ++buckets_[static_cast<std::size_t>(std::clamp(bucket, 0.0, static_cast<double>(kBuckets - 1)))];
}

void Latencies::add(const Latencies& other) {
  for (std::size_t i = 0; i < kBuckets; ++i) buckets_[i] += other.buckets_[i];
}

std::uint64_t Latencies::count() const {
  std::uint64_t all = 0;
  for (const std::uint64_t bucket : buckets_) all += bucket;
  return all;
}

double Latencies::quantile(double share) const {
  const double wanted = share * static_cast<double>(count());
  double passed = 0;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    if (buckets_[i] == 0) continue;
    passed += static_cast<double>(buckets_[i]);
    // The middle of the bucket.
    if (passed >= wanted) return kShortest * std::exp2((static_cast<double>(i) + 0.5) / kBucketsInADoubling);
  }
  return 0;
}

double ShadowOutput::sqnr_db() const {
  if (noise == 0) return kInfinite;
  return signal == 0 ? -kInfinite : 10 * std::log10(signal / noise);
}

std::uint64_t ShadowStatistics::answers() const {
  std::uint64_t all = 0;
  for (const auto& [name, output] : outputs) all += output.answers;
  return all;
}

std::uint64_t ShadowStatistics::flips() const {
  std::uint64_t all = 0;
  for (const auto& [name, output] : outputs) all += output.flips;
  return all;
}

double ShadowStatistics::agreement() const {
  return answers() == 0 ? 1 : 1 - static_cast<double>(flips()) / static_cast<double>(answers());
}

double ShadowStatistics::sqnr_db() const {
  double worst = kInfinite;
  for (const auto& [name, output] : outputs) worst = std::min(worst, output.sqnr_db());
  return worst;
}

void merge(ShadowStatistics& all, const ShadowStatistics& other) {
  if (all.primary != other.primary || all.candidate != other.candidate)
    throw Failure(
        Status::kUsage,
        fmt::format(
            "statistics of different models cannot be merged (candidate {}, primary {}; so far candidate {}, "
            "primary {})",
            other.candidate, other.primary, all.candidate, all.primary));
  std::vector<std::uint64_t> counts;
  each_count(other, [&](const char*, const std::uint64_t& count) { counts.push_back(count); });
  std::size_t next = 0;
  each_count(all, [&](const char*, std::uint64_t& count) { count += counts[next++]; });
  all.canary_share = std::min(all.canary_share, other.canary_share);
  if (all.canary_stopped.empty()) all.canary_stopped = other.canary_stopped;
  for (const auto& [name, output] : other.outputs) {
    ShadowOutput& sum = all.outputs[name];
    sum.values += output.values;
    sum.signal += output.signal;
    sum.noise += output.noise;
    sum.largest = std::max(sum.largest, output.largest);
    sum.answers += output.answers;
    sum.flips += output.flips;
  }
  all.primary_latency.add(other.primary_latency);
  all.candidate_latency.add(other.candidate_latency);
}

ShadowVerdict judge(const ShadowStatistics& statistics, const ShadowLimits& limits) {
  ShadowVerdict verdict;
  const std::uint64_t tried = statistics.compared + statistics.failures() + statistics.canary_calls;
  verdict.is_known = tried >= limits.min_compared && tried != 0;
  if (!verdict.is_known) {
    verdict.reasons.push_back(
        fmt::format("only {} calls were compared; at least {} are required", tried, limits.min_compared));
    return verdict;
  }
  const auto require = [&](bool holds, std::string reason) {
    if (!holds) verdict.reasons.push_back(std::move(reason));
  };
  require(
      statistics.agreement() >= limits.min_agreement,
      fmt::format("{} of {} predictions changed: agreement {:.4f}, at least {:.4f} required",
                  statistics.flips(), statistics.answers(), statistics.agreement(), limits.min_agreement));
  if (limits.min_sqnr_db)
    require(statistics.sqnr_db() >= *limits.min_sqnr_db,
            fmt::format("the worst output has {:.1f} dB SQNR, at least {:.1f} dB required",
                        statistics.sqnr_db(), *limits.min_sqnr_db));
  const double failed = static_cast<double>(statistics.failures()) / static_cast<double>(tried);
  require(
      failed <= limits.max_failures,
      fmt::format("the candidate failed in {} of {} calls: {} errors, {} crashes, {} timeouts, {} not finite",
                  statistics.failures(), tried, statistics.errors, statistics.crashes, statistics.timeouts,
                  statistics.not_finite));
  const double primary = statistics.primary_latency.quantile(0.5),
               candidate = statistics.candidate_latency.quantile(0.5);
  if (limits.max_latency_ratio && primary > 0)
    require(candidate <= *limits.max_latency_ratio * primary,
            fmt::format("the candidate takes {:.2f}× the primary's time, at most {:.2f}× allowed",
                        candidate / primary, *limits.max_latency_ratio));
  verdict.passed = verdict.reasons.empty();
  return verdict;
}

ShadowStatistics read_shadow(const std::filesystem::path& path) {
  const io::MappedFile file = as_failures(Status::kIo, [&] { return io::MappedFile::open(path); });
  return as_failures(Status::kUsage, [&] {
    const Json made = parse_json<Json>(file.bytes(), kShadowLimits, path.string());
    try {
      return statistics_from(made);
    } catch (const Json::exception&) {
      throw Failure(Status::kUsage, "not a file of shadow statistics, or written by a newer Ounce",
                    path.string());
    }
  });
}

void write_shadow(const ShadowStatistics& statistics, const std::filesystem::path& path) {
  Json made;
  made["format"] = kFormat;
  made["version"] = kShadowVersion;
  made["primary"] = statistics.primary;
  made["candidate"] = statistics.candidate;
  each_count(statistics, [&](const char* key, const std::uint64_t& count) { made[key] = count; });
  made["canary_share"] = statistics.canary_share;
  made["canary_stopped"] = statistics.canary_stopped;
  made["outputs"] = Json::object();
  for (const auto& [name, output] : statistics.outputs) {
    made["outputs"][name] = {{"values", output.values},   {"signal", output.signal},
                             {"noise", output.noise},     {"largest", output.largest},
                             {"answers", output.answers}, {"flips", output.flips}};
  }
  made["primary_latency"] = latencies_json(statistics.primary_latency);
  made["candidate_latency"] = latencies_json(statistics.candidate_latency);
  const std::string text = json_text(made, 1) + "\n";
  as_failures(Status::kIo, [&] {
    io::OutputFile file(path, text.size());
    file.write(0, text);
    file.commit();
  });
}

}  // namespace ounce::app
