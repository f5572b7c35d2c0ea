// Simulates a microphone: runs a recording piece by piece, in frames, through a model with a recurrent state.
//
//   microphone MODEL RECORDING.wav [STATE_INPUT=STATE_OUTPUT …]
//
// The model's preprocessing metadata define the frames (frame_length, hop_length). The state output of a run
// is fed to the next run. Prints one line per frame, with the first value of the first output.
#include <ounce/app.hpp>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace ounce::app;

struct Recording {
  std::uint32_t rate = 0;
  std::vector<std::int16_t> samples;
};

// Reads 16-bit mono audio, as speech recorders write it.
Recording read_wav(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  Recording recording;
  const auto number = [&](std::size_t at, auto value) {
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
  };
  if (bytes.size() < 12 || bytes.compare(0, 4, "RIFF") != 0)
    throw Failure(Status::kIo, "is not a WAV file", path);
  for (std::size_t at = 12; at + 8 <= bytes.size();) {
    const std::size_t size = number(at + 4, std::uint32_t{}), begin = at + 8;
    if (size > bytes.size() - begin) break;
    if (bytes.compare(at, 4, "fmt ") == 0 && size >= 16) {
      recording.rate = number(begin + 4, std::uint32_t{});
      if (number(begin + 2, std::uint16_t{}) != 1 || number(begin + 14, std::uint16_t{}) != 16)
        throw Failure(Status::kUsage, "is not 16-bit mono", path);
    }
    if (bytes.compare(at, 4, "data") == 0) {
      recording.samples.resize(size / 2);
      std::memcpy(recording.samples.data(), bytes.data() + begin, recording.samples.size() * 2);
    }
    at = begin + size + size % 2;
  }
  return recording;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3) {
    std::fprintf(stderr, "usage: microphone MODEL RECORDING.wav [STATE_INPUT=STATE_OUTPUT ...]\n");
    return 2;
  }
  const Session session = Session::load(argv[1], {.cache = "cache"});
  Call call = session.call();
  std::vector<std::pair<std::string, std::string>> states;
  for (int i = 3; i < argc; ++i) {
    const std::string text = argv[i];
    const std::size_t equals = text.find('=');
    states.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  for (const auto& [input, output] : states) {
    const Call::Bytes state = call.input_bytes(input);
    std::memset(state.data, 0, state.size);
  }
  const Recording recording = read_wav(argv[2]);
  SoundStream stream(session);
  constexpr std::size_t kPiece = 160;  // samples that an audio driver delivers at once
  int frames = 0;
  for (std::size_t at = 0; at < recording.samples.size(); at += kPiece) {
    const std::size_t count = std::min(kPiece, recording.samples.size() - at);
    stream.push(std::span(recording.samples).subspan(at, count));
    while (stream.next(call)) {
      call.run();
      for (const auto& [input, output] : states) {
        const Call::Bytes from = call.output_bytes(output), to = call.input_bytes(input);
        if (from.size != to.size)
          throw Failure(Status::kUsage, "the sizes of a state output and its input differ", output);
        std::memcpy(to.data, from.data, to.size);
      }
      const auto values = call.output<float>(session.outputs()[0].name);
      std::printf("frame %d: %s %.4f\n", frames++, session.outputs()[0].name.c_str(),
                  static_cast<double>(values[0]));
    }
  }
  return 0;
} catch (const Failure& failure) {
  std::fprintf(stderr, "%s (%s)\n", failure.what(), ounce::name_of(failure.status()));
  return 1;
}
