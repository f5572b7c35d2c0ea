// What advice calls things, in text and in JSON alike.
#pragma once

#include <ounce/advise.h>

namespace ounce::report {

inline const char* name_of(ModelFamily family) {
  switch (family) {
    case ModelFamily::kCnn: return "cnn";
    case ModelFamily::kTransformer: return "transformer";
    case ModelFamily::kRecurrent: return "rnn";
    case ModelFamily::kAudioGenerator: return "audio_generator";
    case ModelFamily::kDetector: return "detector";
    case ModelFamily::kMlp: return "mlp";
    case ModelFamily::kTrees: return "trees";
    case ModelFamily::kOther: break;
  }
  return "other";
}

inline const char* name_of(Format format) {
  switch (format) {
    case Format::kW8: return "w8";
    case Format::kW4: return "w4";
    case Format::kW16: return "w16";
    case Format::kDynamic: return "dynamic";
    case Format::kStatic: return "static";
    case Format::kFp16: return "fp16";
    case Format::kBf16: return "bf16";
    case Format::kFp32: break;
  }
  return "fp32";
}

inline const char* name_of(AdviceVerdict verdict) {
  switch (verdict) {
    case AdviceVerdict::kQuantize: return "quantize";
    case AdviceVerdict::kStoreSmall: return "store_small";
    case AdviceVerdict::kLeave: break;
  }
  return "do_not_quantize";
}

inline const char* name_of(SizeClass size) {
  switch (size) {
    case SizeClass::kSmall: return "small";
    case SizeClass::kMedium: return "medium";
    case SizeClass::kLarge: break;
  }
  return "large";
}

}  // namespace ounce::report
