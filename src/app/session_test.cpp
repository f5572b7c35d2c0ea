#include <ounce/app.hpp>

#include <fcntl.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <thread>

#include "app/load_checks.h"
#include "base/digest.h"
#include "data/contract/contract_file.h"
#include "io/descriptor.h"
#include "runtime/masked_cpu.h"
#include "runtime/ort/library.h"
#include "support/app_models.h"
#include "support/runtime_versions.h"

namespace ounce::app {
namespace {

using test::small_w8;
using test::small_w8_of;
using test::status_of;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;

const std::vector<float> kRow = {1, -2, 0.5F, 4};

struct AppSession : testing::TestWithParam<std::filesystem::path> {
  LoadOptions options() const { return {.library = GetParam().string()}; }
  std::filesystem::path write(const test::Metadata& metadata = {}) const {
    return test::written(folder, small_w8(metadata));
  }
  Status status_with(const test::Metadata& metadata, const Checks& checks) const {
    const auto model = write(metadata);
    LoadOptions how = options();
    how.checks = checks;
    return status_of([&] { Session::load(model, how); });
  }

  test::TemporaryFolder folder;
};

std::vector<float> run_row(Call& call, const std::vector<float>& row = kRow) {
  std::copy(row.begin(), row.end(), call.input<float>("x").begin());
  call.run();
  const auto y = call.output<float>("y");
  return {y.begin(), y.end()};
}

TEST_P(AppSession, RunsWithNamedAndTypedValues) {
  const Session session = Session::load(write(), options());
  ASSERT_EQ(session.inputs().size(), 1U);
  EXPECT_EQ(session.inputs()[0].name, "x");
  EXPECT_EQ(session.inputs()[0].type, Type::kFloat32);
  EXPECT_THAT(session.inputs()[0].shape, ElementsAre(-1, 4));
  EXPECT_THAT(session.inputs()[0].axes, ElementsAre("N"));
  Call call = session.call();
  EXPECT_THAT(call.input_shape(), ElementsAre(1, 4));
  EXPECT_THAT(run_row(call), ElementsAreArray(small_w8_of(kRow)));
  EXPECT_THAT(call.output_shape("y"), ElementsAre(1, 8));
  EXPECT_EQ(status_of([&] { call.input<float>("z"); }), Status::kUsage);
  EXPECT_EQ(status_of([&] { call.input<double>("x"); }), Status::kUsage);
  EXPECT_EQ(status_of([&] { call.output<std::int64_t>("y"); }), Status::kUsage);
}

TEST_P(AppSession, RunsABatchInOneCall) {
  const Session session = Session::load(write(), options());
  Call call = session.call({.batch = 3});
  const auto x = call.input<float>();
  ASSERT_EQ(x.size(), 12U);
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t i = 0; i < 4; ++i) x[row * 4 + i] = kRow[i] * static_cast<float>(row + 1);
  }
  call.run();
  const auto y = call.output<float>();
  ASSERT_EQ(y.size(), 24U);
  EXPECT_THAT(std::vector<float>(y.begin() + 16, y.end()), ElementsAreArray(small_w8_of({3, -6, 1.5F, 12})));
}

TEST_P(AppSession, OutputsStayWhereTheyAre) {
  const Session session = Session::load(write(), options());
  Call call = session.call();
  run_row(call);
  const float* const first = call.output<float>().data();
  run_row(call, {0, 0, 0, 1});
  EXPECT_EQ(call.output<float>().data(), first);
  EXPECT_THAT(run_row(call, {0, 1, 0, 0}), ElementsAreArray(small_w8_of({0, 1, 0, 0})));
}

TEST_P(AppSession, LoadsFromMemoryThatGoes) {
  std::string bytes = small_w8().bytes();
  const Session session = Session::from_memory(std::as_bytes(std::span(bytes)), options());
  std::fill(bytes.begin(), bytes.end(), '\0');
  bytes = {};
  Call call = session.call();
  EXPECT_THAT(run_row(call), ElementsAreArray(small_w8_of(kRow)));
}

TEST_P(AppSession, LoadsAPartOfAFileThatIsOpen) {
  const std::string model = small_w8().bytes();
  test::write_file(folder / "assets", std::string(5000, 'a') + model + std::string(77, 'b'));
  std::optional<Session> session;
  {
    const io::Descriptor file(::open((folder / "assets").c_str(), O_RDONLY | O_CLOEXEC));
    session = Session::from_descriptor(file.get(), 5000, model.size(), options());
    EXPECT_EQ(status_of([&] { Session::from_descriptor(file.get(), 5000, 1 << 20, options()); }),
              Status::kUsage);
    EXPECT_EQ(status_of([&] { Session::from_descriptor(file.get(), 0, 4000, options()); }),
              Status::kBadModel);
  }
  Call call = session->call();
  EXPECT_THAT(run_row(call), ElementsAreArray(small_w8_of(kRow)));
  EXPECT_EQ(status_of([&] { Session::from_descriptor(-1, 0, 10, options()); }), Status::kIo);
}

TEST_P(AppSession, ACallOutlivesItsSession) {
  std::optional<Session> session = Session::load(write(), options());
  std::optional<Call> call = session->call();
  Session moved = std::move(*session);
  session.reset();
  Call kept = std::move(*call);
  { const Session gone = std::move(moved); }
  EXPECT_THAT(run_row(kept), ElementsAreArray(small_w8_of(kRow)));
}

TEST_P(AppSession, WhatIsNoModelSaysSo) {
  const std::string whole = small_w8().bytes();
  for (const std::size_t size : {whole.size() / 2, whole.size() - 3, std::size_t{1}}) {
    test::write_file(folder / "cut.onnx", whole.substr(0, size));
    EXPECT_EQ(status_of([&] { Session::load(folder / "cut.onnx", options()); }), Status::kBadModel) << size;
  }
  test::write_file(folder / "empty.onnx", "");
  EXPECT_EQ(status_of([&] { Session::load(folder / "empty.onnx", options()); }), Status::kBadModel);
  EXPECT_EQ(status_of([&] { Session::load(folder / "none.onnx", options()); }), Status::kIo);
  EXPECT_EQ(status_of([&] { Session::load(write(), {.library = "/no/such/library.so"}); }),
            Status::kNoRuntime);
}

TEST_P(AppSession, EveryCheckHasItsStatus) {
  const std::string source(32, 'a'), other(32, 'b');
  EXPECT_EQ(status_with({}, {}), Status::kOk);
  EXPECT_EQ(status_with({}, {.is_ours = true}), Status::kNotOurs);
  EXPECT_EQ(status_with({{"ounce.version", "0.1.0"}}, {.is_ours = true}), Status::kOk);
  EXPECT_EQ(status_with({{"ounce.source", source}}, {.source = source}), Status::kOk);
  EXPECT_EQ(status_with({{"ounce.source", source}}, {.source = other}), Status::kWrongSource);
  EXPECT_EQ(status_with({}, {.source = other}), Status::kWrongSource);
  EXPECT_EQ(status_with({}, {.has_contract = true}), Status::kNoContract);
  EXPECT_EQ(status_with({{"ounce.contract", R"({"version": 1, "inputs": {"x": {"kind": "tensor"}}})"}},
                        {.has_contract = true}),
            Status::kOk);
  EXPECT_EQ(status_with({{"ounce.contract", "no JSON"}}, {}), Status::kBadModel);
  const std::string bytes = small_w8().bytes();
  EXPECT_EQ(status_with({}, {.digest = sha256_of(bytes)}), Status::kOk);
  EXPECT_EQ(status_with({}, {.digest = hex(digest_of(bytes))}), Status::kOk);
  EXPECT_EQ(status_with({}, {.digest = sha256_of(bytes + "x")}), Status::kWrongDigest);
  std::string upper = sha256_of(bytes);
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return std::toupper(c); });
  EXPECT_EQ(status_with({}, {.digest = upper}), Status::kOk);
  EXPECT_EQ(status_with({}, {.digest = "abc"}), Status::kUsage);
}

TEST_P(AppSession, TheDigestCoversExternalData) {
  test::ModelBuilder external(13, 7);
  external.input("x", test::kFloat, {1, 4}).output("y", test::kFloat, {1, 4});
  external.initializer(test::external_tensor("w", {4}, "w.bin", "0", "16"))
      .initializer(test::external_tensor("b", {4}, "b.bin", "0", "16"))
      .node("Mul", {"x", "w"}, {"h"})
      .node("Add", {"h", "b"}, {"y"});
  const auto path = test::written(folder, external, "external.onnx");
  const std::string w = test::raw_floats({1, 2, 3, 4}), b = test::raw_floats({0, 0, 0, 1});
  test::write_file(folder / "w.bin", w);
  test::write_file(folder / "b.bin", b);
  const auto status_with_digest = [&](const std::string& digest) {
    LoadOptions how = options();
    how.checks.digest = digest;
    return status_of([&] { Session::load(path, how); });
  };
  // As documented: the digests as lines of text, the external files sorted by name.
  const std::string own = external.bytes();
  const std::string sha256 = sha256_of(sha256_of(own) + "\n" + sha256_of(b) + "\n" + sha256_of(w) + "\n");
  const Unpacked unpacked = unpack(path, folder / "cache", {.library = GetParam().string()});
  EXPECT_EQ(unpacked.sha256, sha256);
  EXPECT_EQ(Session::load(path, options()).facts().digest, unpacked.digest);
  EXPECT_EQ(status_with_digest(sha256), Status::kOk);
  EXPECT_EQ(status_with_digest(unpacked.digest), Status::kOk);
  EXPECT_EQ(status_with_digest(sha256_of(own)), Status::kWrongDigest);
  test::write_file(folder / "w.bin", test::raw_floats({1, 2, 3, 5}));
  EXPECT_EQ(status_with_digest(sha256), Status::kWrongDigest);
  EXPECT_EQ(status_with_digest(unpacked.digest), Status::kWrongDigest);
  test::write_file(folder / "w.bin", w);
  EXPECT_EQ(status_with_digest(sha256), Status::kOk);
  // The digest of a model in memory does not cover its external data.
  LoadOptions how = options();
  how.checks.digest = sha256_of(own);
  EXPECT_EQ(status_of([&] { Session::from_memory(std::as_bytes(std::span(own)), how); }), Status::kBadModel);
}

// Depending on its release, the runtime reads weights in place or from a copy.
TEST_P(AppSession, ExternalDataThatIsCutWhileItIsInUseDoesNotEndTheProcess) {
  constexpr std::size_t kCount = std::size_t{1} << 16;
  const auto count = static_cast<std::int64_t>(kCount);
  test::ModelBuilder external(13, 7);
  external.input("x", test::kFloat, {count}).output("y", test::kFloat, {count});
  external
      .initializer(test::external_tensor("w", {count}, "w.bin", "0", std::to_string(kCount * sizeof(float))))
      .node("Mul", {"x", "w"}, {"y"});
  const auto path = test::written(folder, external, "external.onnx");
  test::write_file(folder / "w.bin", test::raw_floats(std::vector<float>(kCount, 3)));
  const Session session = Session::load(path, options());
  Call call = session.call();
  std::fill(call.input<float>().begin(), call.input<float>().end(), 2.0F);
  call.run();
  EXPECT_EQ(call.output<float>()[kCount - 1], 6);
  std::filesystem::resize_file(folder / "w.bin", 0);
  const Status status = status_of([&] { call.run(); });
  if (status == Status::kOk) {
    EXPECT_EQ(call.output<float>()[kCount - 1], 6);
  } else {
    EXPECT_EQ(status, Status::kIo);
    EXPECT_EQ(status_of([&] { call.output<float>(); }), Status::kUsage);
  }
}

TEST_P(AppSession, TheStatementSaysWhereAModelRuns) {
  const std::string machine = runtime::this_machine() == "aarch64" ? "arm64" : "x64";
  const std::string stranger = machine == "x64" ? "arm64" : "x64";
  const auto statement = [](const std::string& rest) {
    return test::Metadata{{"ounce.statement", R"({"version": 1, "content": "0", )" + rest + "}"}};
  };
  const auto needs = [&](const std::string& version) {
    return statement("\"releases\": {\"" + machine + "\": \"" + version + "\"}");
  };
  EXPECT_EQ(status_with(needs("1.14.0"), {}), Status::kOk);
  EXPECT_EQ(status_with(needs("99.0.0"), {}), Status::kRuntimeTooOld);
  EXPECT_EQ(status_with(needs("99.0.0"), {.runtime = false}), Status::kOk);
  const auto target = [&](const std::string& name) {
    return statement(R"("recipe": {"format": "w8", "target": ")" + name + "\"}");
  };
  EXPECT_EQ(status_with(target("linux-" + machine + "@1.17.0"), {}), Status::kOk);
  EXPECT_EQ(status_with(target("linux-" + stranger + "@1.17.0"), {}), Status::kOtherCpu);
  EXPECT_EQ(status_with(target("linux-" + stranger + "@1.17.0"), {.cpu = false}), Status::kOk);
  EXPECT_EQ(status_with(target("linux-" + machine + "@99.1.0"), {}), Status::kRuntimeTooOld);
  EXPECT_EQ(status_with({{"ounce.statement", "{"}}, {}), Status::kBadModel);
  EXPECT_EQ(status_with({{"ounce.statement", R"({"releases": {"x64": 7, "arm64": 7}})"}}, {}),
            Status::kBadModel);
}

TEST(AppChecks, ATargetNamesCpusAndReleases) {
  const auto check = [](const std::string& target, const std::string& kernels) {
    const Place here{"ONNX Runtime", "1.22.0", "x64", kernels};
    return status_of([&] { check_target(target, here, {}, "model"); });
  };
  EXPECT_EQ(check("linux-x64@1.22.0+vnni", "avx512 vnni"), Status::kOk);
  EXPECT_EQ(check("linux-x64@1.22.0+vnni", "avx2 vnni"), Status::kOk);
  EXPECT_EQ(check("linux-x64@1.22.0+vnni", "avx512"), Status::kOtherCpu);
  EXPECT_EQ(check("linux-x64+avx2", "avx512"), Status::kOk);
  EXPECT_EQ(check("linux-x64+avx512", "avx2"), Status::kOtherCpu);
  EXPECT_EQ(check("linux-x64@1.22.1", "sse"), Status::kRuntimeTooOld);
  EXPECT_EQ(check("android-arm64@1.17.0", "sse"), Status::kOtherCpu);
  EXPECT_EQ(check("linux-x64@litert-1.4.0", "sse"), Status::kOk);
  EXPECT_EQ(check("linux-x64@litert-2.3.0", "sse"), Status::kRuntimeTooOld);
  EXPECT_EQ(check("cuda", "sse"), Status::kOk);
  EXPECT_EQ(check("ort-web@1.18.0", "sse"), Status::kOk);
  EXPECT_EQ(check("", "sse"), Status::kOk);
}

// A contract with the golden sample `row` and its recorded outputs.
test::Metadata golden_contract(const std::vector<float>& row, const std::vector<float>& outputs) {
  const auto tensor = [](const std::vector<float>& values) {
    data::Tensor made{ElementType::kFloat, {1, static_cast<std::int64_t>(values.size())}, {}};
    made.bytes.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    return made;
  };
  const data::Tensor x = tensor(row), y = tensor(outputs);
  const std::vector<data::TensorView> in = {x}, out = {y};
  std::string values;
  for (const double value : data::golden_values(y))
    values += (values.empty() ? "" : ", ") + std::to_string(value);
  return {
      {"ounce.contract", R"({"version": 1, "inputs": {"x": {"kind": "tensor"}}, "golden": {"sample": "one", )"
                         R"("input_digest": ")" +
                             data::digest_of_tensors(in) + R"(", "output_digest": ")" +
                             data::digest_of_tensors(out) + R"(", "outputs": {"y": [)" + values + "]}}}"}};
}

TEST_P(AppSession, TheGoldenSampleIsRunOnLoad) {
  const auto status_for = [&](const test::Metadata& metadata, const std::vector<float>& row) {
    const auto model = write(metadata);
    LoadOptions how = options();
    how.golden = [&](Call& call) { std::copy(row.begin(), row.end(), call.input<float>("x").begin()); };
    return status_of([&] { Session::load(model, how); });
  };
  const std::vector<float> right = small_w8_of(kRow);
  std::vector<float> near = right, far = right;
  near[0] *= 1.001F;
  for (float& value : far) value = -value;
  EXPECT_EQ(status_for(golden_contract(kRow, right), kRow), Status::kOk);
  EXPECT_EQ(status_for(golden_contract(kRow, near), kRow), Status::kOk);
  EXPECT_EQ(status_for(golden_contract(kRow, far), kRow), Status::kGoldenMismatch);
  EXPECT_EQ(status_for(golden_contract(kRow, right), {1, -2, 0.5F, 4.001F}), Status::kContractMismatch);
  EXPECT_EQ(status_for({}, kRow), Status::kNoContract);
}

TEST_P(AppSession, AxesThatAreFreeNeedASize) {
  test::ModelBuilder model(13, 7);
  using test::field;
  const auto value = [](const std::string& name) {
    const std::string shape = field(1, field(2, std::string("N"))) + field(1, field(2, std::string("T")));
    return field(1, name) + field(2, field(1, field(1, std::int64_t{test::kFloat}) + field(2, shape)));
  };
  model.add(11, value("x")).add(12, value("y")).node("Neg", {"x"}, {"y"});
  const Session session = Session::load(test::written(folder, model), options());
  EXPECT_EQ(status_of([&] { session.call(); }), Status::kUsage);
  Call by_name = session.call({.batch = 2, .sizes = {{"T", 3}}});
  EXPECT_THAT(by_name.output_shape(), ElementsAre(2, 3));
  Call by_shape = session.call({.shapes = {{"x", {4, 5}}}});
  EXPECT_EQ(by_shape.input<float>().size(), 20U);
  EXPECT_EQ(status_of([&] { session.call({.shapes = {{"x", {4}}}}); }), Status::kUsage);
}

TEST_P(AppSession, ARunThatTakesTooLongEnds) {
  const Session session = Session::load(test::written(folder, test::slow_model()), options());
  Call call = session.call({.warm_up = 0});
  EXPECT_EQ(status_of([&] { call.run(std::chrono::milliseconds(5)); }), Status::kTimeout);
  EXPECT_EQ(status_of([&] { call.output<float>(); }), Status::kUsage);
  call.input<float>()[0] = 128;
  call.run(std::chrono::hours(1));  // the next run is not affected
  EXPECT_NEAR(call.output<float>()[0], 1, 1e-3);
}

TEST_P(AppSession, ARunCanBeCancelled) {
  const Session session = Session::load(test::written(folder, test::slow_model()), options());
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
  call.cancel();  // nothing goes on
  call.run();
}

TEST_P(AppSession, LoadingCanBeWatchedAndStopped) {
  std::vector<Stage> stages;
  LoadOptions how = options();
  how.progress = [&](Stage stage, double) {
    stages.push_back(stage);
    return true;
  };
  Session::load(write(), how);
  EXPECT_THAT(stages, ElementsAre(Stage::kOpen, Stage::kLoad, Stage::kCheck, Stage::kCheck));
  how.progress = [](Stage stage, double) { return stage != Stage::kLoad; };
  EXPECT_EQ(status_of([&] { Session::load(write(), how); }), Status::kCancelled);
}

TEST_P(AppSession, ThreadsAreSharedFromTheFirstModelOn) {
  share_threads(2);
  share_threads(2);
  LoadOptions how = options();
  how.shares_threads = true;
  const Session one = Session::load(write(), how), other = Session::load(write(), how);
  Call first = one.call(), second = other.call();
  EXPECT_THAT(run_row(first), ElementsAreArray(small_w8_of(kRow)));
  EXPECT_THAT(run_row(second), ElementsAreArray(small_w8_of(kRow)));
  EXPECT_EQ(status_of([&] { share_threads(3); }), Status::kThreadsTaken);
}

TEST_P(AppSession, AfterTheFirstModelThreadsCannotBeShared) {
  Session::load(write(), options());
  EXPECT_EQ(status_of([&] { share_threads(2); }), Status::kThreadsTaken);
  LoadOptions how = options();
  how.shares_threads = true;
  EXPECT_EQ(status_of([&] { Session::load(write(), how); }), Status::kThreadsTaken);
}

// For ThreadSanitizer: threads share everything that the API allows them to share.
TEST_P(AppSession, SixteenThreadsAndThreeModels) {
  std::vector<Session> sessions;
  for (int seed = 0; seed < 3; ++seed) {
    sessions.push_back(
        Session::load(test::written(folder, small_w8({}, seed), std::to_string(seed) + ".onnx"), options()));
  }
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int number = 0; number < 16; ++number) {
    threads.emplace_back([&, number] {
      const int seed = number % 3;
      Call call = sessions[static_cast<std::size_t>(seed)].call();
      for (int i = 0; i < 200; ++i) {
        const std::vector<float> row = {static_cast<float>(number), static_cast<float>(i), 1, -1};
        std::copy(row.begin(), row.end(), call.input<float>("x").begin());
        call.run(i % 2 == 0 ? std::chrono::nanoseconds::max() : std::chrono::hours(1));
        const auto y = call.output<float>("y");
        const std::vector<float> expected = small_w8_of(row, seed);
        if (!std::equal(y.begin(), y.end(), expected.begin(),
                        [](float a, float b) { return std::abs(a - b) <= 1e-4F * (1 + std::abs(b)); }))
          ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

INSTANTIATE_TEST_SUITE_P(Versions, AppSession, testing::ValuesIn(runtime::Library::installed()),
                         test::version_name);

}  // namespace
}  // namespace ounce::app
