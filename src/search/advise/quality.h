// Is a quantized model still good enough? The gate depends on the data: the metric if there are labels, else
// the predictions of a classifier, else the SQNR of the outputs, of which generated sound needs more than
// others. A method is acceptable if the gate holds on unseen data, with the confidence that verify() reports.
#pragma once

#include <ounce/advise.h>

#include <cstdint>

namespace ounce::search {

// The gates that fit the model and the data. `answers`: top-1 predictions that a method is compared on,
// counted as evidence (Tally::of); 0 if the model gives none. Fewer than 99 % agreement takes are not asked:
// the SQNR decides, which fewer samples can show.
Gates gates_for(const AdviseOptions& options, const FamilyFinding& family, double answers);

// Samples without any loss that show these gates at this confidence.
std::uint64_t least_samples(const Gates& gates, double confidence);

// Fills in the quality of a method, after its comparison with the original.
void judge(const Gates& gates, const VerifyResult& compared, MethodFinding& finding);

}  // namespace ounce::search
