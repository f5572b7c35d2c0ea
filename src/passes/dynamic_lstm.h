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
#pragma once

#include <cstddef>
#include <string>

#include "graph/index.h"
#include "onnx/model.h"
#include "passes/decoder.h"
#include "passes/editors.h"
#include "plan/decision.h"

namespace ounce::passes {

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
