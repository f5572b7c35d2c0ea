// Attention on 8-bit weights, with activations that are coded while the model runs: com.microsoft's
// QAttention in place of its Attention, which models have that were fused for the runtime. (Others have plain
// MatMuls.)
//
//   Attention(x, W, b, mask, past) -> y, present
//
//     →   DynamicQuantizeLinear(x) -> codes, scale, zero
//         QAttention(codes, W codes, b, scale, W scales, mask, zero, W zeros, past) -> y, present
//
// Only the product with W, which gives the queries, keys and values, is done on integers.
//
// What the kernel takes, found by running it (1.17.3, 1.22.0 and 1.30.0 agree):
//   - Codes of W are int8 or uint8, [input, 3·hidden]. Scales and zeros are one for all or one a column;
//   zeros
//     may be left out. Masks of every kind that Attention takes on a CPU, past and present, unidirectional,
//     scale and mask_filter_value are as those of Attention.
//   - The bias is needed. (Attention without one crashes these runtimes.)
//   - qkv_hidden_sizes and rotary_embedding_dim are refused, and a bias of the scores (input 5) has no place.
//     do_rotary is taken and ignored.
//   - DynamicQuantizeLinear needs opset 11.
//
// What it is worth, against Attention in FP32 (1.30.0, one thread, AVX-512 VNNI, int8, a scale a column):
//
//   hidden  heads  tokens   faster            hidden  heads  tokens   faster
//      256      4       8   2.0 x                768     12      32   3.0 x
//      256      4     128   1.9 x                768     12     128   2.5 x
//      768     12       1   2.5 x                768     12     512   1.8 x
//
//   Outputs keep 31 to 40 dB; one scale for all is no faster and loses 6 to 11 dB. uint8 is as fast
//   in 1.22.0, but gives only 1.25 to 1.4 x in 1.30.0.
#pragma once

#include <cstddef>
#include <string>

#include "graph/index.h"
#include "onnx/model.h"
#include "passes/body_editor.h"
#include "passes/decoder.h"

namespace ounce::passes {

// What DynamicQuantizeLinear gives.
struct CodedInput {
  Bytes codes, scale, zero;
};

// Replaces the Attention at `position`, of which plan::why_not_dynamic_attention() says nothing. The scales
// of the weight are float32, one for all ([] or [1]) or [3·hidden]; zeros are of the same shape, or empty
// when they are all 0.
void put_dynamic_attention(BodyEditor& editor, std::size_t position, const CodedInput& input,
                           const StoredNames& weight);

}  // namespace ounce::passes
