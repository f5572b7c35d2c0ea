// Is a quantized model still good enough? What decides depends on what there is to decide by: labels, else
// the answers of a classifier, else the signal to noise of the outputs, of which a wave needs more than
// others.
#pragma once

#include <ounce/advise.h>

namespace ounce::search {

// Do the answers of a classifier decide? They may stay although its scores moved; made-up inputs ask it
// nothing, though, and labels know better.
bool judges_by_answers(const AdviseOptions& options, const FamilyFinding& family,
                       const std::optional<double>& agreement);

// The gate that fits the model and the data.
// Is there more to look at than outputs: labels, a task, or a command?
bool has_metric(const AdviseOptions& options);
Gates gates_for(const AdviseOptions& options, const FamilyFinding& family);

// What a comparison with the original says of a method.
void judge(const AdviseOptions& options, const FamilyFinding& family, const VerifyResult& compared,
           MethodFinding& finding);

}  // namespace ounce::search
