// The recommendation: what to do with a model, after what has been measured.
//
//   there is nothing to quantize, or it is quantized          leave it
//   a method is faster and good enough                        quantize with the fastest
//   a method is faster but loses too much, and there is data  tune: a mix that keeps the quality
//   nothing is faster so far, the model is not small          store it small
//   a method could still be faster and good enough            not known yet: something is missing
//   nothing is faster, the model is small                     leave it
//
// A timing that is too short or unreliable says nothing: such a method is neither faster nor slower.
#pragma once

#include <ounce/advise.h>

namespace ounce::search {

// Fills in verdict, headline, reasons and commands.
void decide(const AdviseOptions& options, AdviseResult& result);

}  // namespace ounce::search
