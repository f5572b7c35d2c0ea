// Measures the speed of the kernels in GB/s of source data (and ns per element), and relative to the scalar
// reference. Each kernel runs on data that fits into the cache, and on data that does not, which shows the
// memory bandwidth.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "support/kernel_reference.h"

namespace {

namespace k = ounce::kernels;
namespace ref = ounce::kernels::ref;

constexpr std::size_t kCached = std::size_t{1} << 16;    // elements: 256 KiB
constexpr std::size_t kStreamed = std::size_t{1} << 25;  // 128 MiB
constexpr std::size_t kPlain = std::size_t{1} << 22;     // the reference is too slow for more than 16 MiB

struct Buffers {
  explicit Buffers(std::size_t n)
      : weights(n), floats(n), codes(n), packed(n), halves(n), affine(n / 8), ranges(n) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal(0.0F, 0.05F);
    std::vector<float> pattern(std::min<std::size_t>(n, kCached));
    for (float& value : pattern) value = normal(random);
    for (std::size_t i = 0; i < n; i += pattern.size())
      std::copy(pattern.begin(), pattern.end(), &weights[i]);
    for (std::size_t i = 0; i < affine.size(); ++i) {
      const float scale = 0.0016F * (1.0F - 0.02F * static_cast<float>(i % 8));
      affine[i] = {scale, 1.0F / scale, 0.0F};
    }
    error.resize(n / 8);
  }
  const std::byte* x() const { return reinterpret_cast<const std::byte*>(weights.data()); }

  std::vector<float> weights, floats;
  std::vector<std::uint8_t> codes, packed;
  std::vector<std::uint16_t> halves;
  std::vector<k::Affine> affine;
  std::vector<k::Range> ranges;
  std::vector<double> error;
};

Buffers& buffers() {
  static Buffers all(kStreamed);
  return all;
}

using Work = std::function<void(Buffers&, std::size_t)>;

double seconds(const Work& work, std::size_t n) {
  const auto start = std::chrono::steady_clock::now();
  work(buffers(), n);
  benchmark::ClobberMemory();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double reference_seconds_per_element(const Work& work, std::size_t n) {
  const std::size_t elements = std::min(n, kPlain);
  const double best = std::min(seconds(work, elements), seconds(work, elements));
  return best / static_cast<double>(elements);
}

void add(const std::string& name, std::size_t bytes, const Work& kernel, const Work& reference) {
  for (const std::size_t n : {kCached, kStreamed}) {
    const auto run = [=](benchmark::State& state) {
      const double plain = reference_seconds_per_element(reference, n);
      double best = seconds(kernel, n);
      for ([[maybe_unused]] const auto _ : state) {
        const double time = seconds(kernel, n);
        best = std::min(best, time);
        state.SetIterationTime(time);
      }
      const auto elements = static_cast<double>(n);
      state.counters["GB/s"] = elements * static_cast<double>(bytes) / best * 1e-9;
      state.counters["ns/element"] = best / elements * 1e9;
      state.counters["times_reference"] = plain * elements / best;
    };
    const std::string label = name + (n == kCached ? "/cached" : "/streamed");
    benchmark::RegisterBenchmark(label.c_str(), run)
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond)
        ->MinTime(0.1);
  }
}

constexpr std::size_t kCols = 1024;
constexpr k::CodeRange kInt8{-127, 127};
constexpr k::Affine kNoClip{0.01F, 100.0F, 0.0F};

void add_range_and_norms() {
  add(
      "range_of_run", 4, [](Buffers& b, std::size_t n) { k::range_of_runs(b.x(), 1, n, b.ranges.data()); },
      [](Buffers& b, std::size_t n) { ref::range_of_runs(b.x(), 1, n, b.ranges.data()); });
  add(
      "range_of_runs_of_9", 4,
      [](Buffers& b, std::size_t n) { k::range_of_runs(b.x(), n / 9, 9, b.ranges.data()); },
      [](Buffers& b, std::size_t n) { ref::range_of_runs(b.x(), n / 9, 9, b.ranges.data()); });
  add(
      "range_of_columns", 4,
      [](Buffers& b, std::size_t n) { k::range_of_columns(b.x(), n / kCols, kCols, kCols, b.ranges.data()); },
      [](Buffers& b, std::size_t n) {
        ref::range_of_columns(b.x(), n / kCols, kCols, kCols, b.ranges.data());
      });
  add(
      "error_norms", 8,
      [](Buffers& b, std::size_t n) {
        k::ErrorNorms norms;
        k::error_norms(b.x(), b.floats.data(), n, norms);
        benchmark::DoNotOptimize(norms);
      },
      [](Buffers& b, std::size_t n) {
        k::ErrorNorms norms;
        ref::error_norms(b.x(), b.floats.data(), n, norms);
        benchmark::DoNotOptimize(norms);
      });
}

void add_quantize() {
  add(
      "quantize_run", 4,
      [](Buffers& b, std::size_t n) {
        k::quantize_runs(b.x(), 1, n, b.affine.data(), kInt8, b.codes.data());
      },
      [](Buffers& b, std::size_t n) {
        ref::quantize_runs(b.x(), 1, n, b.affine.data(), kInt8, b.codes.data());
      });
  for (const std::size_t run : {std::size_t{9}, std::size_t{32}}) {
    add(
        "quantize_runs_of_" + std::to_string(run), 4,
        [=](Buffers& b, std::size_t n) {
          k::quantize_runs(b.x(), n / run, run, b.affine.data(), kInt8, b.codes.data());
        },
        [=](Buffers& b, std::size_t n) {
          ref::quantize_runs(b.x(), n / run, run, b.affine.data(), kInt8, b.codes.data());
        });
  }
  add(
      "quantize_columns", 4,
      [](Buffers& b, std::size_t n) {
        k::quantize_columns(b.x(), n / kCols, kCols, kCols, b.affine.data(), kInt8, b.codes.data());
      },
      [](Buffers& b, std::size_t n) {
        ref::quantize_columns(b.x(), n / kCols, kCols, kCols, b.affine.data(), kInt8, b.codes.data());
      });
  add(
      "decode_run", 1,
      [](Buffers& b, std::size_t n) {
        k::decode_runs(b.codes.data(), 1, n, b.affine.data(), k::CodeSign::kSigned, b.floats.data());
      },
      [](Buffers& b, std::size_t n) {
        ref::decode_runs(b.codes.data(), 1, n, b.affine.data(), k::CodeSign::kSigned, b.floats.data());
      });
  add(
      "decode_columns", 1,
      [](Buffers& b, std::size_t n) {
        k::decode_columns(b.codes.data(), n / kCols, kCols, b.affine.data(), k::CodeSign::kSigned,
                          b.floats.data());
      },
      [](Buffers& b, std::size_t n) {
        ref::decode_columns(b.codes.data(), n / kCols, kCols, b.affine.data(), k::CodeSign::kSigned,
                            b.floats.data());
      });
}

void add_squared_error() {
  static const std::vector<k::Affine> no_clip(8, kNoClip);
  for (const std::size_t count : {std::size_t{1}, std::size_t{8}}) {
    const std::string suffix = "_x" + std::to_string(count);
    add(
        "squared_error_run_clipping" + suffix, 4,
        [=](Buffers& b, std::size_t n) {
          k::squared_error_runs(b.x(), 1, n, b.affine.data(), count, {-7, 7}, b.error.data());
        },
        [=](Buffers& b, std::size_t n) {
          ref::squared_error_runs(b.x(), 1, n, b.affine.data(), count, {-7, 7}, b.error.data());
        });
    add(
        "squared_error_run" + suffix, 4,
        [=](Buffers& b, std::size_t n) {
          k::squared_error_runs(b.x(), 1, n, no_clip.data(), count, kInt8, b.error.data());
        },
        [=](Buffers& b, std::size_t n) {
          ref::squared_error_runs(b.x(), 1, n, no_clip.data(), count, kInt8, b.error.data());
        });
    add(
        "squared_error_columns" + suffix, 4,
        [=](Buffers& b, std::size_t n) {
          k::squared_error_columns(b.x(), n / kCols, kCols, kCols, b.affine.data(), count, kInt8,
                                   b.error.data());
        },
        [=](Buffers& b, std::size_t n) {
          ref::squared_error_columns(b.x(), n / kCols, kCols, kCols, b.affine.data(), count, kInt8,
                                     b.error.data());
        });
  }
  for (const std::size_t run : {std::size_t{9}, std::size_t{32}}) {
    add(
        "squared_error_runs_of_" + std::to_string(run) + "_x1", 4,
        [=](Buffers& b, std::size_t n) {
          k::squared_error_runs(b.x(), n / run, run, b.affine.data(), 1, kInt8, b.error.data());
        },
        [=](Buffers& b, std::size_t n) {
          ref::squared_error_runs(b.x(), n / run, run, b.affine.data(), 1, kInt8, b.error.data());
        });
  }
  add(
      "squared_error_runs_of_128_x8", 4,
      [](Buffers& b, std::size_t n) {
        k::squared_error_runs(b.x(), n / 128, 128, b.affine.data(), 8, kInt8, b.error.data());
      },
      [](Buffers& b, std::size_t n) {
        ref::squared_error_runs(b.x(), n / 128, 128, b.affine.data(), 8, kInt8, b.error.data());
      });
}

void add_formats() {
  add(
      "pack_pairs", 1, [](Buffers& b, std::size_t n) { k::pack_pairs(b.codes.data(), n, b.packed.data()); },
      [](Buffers& b, std::size_t n) { ref::pack_pairs(b.codes.data(), n, b.packed.data()); });
  add(
      "unpack_pairs_signed", 1,
      [](Buffers& b, std::size_t n) { k::unpack_pairs_signed(b.packed.data(), n, b.codes.data()); },
      [](Buffers& b, std::size_t n) { ref::unpack_pairs_signed(b.packed.data(), n, b.codes.data()); });
  add(
      "pack_halves", 1,
      [](Buffers& b, std::size_t n) {
        k::pack_halves(b.codes.data(), n / 2, b.codes.data() + n / 2, n / 2, b.packed.data());
      },
      [](Buffers& b, std::size_t n) {
        ref::pack_halves(b.codes.data(), n / 2, b.codes.data() + n / 2, n / 2, b.packed.data());
      });
  add(
      "f32_to_f16", 4,
      [](Buffers& b, std::size_t n) {
        k::HalfStats s;
        k::f32_to_f16(b.x(), n, b.halves.data(), s);
      },
      [](Buffers& b, std::size_t n) {
        k::HalfStats s;
        ref::f32_to_f16(b.x(), n, b.halves.data(), s);
      });
  add(
      "f32_to_bf16", 4,
      [](Buffers& b, std::size_t n) {
        k::HalfStats s;
        k::f32_to_bf16(b.x(), n, b.halves.data(), s);
      },
      [](Buffers& b, std::size_t n) {
        k::HalfStats s;
        ref::f32_to_bf16(b.x(), n, b.halves.data(), s);
      });
  const auto bytes = [](Buffers& b) { return reinterpret_cast<const std::byte*>(b.halves.data()); };
  add(
      "f16_to_f32", 2, [=](Buffers& b, std::size_t n) { k::f16_to_f32(bytes(b), n, b.floats.data()); },
      [=](Buffers& b, std::size_t n) { ref::f16_to_f32(bytes(b), n, b.floats.data()); });
  add(
      "f64_to_f32", 4, [](Buffers& b, std::size_t n) { k::f64_to_f32(b.x(), n / 2, b.floats.data()); },
      [](Buffers& b, std::size_t n) { ref::f64_to_f32(b.x(), n / 2, b.floats.data()); });
}

void add_lookup() {
  static std::vector<float> bounds;
  bounds.reserve(255);
  for (int i = 0; i < 255; ++i) bounds.push_back(0.0016F * static_cast<float>(i - 127));
  for (const std::size_t entries : {std::size_t{16}, std::size_t{256}}) {
    const float* first = bounds.data() + (entries == 16 ? 120 : 0);
    add(
        "encode_nearest_" + std::to_string(entries), 4,
        [=](Buffers& b, std::size_t n) { k::encode_nearest(b.x(), n, first, entries, b.codes.data()); },
        [=](Buffers& b, std::size_t n) { ref::encode_nearest(b.x(), n, first, entries, b.codes.data()); });
  }
  const Work decode = [](Buffers& b, std::size_t n) {
    k::decode_lookup(b.codes.data(), n, b.weights.data(), b.floats.data());
  };
  add("decode_lookup", 1, decode, decode);
}

}  // namespace

int main(int argc, char** argv) {
  add_range_and_norms();
  add_quantize();
  add_squared_error();
  add_formats();
  add_lookup();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
