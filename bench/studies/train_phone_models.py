#!/usr/bin/env python3
"""Trains the MobileNetV3-Large and EfficientNet-B0 of bench/phone_models.py on the images in OUNCE_ZOO.

usage: bench/studies/train_phone_models.py FOLDER [--only mobilenetv3,efficientnet] [--epochs N] [--batch 32] [--threads 1]
needs numpy, onnx, onnxruntime and tensorflow-cpu (pip)

The teacher is the classifier in OUNCE_ZOO: a network learns its predictions for images that are shifted, flipped and, half of
them, blended with another. The last 600 images of a fixed permutation are held out. Convolutions (except those in gates) are
followed by batch normalizations, which are folded into them when the network is written. Writes FOLDER/NAME_trained.onnx and
FOLDER/NAME_trained.npz with `calib` (200 training images) and `judge` (the 600), and prints the accuracy and the agreement with
the teacher on `judge`. mobilenetv3_224, for enlarged images, continues from FOLDER/mobilenetv3_trained.onnx and is trained only
on request; 48 and 200 images are written with it.
"""

import argparse
import os
import sys
import time

import numpy as np
import onnx
import onnxruntime
import tensorflow as tf
from onnx import helper, numpy_helper

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import phone_models
from phone_models import DEVIATION, MEAN

CLASSES, JUDGE = 10, 600
SHIFT = 4  # largest shift of an image in pixels
TEMPERATURE = 2.
EPSILON, MOMENTUM = 1e-3, .9  # of batch normalization
PEAK, WARM, DECAY = 2e-3, .15, .02  # learning rate, share of warm-up steps, weight decay
# layout, opset, side length of its images, epochs
NETWORKS = {"mobilenetv3": (phone_models.mobilenetv3, 14, 32, 46), "efficientnet": (phone_models.efficientnet, 13, 32, 26),
            "mobilenetv3_224": (phone_models.mobilenetv3, 14, 224, 7)}
SAVED = {32: (200, 600), 224: (48, 200)}  # numbers of images in `calib` and `judge`


class Student(phone_models.Network):
    """The graph with trainable parameters, computed by TensorFlow with channels last."""

    def __init__(self, seed, side, opset):
        super().__init__(seed, np.zeros((1, 3, side, side), np.float32), [3, side, side], opset)
        self.learned, self.running = {}, {}  # by names of tensors
        self.is_unfolding = False

    def learn(self, array):
        name = self.constant(array.astype(np.float32))
        self.learned[name] = tf.Variable(self.tensor(name).transpose(2, 3, 1, 0) if array.ndim == 4 else self.tensor(name))
        return name

    def conv(self, x, outputs, kernel, stride=1, group=1, bias=0., gain=1.):
        inputs, is_pooled = self.values[x].shape[1], self.values[x].shape[2:] == (1, 1)
        shape = (outputs, inputs // group, kernel, kernel)
        weight = self.learn(self.random.standard_normal(shape) * np.sqrt(2 / np.prod(shape[1:])))
        shift = self.learn(np.zeros(outputs))
        if not is_pooled:
            self.learned[weight + ".gain"] = tf.Variable(np.full(outputs, gain, np.float32))
            self.running[weight] = [tf.Variable(np.full(outputs, start, np.float32), trainable=False) for start in (0, 1)]
        return self.add("Conv", [x, weight, shift], kernel_shape=[kernel] * 2, strides=[stride] * 2, group=group, pads=[kernel // 2] * 4)

    def directions(self, features, samples):
        weight = self.random.standard_normal((self.values[features].shape[1], CLASSES)) * .02
        return self.add("Gemm", [features, self.learn(weight), self.learn(np.zeros(CLASSES))])

    def convolved(self, x, node, is_training):
        settings = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        weight, shift = (self.learned[name] for name in node.input[1:])
        pad, stride = settings["pads"][0], settings["strides"][0]
        around = [[0, 0], [pad, pad], [pad, pad], [0, 0]]
        if settings["group"] > 1:
            x = tf.nn.depthwise_conv2d(x, tf.transpose(weight, (0, 1, 3, 2)), [1, stride, stride, 1], around)
        else:
            x = tf.nn.conv2d(x, weight, stride, around)
        name = node.input[1]
        if name not in self.running:
            return x + shift
        gain, running = self.learned[name + ".gain"], self.running[name]
        if self.is_unfolding:
            found = tf.nn.moments(x, (0, 1, 2))
            for variable, value in zip((*running, gain, shift), (*found, tf.sqrt(found[1] + EPSILON), shift + found[0])):
                variable.assign(value)
        if not is_training:
            return tf.compat.v1.nn.fused_batch_norm(x, gain, shift, *running, epsilon=EPSILON, is_training=False)[0]
        x, *found = tf.compat.v1.nn.fused_batch_norm(x, gain, shift, epsilon=EPSILON, is_training=True)
        for old, new in zip(running, found):
            old.assign(MOMENTUM * old + (1 - MOMENTUM) * new)
        return x

    def forward(self, pictures, is_training):
        values = {"input": pictures}
        for node in self.nodes:
            x, *others = (values.get(name) for name in node.input)
            values[node.output[0]] = {
                "Conv": lambda: self.convolved(x, node, is_training),
                "Gemm": lambda: x @ self.learned[node.input[1]] + self.learned[node.input[2]],
                "Relu": lambda: tf.nn.relu(x),
                "Sigmoid": lambda: tf.sigmoid(x),
                "HardSigmoid": lambda: tf.nn.relu6(x + 3) / 6,
                "HardSwish": lambda: x * tf.nn.relu6(x + 3) * (1 / 6),
                "Mul": lambda: x * others[0],
                "Add": lambda: x + others[0],
                "GlobalAveragePool": lambda: tf.reduce_mean(x, (1, 2), keepdims=True),
                "Flatten": lambda: tf.reshape(x, (-1, x.shape[-1])),
            }[node.op_type]()
        return values[self.nodes[-1].output[0]]

    def unfold(self, model, pictures):
        """Continues from a written network: computes normalizations from these images, without changing the predictions."""
        for tensor in model.graph.initializer:
            array = numpy_helper.to_array(tensor)
            self.learned[tensor.name].assign(array.transpose(2, 3, 1, 0) if array.ndim == 4 else array)
        self.is_unfolding = True
        self.forward(tf.constant(pictures.transpose(0, 2, 3, 1)), False)
        self.is_unfolding = False

    def fold(self):
        """Writes the learned parameters to the tensors of the graph."""
        arrays = {n: v.numpy().transpose(3, 2, 0, 1) if len(v.shape) == 4 else v.numpy() for n, v in self.learned.items()}
        for node in self.nodes:
            if node.op_type == "Conv" and node.input[1] in self.running:
                mean, variance = (v.numpy() for v in self.running[node.input[1]])
                factor = arrays[node.input[1] + ".gain"] / np.sqrt(variance + EPSILON)
                arrays[node.input[1]] = arrays[node.input[1]] * factor[:, None, None, None]
                arrays[node.input[2]] = arrays[node.input[2]] - mean * factor
        self.tensors = [numpy_helper.from_array(np.ascontiguousarray(arrays[t.name], np.float32), t.name) for t in self.tensors]


class Descent:
    """Adam with decoupled weight decay; the learning rate rises, then falls as a cosine."""

    def __init__(self, student, steps):
        self.variables, self.steps, self.step = list(student.learned.values()), steps, 0
        self.moments = [[tf.Variable(tf.zeros_like(v), trainable=False) for v in self.variables] for _ in range(2)]
        self.update = tf.function(lambda *inputs: self.descend(student, *inputs))

    def descend(self, student, pictures, wanted, rate, powers):
        with tf.GradientTape() as tape:
            answers = student.forward(pictures, True)
            loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(tf.nn.softmax(wanted / TEMPERATURE), answers / TEMPERATURE)) * TEMPERATURE ** 2
        for v, m, s, gradient in zip(self.variables, *self.moments, tape.gradient(loss, self.variables)):
            if len(v.shape) > 1:
                v.assign(v * (1 - rate * DECAY))
            tf.raw_ops.ResourceApplyAdam(var=v.handle, m=m.handle, v=s.handle, beta1_power=powers[0], beta2_power=powers[1], lr=rate,
                                         beta1=.9, beta2=.99, epsilon=1e-6, grad=gradient)
        return loss

    def __call__(self, pictures, wanted):
        self.step += 1
        at = self.step / self.steps
        rate = PEAK * (at / WARM if at < WARM else .5 + .5 * np.cos(np.pi * (at - WARM) / (1 - WARM)))
        powers = tf.constant([.9 ** self.step, .99 ** self.step], tf.float32)
        return float(self.update(tf.constant(pictures), tf.constant(wanted), tf.constant(rate, tf.float32), powers))


def session(model, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def answers(run, x, side=32):
    """The outputs of a session for any number of images."""
    name = run.get_inputs()[0].name
    return np.concatenate([run.run(None, {name: phone_models.enlarged(x[i:i + 64], side)})[0] for i in range(0, len(x), 64)])


def normalized(pixels):
    return np.ascontiguousarray(((pixels.astype(np.float32) / 255 - MEAN) / DEVIATION).transpose(0, 3, 1, 2))


def begun(folder, name, x):
    """A network to train, and the name of its output; a large one continues from the trained small one."""
    make, opset, side, _ = NETWORKS[name]
    student = Student(3, side, opset)
    output = make(student, None, side == 32)
    if side != 32:
        origin = name.removesuffix(f"_{side}")
        small, _ = begun(folder, origin, x)
        small.unfold(onnx.load(os.path.join(folder, origin + "_trained.onnx")), x[:256])
        student.learned, student.running = small.learned, small.running
    return student, output


def split():
    """Training images (those without labels last), validation images, and their labels."""
    zoo = np.load(os.path.join(os.environ["OUNCE_ZOO"], "cifar_val.npz"))
    order = np.random.default_rng(0).permutation(len(zoo["x"]))
    x, y = normalized(zoo["x"][order]), zoo["y"][order]
    return np.concatenate([x[:-JUDGE], normalized(zoo["calib"])]), x[-JUDGE:], y[-JUDGE:]


def augmented(random, x):
    side = x.shape[-1]
    wide = np.pad(x, [(0, 0), (0, 0), (SHIFT, SHIFT), (SHIFT, SHIFT)], "reflect")
    x = np.stack([p[:, i:i + side, j:j + side] for p, (i, j) in zip(wide, random.integers(0, 2 * SHIFT + 1, (len(x), 2)))])
    flipped = random.random(len(x)) < .5
    x[flipped] = x[flipped, ..., ::-1]
    half = len(x) // 2
    share = random.random((half, 1, 1, 1), np.float32)
    x[:half] = share * x[:half] + (1 - share) * x[random.permutation(half)]
    return x


def train(student, teacher, x, epochs, batch):
    random, count = np.random.default_rng(1), len(x) // batch
    descent, start = Descent(student, epochs * count), time.time()
    for epoch in range(epochs):
        losses = []
        for chosen in random.permutation(len(x))[:count * batch].reshape(count, batch):
            pictures = augmented(random, x[chosen])
            losses.append(descent(phone_models.enlarged(pictures, student.dims[-1]).transpose(0, 2, 3, 1), answers(teacher, pictures)))
        print(f"  epoch {epoch + 1:3} of {epochs}: loss {np.mean(losses):.3f}, {time.time() - start:.0f} s", flush=True)


def check(student, model, x):
    """Checks that the written network gives the outputs of the trained one."""
    side = student.dims[-1]
    expected = student.forward(tf.constant(phone_models.enlarged(x, side).transpose(0, 2, 3, 1)), False).numpy()
    difference = np.abs(answers(model, x, side) - expected).max()
    if difference > 1e-3:
        raise SystemExit(f"the network written differs from the one trained by {difference}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--only", default="mobilenetv3,efficientnet")
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    os.makedirs(arguments.folder, exist_ok=True)
    tf.config.threading.set_intra_op_parallelism_threads(arguments.threads)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    x, judge, labels = split()
    teacher = session(os.path.join(os.environ["OUNCE_ZOO"], "mobilenetv2.onnx"), arguments.threads)
    taught = answers(teacher, judge).argmax(1)
    print(f"teacher: accuracy {np.mean(taught == labels):.3f} on {JUDGE} pictures; {len(x)} to train on", flush=True)
    for name in arguments.only.split(","):
        _, _, side, epochs = NETWORKS[name]
        student, output = begun(arguments.folder, name, x)
        train(student, teacher, x, arguments.epochs or epochs, arguments.batch)
        student.fold()
        model = session(student.model(output).SerializeToString(), arguments.threads)
        check(student, model, judge[:32])
        calib, judged = (phone_models.enlarged(part[:count], side) for part, count in zip((x, judge), SAVED[side]))
        phone_models.save(arguments.folder, name + "_trained", student, output, calib, judged)
        found = answers(model, judge, side).argmax(1)
        print(f"{name}_trained: accuracy {np.mean(found == labels):.3f}, agreement with the teacher {np.mean(found == taught):.3f}", flush=True)


if __name__ == "__main__":
    main()
