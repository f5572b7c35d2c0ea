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
