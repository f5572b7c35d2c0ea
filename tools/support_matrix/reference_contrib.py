"""Expected outputs of the quantized operators of com.microsoft, for onnx.reference.

Each class is one operator. Real arithmetic throughout: decode, compute, encode; the runtime's integer
arithmetic may differ by one step of the output.
"""
import numpy as np
from onnx.reference.op_run import OpRun


def spread(v, rank, axis):
    """A scalar, or one number for each place of `axis`, so that it broadcasts."""
    v = np.asarray(0 if v is None else v).astype(np.float64)
    if v.size == 1:
        return v.reshape(())
    return v if axis is None else v.reshape([-1 if n == axis % rank else 1 for n in range(rank)])


def decode(x, scale, zero, axis=None):
    return (x.astype(np.float64) - spread(zero, x.ndim, axis)) * spread(scale, x.ndim, axis)


def encode(y, scale, zero, like):
    zero = np.asarray(0 if zero is None else zero)
    info = np.iinfo(like)
    codes = np.rint(y / np.float64(scale)) + zero.astype(np.float64)
    return codes.clip(info.min, info.max).astype(like)


class Contrib(OpRun):
    op_domain = "com.microsoft"


class QuantizeLinear(Contrib):
    def _run(self, x, scale, zero=None, axis=1, **_):
        steps = x.astype(np.float64) / spread(scale, x.ndim, axis)
        like = np.dtype(np.uint8 if zero is None else zero.dtype)
        return (encode(steps, 1, np.uint8(0) if zero is None else spread(zero, x.ndim, axis), like),)


class DequantizeLinear(Contrib):
    def _run(self, x, scale, zero=None, axis=1, **_):
        return (decode(x, scale, zero, axis).astype(scale.dtype),)


class QLinearAdd(Contrib):
    def _run(self, a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero=None):
        return (encode(decode(a, a_scale, a_zero) + decode(b, b_scale, b_zero), y_scale, y_zero, a.dtype),)


class QLinearMul(Contrib):
    def _run(self, a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero=None):
        return (encode(decode(a, a_scale, a_zero) * decode(b, b_scale, b_zero), y_scale, y_zero, a.dtype),)


class QLinearSigmoid(Contrib):
    def _run(self, x, scale, zero, y_scale, y_zero=None):
        return (encode(1 / (1 + np.exp(-decode(x, scale, zero))), y_scale, y_zero, x.dtype),)


class QLinearLeakyRelu(Contrib):
    def _run(self, x, scale, zero, y_scale, y_zero=None, alpha=None):
        real = decode(x, scale, zero)
        return (encode(np.where(real < 0, real * (0.01 if alpha is None else alpha), real), y_scale, y_zero, x.dtype),)


class QLinearSoftmax(Contrib):
    def _run(self, x, scale, zero, y_scale, y_zero=None, axis=None, opset=None):
        power = np.exp(decode(x, scale, zero))
        return (encode(power / power.sum(-1, keepdims=True), y_scale, y_zero, x.dtype),)


def channels_first(x, last):
    return np.moveaxis(x, -1, 1) if last else x


class QLinearAveragePool(Contrib):
    def _run(self, x, scale, zero, y_scale, y_zero=None, kernel_shape=None, channels_last=0, **_):
        real = channels_first(decode(x, scale, zero), channels_last)
        axes = tuple(range(2, real.ndim))
        windows = np.lib.stride_tricks.sliding_window_view(real, tuple(kernel_shape), axes)
        mean = windows.mean(axis=tuple(range(real.ndim, windows.ndim)))
        mean = np.moveaxis(mean, 1, -1) if channels_last else mean
        return (encode(mean, y_scale, y_zero, x.dtype),)


class QLinearGlobalAveragePool(Contrib):
    def _run(self, x, scale, zero, y_scale, y_zero=None, channels_last=0):
        axes = tuple(range(1, x.ndim - 1)) if channels_last else tuple(range(2, x.ndim))
        return (encode(decode(x, scale, zero).mean(axis=axes, keepdims=True), y_scale, y_zero, x.dtype),)


class QLinearConcat(Contrib):
    def _run(self, y_scale, y_zero, *parts, axis=None):
        real = [decode(*parts[n:n + 3]) for n in range(0, len(parts), 3)]
        return (encode(np.concatenate(real, axis=axis), y_scale, y_zero, y_zero.dtype),)


class QLinearWhere(Contrib):
    def _run(self, condition, x, x_scale, x_zero, y, y_scale, y_zero, z_scale, z_zero):
        real = np.where(condition, decode(x, x_scale, x_zero), decode(y, y_scale, y_zero))
        return (encode(real, z_scale, z_zero, x.dtype),)


class QLinearConv(Contrib):
    def _run(self, x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias=None, channels_last=0, **_):
        real = channels_first(decode(x, x_scale, x_zero), channels_last)
        weight = decode(w, w_scale, w_zero, axis=0)
        axes = tuple(range(2, real.ndim))
        windows = np.lib.stride_tricks.sliding_window_view(real, w.shape[2:], axes)
        inside = list(range(real.ndim, windows.ndim))
        y = np.moveaxis(np.tensordot(windows, weight, ([1] + inside, [1] + list(axes))), -1, 1)
        return (encode(np.moveaxis(y, 1, -1) if channels_last else y, y_scale, y_zero, y_zero.dtype),)


class QGemm(Contrib):
    def _run(self, a, a_scale, a_zero, b, b_scale, b_zero, c=None, y_scale=None, y_zero=None, transA=0,
             transB=0, alpha=1.0):
        weight = decode(b.T if transB else b, b_scale, b_zero)
        y = decode(a.T if transA else a, a_scale, a_zero) @ weight
        if c is not None:
            y = y + c * np.float64(a_scale) * b_scale.astype(np.float64)
        return (y.astype(np.float32) if y_scale is None else encode(y, y_scale, y_zero, y_zero.dtype),)


class MatMulIntegerToFloat(Contrib):
    def _run(self, a, b, a_scale, b_scale, a_zero=None, b_zero=None, bias=None):
        y = decode(a, a_scale, a_zero) @ decode(b, b_scale, b_zero)
        return ((y if bias is None else y + bias).astype(a_scale.dtype),)


class DynamicQuantizeMatMul(Contrib):
    def _run(self, a, b, b_scale, b_zero=None, bias=None):
        y = a.astype(np.float64) @ decode(b, b_scale, b_zero)
        return ((y if bias is None else y + bias).astype(a.dtype),)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


class DynamicQuantizeLSTM(Contrib):
    def _run(self, x, w, r, b, _lens, _h, _c, _p, w_scale, w_zero, r_scale, r_zero, hidden_size=None,
             direction="forward", **_):
        ways = []
        for way in range(w.shape[0]):
            weights = decode(w[way], w_scale[way], w_zero[way]), decode(r[way], r_scale[way], r_zero[way])
            ways.append(self.one_way(x[::-1] if way == 1 else x, *weights, b[way], hidden_size))
        ys = [y[::-1] if way == 1 else y for way, (y, _, _) in enumerate(ways)]
        return tuple(v.astype(x.dtype) for v in (
            np.stack(ys, axis=1), np.stack([h for _, h, _ in ways]), np.stack([c for _, _, c in ways])))

    def one_way(self, x, w, r, b, size):
        h = c = np.zeros((x.shape[1], size))
        ys = []
        for step in x.astype(np.float64):
            i, o, f, g = np.split(step @ w + h @ r + b[:4 * size] + b[4 * size:], 4, axis=1)
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
            h = sigmoid(o) * np.tanh(c)
            ys.append(h)
        return np.stack(ys), h, c


def unpack(data, bits):
    """Quantized values of 2, 4 or 8 bits, lowest bits first, along the last axis."""
    each = 8 // bits
    codes = np.stack([(data >> (bits * n)) & (2**bits - 1) for n in range(each)], axis=-1)
    return codes.reshape(*data.shape[:-1], data.shape[-1] * each).astype(np.float64)


class MatMulNBits(Contrib):
    def _run(self, a, b, scales, zero=None, g_idx=None, bias=None, K=None, N=None, bits=4, block_size=None, **_):
        blocks = K // block_size
        codes = unpack(b.reshape(N, blocks, -1), bits)
        if zero is None:
            points = np.full((N, blocks), 2.0**(bits - 1))
        elif zero.dtype == np.uint8:
            points = unpack(zero.reshape(N, -1), bits)[:, :blocks]
        else:
            points = zero.astype(np.float64).reshape(N, blocks)
        weight = (codes - points[..., None]) * scales.astype(np.float64).reshape(N, blocks, 1)
        return ((a.astype(np.float64) @ weight.reshape(N, K).T).astype(a.dtype),)


class GatherBlockQuantized(Contrib):
    def _run(self, data, indices, scales, zero=None, bits=4, block_size=None, **_):
        packed = data.dtype == np.uint8
        codes = unpack(data, bits) if packed else data.astype(np.float64)
        if zero is None:
            points = np.full(scales.shape, 2.0**(bits - 1) if packed else 0.0)
        else:
            points = unpack(zero, bits) if packed else zero.astype(np.float64)
        points, steps = (np.repeat(v.astype(np.float64), block_size, axis=-1) for v in (points, scales))
        return (((codes - points) * steps)[indices].astype(scales.dtype),)


class Gelu(Contrib):
    def _run(self, x, **_):
        from math import erf
        real = x.astype(np.float64)
        return ((real * 0.5 * (1 + np.vectorize(erf)(real / np.sqrt(2)))).astype(x.dtype),)


class QuickGelu(Contrib):
    def _run(self, x, alpha=None):
        real = x.astype(np.float64)
        return ((real * sigmoid(1.702 * real)).astype(x.dtype),)


class FastGelu(Contrib):
    def _run(self, x, bias=None):
        real = x.astype(np.float64)
        return ((0.5 * real * (1 + np.tanh(np.sqrt(2 / np.pi) * (real + 0.044715 * real**3)))).astype(x.dtype),)


class FusedMatMul(Contrib):
    def _run(self, a, b, alpha=1.0, transA=0, transB=0, **_):
        return ((alpha * (a.astype(np.float64) @ b.astype(np.float64).T)).astype(a.dtype),)


class SkipLayerNormalization(Contrib):
    def _run(self, x, skip, gamma, beta=None, bias=None, epsilon=1e-12):
        total = x.astype(np.float64) + skip.astype(np.float64)
        y = (total - total.mean(-1, keepdims=True)) / np.sqrt(total.var(-1, keepdims=True) + epsilon)
        y = y * gamma.astype(np.float64) + (0 if beta is None else beta.astype(np.float64))
        return (y.astype(x.dtype),)


ALL = [value for value in list(globals().values())
       if isinstance(value, type) and issubclass(value, Contrib) and value is not Contrib]
