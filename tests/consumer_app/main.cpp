// An app that loads a model, precompiles it into its own cache, and runs it once.
#include <ounce/app.hpp>

#include <cstdio>

int main(int argc, char** argv) try {
  if (argc != 2) return 2;
  const ounce::app::Session session = ounce::app::Session::load(argv[1], {.cache = "consumer_app.cache"});
  ounce::app::Call call = session.call();
  call.run(std::chrono::minutes(1));
  std::printf("ONNX Runtime %s, %zu outputs, precompiled: %s\n", session.facts().runtime_version.c_str(),
              call.output<float>().size(),
              session.facts().is_unpacked ? "yes" : session.facts().why_not_unpacked.c_str());
  return session.facts().is_unpacked ? 0 : 1;
} catch (const ounce::app::Failure& failure) {
  std::fprintf(stderr, "%s (%s)\n", failure.what(), ounce::name_of(failure.status()));
  return 1;
}
