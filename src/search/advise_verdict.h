// The recommendation: what to do with a model, after what has been measured.
//
//   nothing to code, or coded already                        leave it
//   a method is faster and good enough                       quantize with the fastest
//   a method is faster but loses too much, and there is data  tune: a mix that keeps the quality
//   nothing is faster, the model is not small                 store it small
//   nothing is faster, the model is small                     leave it
#pragma once

#include <ounce/advise.h>

namespace ounce::search {

// Fills in verdict, headline, reasons and commands.
void decide(const AdviseOptions& options, AdviseResult& result);

}  // namespace ounce::search
