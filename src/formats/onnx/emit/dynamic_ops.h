// Arithmetic on integers whose scales are found while the model runs; see integer_ops.h.
#pragma once

#include <cstddef>
#include <string>

#include "formats/onnx/edit/body_editor.h"
#include "formats/onnx/emit/decoder.h"
#include "formats/onnx/emit/integer_ops.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/plan/plan.h"
#include "formats/onnx/plan/weights.h"

namespace ounce::passes {

void put_dynamic_ops(Editors& editors, const graph::Index& index, const plan::Plan& plan,
                     IntegerParameters& parameters);

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

// What DynamicQuantizeLinear gives.
struct CodedInput {
  Bytes codes, scale, zero;
};

// Replaces the Attention at `position`, of which plan::why_not_dynamic_attention() says nothing. The scales
// of the weight are float32, one for all ([] or [1]) or [3·hidden]; zeros are of the same shape, or empty
// when they are all 0.
void put_dynamic_attention(BodyEditor& editor, std::size_t position, const CodedInput& input,
                           const StoredNames& weight);

// LSTM on 8-bit weights, with activations that are coded while the model runs: com.microsoft's
// DynamicQuantizeLSTM.
//
//   LSTM(X, W, R, B, lengths, h, c, P) -> Y, Yh, Yc
//
//     →   codes of W ─ Transpose ─ W', codes of R ─ Transpose ─ R'
//         DynamicQuantizeLSTM(X, W', R', B, lengths, h, c, P, W scales, W zeros, R scales, R zeros) -> Y, Yh,
//         Yc
//
// The kernel wants weights as [directions, input, 4·hidden], where LSTM has [directions, 4·hidden, input].
// Codes are stored as LSTM has them, so that everything that reads stored weights knows their layout, and a
// Transpose turns them: runtimes fold it when a session is created, and are as fast as with turned codes.
//
// What the kernel takes, found by running it (1.17.3, 1.22.0 and 1.30.0 agree):
//   - Codes are int8 or uint8. Scales are [directions] or [directions, 4·hidden]. Zeros are needed, in the
//     shape of the scales: with zeros for each direction only and scales for each channel, the second
//     direction is decoded with what stands behind them in memory. Zeros of channels must all be the same, 0
//     for int8.
//   - Bias, lengths, initial states, peepholes, both directions, activations with alpha and beta, clip and
//     input_forget are as those of LSTM. `layout` is refused, even 0, and so is what LSTM had before opset 7.
//
// What it is worth, against LSTM in FP32 (1.30.0, one thread, AVX-512 VNNI, int8, a scale a channel):
//
//   input  hidden  steps  batch   faster            input  hidden  steps  batch   faster
//     128     128      1      1   1.25 x              128     256    100      1   2.9 x
//     128     256      1      1   1.7 x               512     512    100      1   3.4 x
//     512     512      1      1   2.7 x               128     128    100      8   2.1 x
//     128     128    100      1   2.0 x               128     256    100      8   2.6 x
//
//   Outputs keep 38 to 45 dB. One scale a direction gains 3 to 20 % of speed and loses 6 to 15 dB. uint8 is
//   as fast as int8 until 1.22.0; in 1.30.0 it loses half of the gain (1.2 to 2.2 x).
//   In a small model of single steps nothing is left of it: silero_vad (hidden 128, one step a run) takes 118
//   us before and 120 us after (1.31.1, its weights folded beforehand, as they are computed in the file).

// A weight as it is stored: symmetric codes, one a byte, in the layout of LSTM, scaled by tensor or by
// channel.
struct StoredGates {
  const plan::Decision* decision = nullptr;
  StoredNames names;  // the scales are float32; zeros is empty when they are all 0
};

// Replaces the LSTM at `position`, of which plan::why_not_dynamic_lstm() says nothing. The domain is still to
// be imported.
void put_dynamic_lstm(Editors& editors, std::size_t body, std::size_t position, const StoredGates& weight,
                      const StoredGates& recurrence);

}  // namespace ounce::passes
