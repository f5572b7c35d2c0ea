// Recurrent layers: rnn, lstm and gru over x [steps, batch, inputs].
#include <algorithm>
#include <cmath>

#include "kernels/matmul.h"
#include "runtime/mil/call.h"

namespace ounce::mil {
namespace {

using Activation = float (*)(float);

Activation activation_of(const Call& call, std::string_view input, std::string_view otherwise) {
  const std::string name = call.text(input, otherwise);
  if (name == "sigmoid") return [](float x) { return 1.0F / (1.0F + std::exp(-x)); };
  if (name == "tanh") return [](float x) { return std::tanh(x); };
  if (name == "relu") return [](float x) { return std::max(x, 0.0F); };
  if (name == "linear") return [](float x) { return x; };
  if (name == "sigmoid_hard" || name == "hard_sigmoid")
    return [](float x) { return std::clamp(0.2F * x + 0.5F, 0.0F, 1.0F); };
  if (name == "scaled_tanh") return [](float x) { return 1.7159F * std::tanh(2.0F / 3.0F * x); };
  call.fail("unknown activation '" + name + "'");
}

// The weights of one direction: `gates` blocks of rows.
struct Weights {
  const Array *input, *hidden, *bias, *peephole = nullptr;
  std::size_t gates, size, inputs;  // `size`: width of the hidden state

  Weights(const Call& call, std::size_t gate_count, const std::string& suffix)
      : input(&call.floats("weight_ih" + suffix)),
        hidden(&call.floats("weight_hh" + suffix)),
        bias(call.find("bias" + suffix)),
        gates(gate_count) {
    call.require(hidden->rank() == 2 && input->rank() == 2, "the weights must be matrices");
    size = static_cast<std::size_t>(hidden->dims[1]);
    inputs = static_cast<std::size_t>(input->dims[1]);
    const auto rows = static_cast<std::int64_t>(gates * size);
    call.require(hidden->dims[0] == rows && input->dims[0] == rows,
                 "the weights must have a block of rows for each gate");
    call.require(bias == nullptr || (bias->is_float() && bias->f.size() == gates * size),
                 "bias does not match the weights");
  }
};

std::vector<float> turned(const Array& matrix) {
  const auto rows = static_cast<std::size_t>(matrix.dims[0]),
             columns = static_cast<std::size_t>(matrix.dims[1]);
  std::vector<float> out(matrix.f.size());
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c) out[c * rows + r] = matrix.f[r * columns + c];
  return out;
}

struct Shape {
  std::size_t steps, batch, inputs;
};

Shape shape_of(const Call& call, const Weights& weights) {
  const Array& x = call.floats("x");
  call.require(x.rank() == 3 && static_cast<std::size_t>(x.dims[2]) == weights.inputs,
               "x must be [steps, batch, inputs]");
  return {static_cast<std::size_t>(x.dims[0]), static_cast<std::size_t>(x.dims[1]), weights.inputs};
}

// The part of a state that belongs to one direction, [batch, size].
std::vector<float> state_of(const Call& call, const char* input, const Shape& shape, std::size_t size,
                            std::size_t direction, std::size_t directions) {
  const Array& given = call.floats(input);
  call.require(given.f.size() == shape.batch * size * directions, "an initial state has the wrong size");
  std::vector<float> state(shape.batch * size);
  for (std::size_t b = 0; b < shape.batch; ++b)
    std::copy_n(given.f.begin() + static_cast<std::ptrdiff_t>((b * directions + direction) * size), size,
                state.begin() + static_cast<std::ptrdiff_t>(b * size));
  return state;
}

// Runs the steps of one direction. `step` updates the state from: the gates of the input with the bias
// [batch, gates × size], the gates of the hidden state, and the state.
template <class Step>
void run(const Call& call, const Weights& weights, const Shape& shape, bool is_reverse,
         std::vector<float>& state, const Step& step) {
  const Array& x = call.floats("x");
  const std::size_t rows = weights.gates * weights.size;
  const std::vector<float> from_input = turned(*weights.input), from_hidden = turned(*weights.hidden);
  std::vector<float> of_input(shape.batch * rows), of_hidden(shape.batch * rows);
  for (std::size_t at = 0; at < shape.steps; ++at) {
    const std::size_t t = is_reverse ? shape.steps - 1 - at : at;
    kernels::multiply({x.f.data() + t * shape.batch * shape.inputs, from_input.data(), of_input.data(),
                       shape.batch, rows, shape.inputs, shape.inputs, rows, rows});
    kernels::multiply({state.data(), from_hidden.data(), of_hidden.data(), shape.batch, rows, weights.size,
                       weights.size, rows, rows});
    if (weights.bias != nullptr)
      for (std::size_t k = 0; k < of_input.size(); ++k) of_input[k] += weights.bias->f[k % rows];
    step(t, of_input, of_hidden);
  }
}

// The outputs of a layer: all steps or the last one, [steps, batch, directions × size], and the last state.
struct Outputs {
  Array sequence, last;
  bool keeps_all;
  std::size_t size, directions;

  Outputs(const Call& call, const Shape& shape, std::size_t hidden, std::size_t direction_count)
      : keeps_all(call.flag("output_sequence", false)), size(hidden), directions(direction_count) {
    const auto batch = static_cast<std::int64_t>(shape.batch),
               width = static_cast<std::int64_t>(hidden * direction_count);
    const ElementType type = call.array("x").type;
    sequence = Array::floats(type, {keeps_all ? static_cast<std::int64_t>(shape.steps) : 1, batch, width});
    last = Array::floats(type, {batch, width});
  }
  void put(Array& array, std::size_t step, std::size_t direction, const std::vector<float>& state) const {
    const std::size_t batch = state.size() / size;
    for (std::size_t b = 0; b < batch; ++b)
      std::copy_n(state.begin() + static_cast<std::ptrdiff_t>(b * size), size,
                  array.f.begin() +
                      static_cast<std::ptrdiff_t>(((step * batch + b) * directions + direction) * size));
  }
};

bool is_reverse(const Call& call) {
  const std::string direction = call.text("direction", "forward");
  call.require(direction == "forward" || direction == "reverse", "unknown direction");
  return direction == "reverse";
}

std::vector<Array> rnn(const Call& call) {
  const Weights weights(call, 1, "");
  const Shape shape = shape_of(call, weights);
  const Activation activation = activation_of(call, "activation", "tanh");
  std::vector<float> state = state_of(call, "initial_h", shape, weights.size, 0, 1);
  Outputs outputs(call, shape, weights.size, 1);
  run(call, weights, shape, is_reverse(call), state,
      [&](std::size_t t, const auto& of_input, const auto& of_hidden) {
        for (std::size_t at = 0; at < state.size(); ++at)
          state[at] = activation(of_input[at] + of_hidden[at]);
        if (outputs.keeps_all) outputs.put(outputs.sequence, t, 0, state);
      });
  if (!outputs.keeps_all) outputs.put(outputs.sequence, 0, 0, state);
  outputs.put(outputs.last, 0, 0, state);
  std::vector<Array> results;
  results.push_back(std::move(outputs.sequence));
  results.push_back(std::move(outputs.last));
  return results;
}

// Weight blocks: reset, output, update. The reset gate is applied to the state before its product.
std::vector<Array> gru(const Call& call) {
  const Weights weights(call, 3, "");
  const Shape shape = shape_of(call, weights);
  const Activation recurrent = activation_of(call, "recurrent_activation", "sigmoid"),
                   activation = activation_of(call, "activation", "tanh");
  // The documentation of these two does not define their computation.
  call.require(call.find("input_bias") == nullptr && !call.flag("reset_after", false),
               "input_bias and reset_after are not supported");
  std::vector<float> state = state_of(call, "initial_h", shape, weights.size, 0, 1);
  Outputs outputs(call, shape, weights.size, 1);
  const std::size_t size = weights.size, rows = 3 * size;
  const std::vector<float> hidden_weights = turned(*weights.hidden);
  std::vector<float> masked(state.size()), product(state.size());
  run(call, weights, shape, is_reverse(call), state,
      [&](std::size_t t, const auto& of_input, const auto& of_hidden) {
        const auto gate = [&](std::size_t at, std::size_t block) {
          return at / size * rows + block * size + at % size;
        };
        for (std::size_t at = 0; at < state.size(); ++at)
          masked[at] = recurrent(of_input[gate(at, 0)] + of_hidden[gate(at, 0)]) * state[at];
        kernels::multiply({masked.data(), hidden_weights.data() + size, product.data(), shape.batch, size,
                           size, size, rows, size});
        for (std::size_t at = 0; at < state.size(); ++at) {
          const float update = recurrent(of_input[gate(at, 2)] + of_hidden[gate(at, 2)]);
          const float fresh = activation(of_input[gate(at, 1)] + product[at]);
          state[at] = (1.0F - update) * fresh + update * state[at];
        }
        if (outputs.keeps_all) outputs.put(outputs.sequence, t, 0, state);
      });
  if (!outputs.keeps_all) outputs.put(outputs.sequence, 0, 0, state);
  outputs.put(outputs.last, 0, 0, state);
  std::vector<Array> results;
  results.push_back(std::move(outputs.sequence));
  results.push_back(std::move(outputs.last));
  return results;
}

// Weight blocks: input, forget, output, cell.
std::vector<Array> lstm(const Call& call) {
  const bool is_both = call.text("direction", "forward") == "bidirectional";
  const std::size_t directions = is_both ? 2 : 1;
  const Weights first(call, 4, "");
  const Shape shape = shape_of(call, first);
  const Activation recurrent = activation_of(call, "recurrent_activation", "sigmoid"),
                   cell_activation = activation_of(call, "cell_activation", "tanh"),
                   activation = activation_of(call, "activation", "tanh");
  const std::size_t size = first.size, rows = 4 * size;
  Outputs outputs(call, shape, size, directions);
  Array cells = Array::zeros_like(outputs.last, outputs.last.dims);
  const bool clips = call.find("clip") != nullptr;
  const float clip = call.number("clip", 0.0F);
  for (std::size_t direction = 0; direction < directions; ++direction) {
    const std::string suffix = direction == 0 ? "" : "_back";
    const Weights weights(call, 4, suffix);
    call.require(weights.size == size && weights.inputs == first.inputs,
                 "the weights of the directions differ in shape");
    const Array* peephole = call.find("peephole" + suffix);
    call.require(peephole == nullptr || (peephole->is_float() && peephole->f.size() == 3 * size),
                 "peephole does not match the weights");
    std::vector<float> state = state_of(call, "initial_h", shape, size, direction, directions);
    std::vector<float> cell = state_of(call, "initial_c", shape, size, direction, directions);
    const bool backwards = is_both ? direction == 1 : is_reverse(call);
    run(call, weights, shape, backwards, state,
        [&](std::size_t t, const auto& of_input, const auto& of_hidden) {
          for (std::size_t b = 0; b < shape.batch; ++b)
            for (std::size_t k = 0; k < size; ++k) {
              const std::size_t at = b * size + k;
              const auto gate = [&](std::size_t block) {
                return of_input[b * rows + block * size + k] + of_hidden[b * rows + block * size + k];
              };
              const auto peep = [&](std::size_t block) {
                return peephole == nullptr ? 0.0F : peephole->f[block * size + k];
              };
              const float in = recurrent(gate(0) + peep(0) * cell[at]),
                          forget = recurrent(gate(1) + peep(1) * cell[at]);
              float fresh = cell_activation(gate(3));
              if (clips) fresh = std::clamp(fresh, -std::abs(clip), std::abs(clip));
              cell[at] = forget * cell[at] + in * fresh;
              state[at] = recurrent(gate(2) + peep(2) * cell[at]) * activation(cell[at]);
            }
          if (outputs.keeps_all) outputs.put(outputs.sequence, t, direction, state);
        });
    if (!outputs.keeps_all) outputs.put(outputs.sequence, 0, direction, state);
    outputs.put(outputs.last, 0, direction, state);
    outputs.put(cells, 0, direction, cell);
  }
  std::vector<Array> results;
  results.push_back(std::move(outputs.sequence));
  results.push_back(std::move(outputs.last));
  results.push_back(std::move(cells));
  return results;
}

constexpr Operation kRecurrent[] = {
    {"gru", gru},
    {"lstm", lstm},
    {"rnn", rnn},
};

}  // namespace

std::span<const Operation> recurrent_operations() { return kRecurrent; }

}  // namespace ounce::mil
