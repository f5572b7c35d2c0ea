// Runs the tests of session_test.cpp and shadow_test.cpp with .tflite models.
#include <ounce/app.hpp>

#include <fcntl.h>
#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "base/digest.h"
#include "data/contract/contract_file.h"
#include "formats/tflite/edit/metadata.h"
#include "formats/tflite/file/reader.h"
#include "io/descriptor.h"
#include "runtime/local_executors.h"
#include "support/app_models.h"
#include "support/litert.h"
#include "support/tflite_builder.h"

namespace ounce::app {
namespace {

using test::small_w8_of;
using test::status_of;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using tflite::Builtin;
using tflite::TfliteBuilder;

const std::vector<float> kDenseRow = {1, -2, 0.5F, 4};

// The .tflite equivalent of test::small_w8(): y [1, 8] = x [1, 4] · w.
TfliteBuilder dense_model(const test::Metadata& metadata = {}, int seed = 1, bool has_free_batch = false) {
  std::vector<float> w;
  for (int column = 0; column < 8; ++column) {
    for (int row = 0; row < 4; ++row)
      w.push_back(0.125F * static_cast<float>(((row * 8 + column) * 7 + seed) % 100 - 50));
  }
  TfliteBuilder model;
  const auto x = model.tensor("x", {1, 4}), y = model.tensor("y", {1, 8}),
             kept = model.weights("w", {8, 4}, w);
  if (has_free_batch) {
    for (const auto tensor : {x, y})
      model.graph().tensors[static_cast<std::size_t>(tensor)].shape_signature = {
          -1, model.graph().tensors[static_cast<std::size_t>(tensor)].shape[1]};
  }
  model.op(Builtin::kFullyConnected, {x, kept, -1}, {y}, "FullyConnectedOptions");
  model.inputs({x}).outputs({y}).signature("serving_default");
  for (const auto& [key, text] : metadata) model.metadata(key, text);
  return model;
}

// Takes seconds with one kernel per operator.
TfliteBuilder slow_products() {
  constexpr std::int32_t kSide = 128, kOperators = 1500;
  TfliteBuilder model;
  const auto x = model.tensor("x", {kSide, kSide});
  const auto w = model.weights("w", {kSide, kSide}, std::vector<float>(kSide * kSide, 1.0F / kSide));
  auto last = x;
  for (int i = 0; i < kOperators; ++i) {
    const auto next = model.tensor(i + 1 == kOperators ? "y" : "v" + std::to_string(i), {kSide, kSide});
    model.op(Builtin::kFullyConnected, {last, w, -1}, {next}, "FullyConnectedOptions");
    last = next;
  }
  model.inputs({x}).outputs({last});
  return model;
}

struct AppLitert : test::LitertTest {
  LoadOptions options() const { return {.library = GetParam().string()}; }
  std::filesystem::path write(const TfliteBuilder& model, const std::string& name = "model.tflite") const {
    test::write_file(folder / name, model.bytes());
    return folder / name;
  }
  Status status_with(const test::Metadata& metadata, const Checks& checks) const {
    const auto model = write(dense_model(metadata));
    LoadOptions how = options();
    how.checks = checks;
    return status_of([&] { Session::load(model, how); });
  }
};

std::vector<float> run_dense(Call& call, const std::vector<float>& row = kDenseRow) {
  std::copy(row.begin(), row.end(), call.input<float>("x").begin());
  call.run();
  const auto y = call.output<float>("y");
  return {y.begin(), y.end()};
}

TEST_P(AppLitert, RunsWithNamedAndTypedValues) {
  const Session session = Session::load(write(dense_model()), options());
  ASSERT_EQ(session.inputs().size(), 1U);
  EXPECT_EQ(session.inputs()[0].name, "x");
  EXPECT_EQ(session.inputs()[0].type, Type::kFloat32);
  EXPECT_THAT(session.inputs()[0].shape, ElementsAre(1, 4));
  EXPECT_EQ(session.facts().runtime_version, runtime::open_litert(GetParam()));
  Call call = session.call();
  EXPECT_THAT(run_dense(call), ElementsAreArray(small_w8_of(kDenseRow)));
  EXPECT_THAT(call.output_shape("y"), ElementsAre(1, 8));
  EXPECT_EQ(status_of([&] { call.input<float>("z"); }), Status::kUsage);
  EXPECT_EQ(status_of([&] { call.input<double>("x"); }), Status::kUsage);
  EXPECT_EQ(status_of([&] { call.output<std::int64_t>("y"); }), Status::kUsage);
}

TEST_P(AppLitert, ValuesStayWhereTheyAre) {
  const Session session = Session::load(write(dense_model()), options());
  Call call = session.call();
  const float* const x = call.input<float>().data();
  run_dense(call);
  const float* const y = call.output<float>().data();
  EXPECT_THAT(run_dense(call, {0, 1, 0, 0}), ElementsAreArray(small_w8_of({0, 1, 0, 0})));
  EXPECT_EQ(call.input<float>().data(), x);
  EXPECT_EQ(call.output<float>().data(), y);
}

TEST_P(AppLitert, AFreeBatchGetsItsSize) {
  const Session session = Session::load(write(dense_model({}, 1, true)), options());
  EXPECT_THAT(session.inputs()[0].shape, ElementsAre(-1, 4));
  Call call = session.call({.batch = 3});
  const auto x = call.input<float>();
  ASSERT_EQ(x.size(), 12U);
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t i = 0; i < 4; ++i) x[row * 4 + i] = kDenseRow[i] * static_cast<float>(row + 1);
  }
  call.run();
  const auto y = call.output<float>();
  ASSERT_EQ(y.size(), 24U);
  EXPECT_THAT(std::vector<float>(y.begin() + 16, y.end()), ElementsAreArray(small_w8_of({3, -6, 1.5F, 12})));
  EXPECT_EQ(status_of([&] { session.call({.shapes = {{"x", {4}}}}); }), Status::kUsage);
}

TEST_P(AppLitert, CallsOfOneSessionAreIndependent) {
  const Session session = Session::load(write(dense_model()), options());
  Call first = session.call(), second = session.call();
  std::copy(kDenseRow.begin(), kDenseRow.end(), first.input<float>().begin());
  EXPECT_THAT(run_dense(second, {0, 0, 0, 1}), ElementsAreArray(small_w8_of({0, 0, 0, 1})));
  first.run();
  EXPECT_THAT(std::vector<float>(first.output<float>().begin(), first.output<float>().end()),
              ElementsAreArray(small_w8_of(kDenseRow)));
  EXPECT_THAT(std::vector<float>(second.output<float>().begin(), second.output<float>().end()),
              ElementsAreArray(small_w8_of({0, 0, 0, 1})));
}

TEST_P(AppLitert, LoadsFromMemoryThatGoes) {
  std::string bytes = dense_model().bytes();
  const Session session = Session::from_memory(std::as_bytes(std::span(bytes)), options());
  std::fill(bytes.begin(), bytes.end(), '\0');
  bytes = {};
  Call first = session.call(), second = session.call();
  EXPECT_THAT(run_dense(first), ElementsAreArray(small_w8_of(kDenseRow)));
  EXPECT_THAT(run_dense(second), ElementsAreArray(small_w8_of(kDenseRow)));
}

TEST_P(AppLitert, LoadsAPartOfAFileThatIsOpen) {
  const std::string model = dense_model().bytes();
  test::write_file(folder / "assets", std::string(5000, 'a') + model + std::string(77, 'b'));
  std::optional<Session> session;
  {
    const io::Descriptor file(::open((folder / "assets").c_str(), O_RDONLY | O_CLOEXEC));
    session = Session::from_descriptor(file.get(), 5000, model.size(), options());
  }
  Call first = session->call(), second = session->call();
  EXPECT_THAT(run_dense(first), ElementsAreArray(small_w8_of(kDenseRow)));
  EXPECT_THAT(run_dense(second), ElementsAreArray(small_w8_of(kDenseRow)));
}

TEST_P(AppLitert, ACallOutlivesItsSession) {
  std::optional<Session> session = Session::load(write(dense_model()), options());
  Call call = session->call();
  session.reset();
  EXPECT_THAT(run_dense(call), ElementsAreArray(small_w8_of(kDenseRow)));
}

TEST_P(AppLitert, WhatIsNoModelSaysSo) {
  const std::string whole = dense_model().bytes();
  for (const std::size_t size : {whole.size() / 2, whole.size() / 4, std::size_t{20}}) {
    test::write_file(folder / "cut.tflite", whole.substr(0, size));
    EXPECT_EQ(status_of([&] { Session::load(folder / "cut.tflite", options()); }), Status::kBadModel) << size;
  }
  TfliteBuilder strange;
  const auto x = strange.tensor("x", {1, 4}), y = strange.tensor("y", {1, 4});
  strange.custom_op("NobodyHasThis", {x}, {y}, "");
  strange.inputs({x}).outputs({y});
  EXPECT_EQ(status_of([&] { Session::load(write(strange), options()); }), Status::kBadModel);
  EXPECT_EQ(status_of([&] { Session::load(folder / "none.tflite", options()); }), Status::kIo);
  EXPECT_EQ(status_of([&] { Session::load(write(dense_model()), {.library = "/no/such/library.so"}); }),
            Status::kNoRuntime);
  LoadOptions shared = options();
  shared.config["litert.kernels"] = "fast";
  EXPECT_EQ(status_of([&] { Session::load(write(dense_model()), shared); }), Status::kBadModel);
}

TEST_P(AppLitert, EveryCheckHasItsStatus) {
  const std::string source(32, 'a'), other(32, 'b');
  EXPECT_EQ(status_with({}, {}), Status::kOk);
  EXPECT_EQ(status_with({}, {.is_ours = true}), Status::kNotOurs);
  EXPECT_EQ(status_with({{"ounce.version", "0.1.0"}}, {.is_ours = true}), Status::kOk);
  EXPECT_EQ(status_with({{"ounce.source", source}}, {.source = source}), Status::kOk);
  EXPECT_EQ(status_with({{"ounce.source", source}}, {.source = other}), Status::kWrongSource);
  EXPECT_EQ(status_with({}, {.has_contract = true}), Status::kNoContract);
  EXPECT_EQ(status_with({{"ounce.contract", R"({"version": 1, "inputs": {"x": {"kind": "tensor"}}})"}},
                        {.has_contract = true}),
            Status::kOk);
  EXPECT_EQ(status_with({{"ounce.contract", "no JSON"}}, {}), Status::kBadModel);
  const std::string bytes = dense_model().bytes();
  EXPECT_EQ(status_with({}, {.digest = sha256_of(bytes)}), Status::kOk);
  EXPECT_EQ(status_with({}, {.digest = hex(digest_of(bytes))}), Status::kOk);
  EXPECT_EQ(status_with({}, {.digest = sha256_of(bytes + "x")}), Status::kWrongDigest);
  LoadOptions how = options();
  how.checks.digest = sha256_of(bytes);
  EXPECT_EQ(status_of([&] { Session::from_memory(std::as_bytes(std::span(bytes)), how); }), Status::kOk);
}

TEST_P(AppLitert, TheStatementSaysWhereAModelRuns) {
  const auto target = [](const std::string& name) {
    return test::Metadata{
        {"ounce.statement", R"({"version": 1, "content": "0", "recipe": {"target": ")" + name + "\"}}"}};
  };
  const std::string machine = runtime::this_machine() == "aarch64" ? "arm64" : "x64";
  EXPECT_EQ(status_with(target("linux-" + machine + "@litert-2.1.6"), {}), Status::kOk);
  EXPECT_EQ(status_with(target("linux-" + machine + "@litert-99.1.0"), {}), Status::kRuntimeTooOld);
  EXPECT_EQ(status_with(target("linux-" + machine + "@litert-99.1.0"), {.runtime = false}), Status::kOk);
  const std::string stranger = machine == "x64" ? "arm64" : "x64";
  EXPECT_EQ(status_with(target("android-" + stranger + "@litert-2.1.6"), {}), Status::kOtherCpu);
}

TEST_P(AppLitert, TheGoldenSampleIsRunOnLoad) {
  const auto tensor = [](const std::vector<float>& values) {
    data::Tensor made{ElementType::kFloat, {1, static_cast<std::int64_t>(values.size())}, {}};
    made.bytes.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    return made;
  };
  const auto contract = [&](const std::vector<float>& row, const std::vector<float>& outputs) {
    const data::Tensor x = tensor(row), y = tensor(outputs);
    const std::vector<data::TensorView> in = {x}, out = {y};
    std::string values;
    for (const double value : data::golden_values(y))
      values += (values.empty() ? "" : ", ") + std::to_string(value);
    return test::Metadata{
        {"ounce.contract",
         R"({"version": 1, "inputs": {"x": {"kind": "tensor"}}, "golden": {"sample": "one", )"
         R"("input_digest": ")" +
             data::digest_of_tensors(in) + R"(", "output_digest": ")" + data::digest_of_tensors(out) +
             R"(", "outputs": {"y": [)" + values + "]}}}"}};
  };
  const auto status_for = [&](const test::Metadata& metadata, const std::vector<float>& row) {
    const auto model = write(dense_model(metadata));
    LoadOptions how = options();
    how.golden = [&](Call& call) { std::copy(row.begin(), row.end(), call.input<float>("x").begin()); };
    return status_of([&] { Session::load(model, how); });
  };
  const std::vector<float> right = small_w8_of(kDenseRow);
  std::vector<float> near = right, far = right;
  near[0] *= 1.001F;
  for (float& value : far) value = -value;
  EXPECT_EQ(status_for(contract(kDenseRow, right), kDenseRow), Status::kOk);
  EXPECT_EQ(status_for(contract(kDenseRow, near), kDenseRow), Status::kOk);
  EXPECT_EQ(status_for(contract(kDenseRow, far), kDenseRow), Status::kGoldenMismatch);
  EXPECT_EQ(status_for(contract(kDenseRow, right), {1, -2, 0.5F, 4.001F}), Status::kContractMismatch);
  EXPECT_EQ(status_for({}, kDenseRow), Status::kNoContract);
}

// The speech commands example and the contract of its recordings.
TEST_P(AppLitert, PreprocessingIsTheContracts) {
  tflite::Model model = tflite::read_model(OUNCE_EXAMPLES "/commands/commands.tflite");
  test::write_file(folder / "bare.tflite", to_bytes(model));
  tflite::set_metadata(model, "ounce.contract",
                       R"({"version": 1, "inputs": {"audio": {"kind": "audio", "sampling_rate": 8000, )"
                       R"("max_length": 8000, "rescale_factor": 3.0517578125e-05}}})");
  test::write_file(folder / "model.tflite", to_bytes(model));
  const std::vector<std::int16_t> samples(8000, 16384);
  const Session session = Session::load(folder / "model.tflite", options());
  Call call = session.call();
  call.set_sound({.samples = samples, .rate = 8000});
  EXPECT_EQ(call.input<float>()[7999], 0.5F);
  call.run();
  EXPECT_EQ(call.output<float>().size(), 10U);
  EXPECT_EQ(status_of([&] { call.set_sound({.samples = samples, .rate = 16000}); }), Status::kUsage);
  const std::vector<std::uint8_t> pixels(300);
  EXPECT_EQ(
      status_of([&] {
        call.set_image({.format = PixelFormat::kRgb, .width = 10, .height = 10, .planes = {pixels.data()}});
      }),
      Status::kNoContract);
  const Session bare = Session::load(folder / "bare.tflite", options());
  Call without = bare.call();
  EXPECT_EQ(status_of([&] { without.set_sound({.samples = samples, .rate = 8000}); }), Status::kNoContract);
}

TEST_P(AppLitert, ARunThatTakesTooLongEnds) {
  LoadOptions how = options();
  how.config["litert.kernels"] =
      "builtin";  // XNNPACK would fuse all operators into one, which cannot be stopped
  const Session session = Session::load(write(slow_products()), how);
  Call call = session.call({.warm_up = 0});
  EXPECT_EQ(status_of([&] { call.run(std::chrono::milliseconds(5)); }), Status::kTimeout);
  EXPECT_EQ(status_of([&] { call.output<float>(); }), Status::kUsage);
  call.input<float>()[0] = 128;
  call.run(std::chrono::hours(1));  // the next run is not affected
  EXPECT_NEAR(call.output<float>()[0], 1, 1e-3);
}

TEST_P(AppLitert, ARunCanBeCancelled) {
  LoadOptions how = options();
  how.config["litert.kernels"] = "builtin";
  const Session session = Session::load(write(slow_products()), how);
  Call call = session.call({.warm_up = 0});
  std::atomic<bool> is_done = false;
  std::thread other([&] {
    while (!is_done) {  // until one cancellation arrives during the run
      call.cancel();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  Status status = Status::kOk;
  while (status == Status::kOk) status = status_of([&] { call.run(); });
  is_done = true;
  other.join();
  EXPECT_EQ(status, Status::kCancelled);
}

TEST_P(AppLitert, LoadingCanBeWatchedAndStopped) {
  std::vector<Stage> stages;
  LoadOptions how = options();
  how.progress = [&](Stage stage, double) {
    stages.push_back(stage);
    return true;
  };
  Session::load(write(dense_model()), how);
  EXPECT_THAT(stages, ElementsAre(Stage::kOpen, Stage::kLoad, Stage::kCheck, Stage::kCheck));
  how.progress = [](Stage stage, double) { return stage != Stage::kLoad; };
  EXPECT_EQ(status_of([&] { Session::load(write(dense_model()), how); }), Status::kCancelled);
}

TEST_P(AppLitert, WhatLiteRtDoesNotHaveIsSaid) {
  LoadOptions cached = options();
  cached.cache = folder / "cache";
  const Session session = Session::load(write(dense_model()), cached);
  EXPECT_FALSE(session.facts().is_unpacked);
  EXPECT_THAT(session.facts().why_not_unpacked, HasSubstr("only ONNX models are unpacked"));
  EXPECT_EQ(status_of([&] { unpack(write(dense_model()), folder / "cache"); }), Status::kUnsupported);
}

TEST_P(AppLitert, ThreadsAreNotShared) {
  share_threads(2);
  LoadOptions how = options();
  how.shares_threads = true;
  EXPECT_EQ(status_of([&] { Session::load(write(dense_model()), how); }), Status::kUnsupported);
}

// For ThreadSanitizer: threads share everything that the API allows them to share.
TEST_P(AppLitert, SixteenThreadsAndThreeModels) {
  std::vector<Session> sessions;
  for (int seed = 0; seed < 3; ++seed)
    sessions.push_back(
        Session::load(write(dense_model({}, seed), std::to_string(seed) + ".tflite"), options()));
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int number = 0; number < 16; ++number) {
    threads.emplace_back([&, number] {
      const int seed = number % 3;
      Call call = sessions[static_cast<std::size_t>(seed)].call();
      for (int i = 0; i < 200; ++i) {
        const std::vector<float> row = {static_cast<float>(number), static_cast<float>(i), 1, -1};
        const std::vector<float> y = run_dense(call, row), expected = small_w8_of(row, seed);
        if (!std::equal(y.begin(), y.end(), expected.begin(),
                        [](float a, float b) { return std::abs(a - b) <= 1e-4F * (1 + std::abs(b)); }))
          ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// The primary and the candidate have different formats, both ways round, with and without isolation.
TEST_P(AppLitert, AShadowMayBeOfAnotherFormat) {
  const auto tflite_model = write(dense_model());
  const auto onnx_model = test::written(folder, test::small_w8());
  for (const bool isolate : {true, false}) {
    for (const bool is_candidate : {true, false}) {
      ShadowOptions how{.isolate = isolate};
      if (is_candidate) how.load = options();
      Shadow shadow(is_candidate ? Session::load(onnx_model) : Session::load(tflite_model, options()),
                    is_candidate ? tflite_model : onnx_model, how);
      ShadowCall call = shadow.call();
      for (int i = 0; i < 10; ++i) {
        const std::vector<float> row = {static_cast<float>(i), 1, -2, 3};
        std::copy(row.begin(), row.end(), call.inputs().input<float>("x").begin());
        call.run();
        ASSERT_TRUE(shadow.flush());
      }
      const ShadowStatistics found = shadow.statistics();
      EXPECT_EQ(found.compared, 10U) << isolate << is_candidate;
      EXPECT_EQ(found.failures(), 0U);
      EXPECT_GT(found.sqnr_db(), 100);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Versions, AppLitert, testing::ValuesIn(test::litert_versions()), test::version_name);

}  // namespace
}  // namespace ounce::app
