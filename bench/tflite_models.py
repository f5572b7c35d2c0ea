"""The .tflite models of tflite.py and tflite_peer.py: their files, their data, and their metrics.

OUNCE_ZOO is the folder of the benchmark models; OUNCE_MEDIAPIPE contains the .tflite files of the wheel mediapipe 0.10.21 (also
in subfolders); OUNCE_TFLITE_MORE may name a folder with ner.tflite and gpt.tflite. Needs numpy and pillow (pip).

Each model has calibration samples and unseen samples, as arrays by the names of its inputs.
"""
import dataclasses
import functools
import json
import os
import pathlib
import sys
from typing import Callable, Optional

import numpy as np

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent / "examples" / "commands"
CALIBRATION_SAMPLES, FACE_SAMPLES = 64, 32


def folder(variable, needed=True):
    value = os.environ.get(variable)
    if not value and needed:
        sys.exit(f"set {variable} (see bench/tflite_models.py)")
    return pathlib.Path(value) if value else None


@functools.cache
def table(name):
    path = EXAMPLES / name
    return np.load(path if path.exists() else folder("OUNCE_ZOO") / name)


@dataclasses.dataclass
class Data:
    calibration: dict
    unseen: dict
    truth: object = None


@dataclasses.dataclass
class Model:
    name: str
    path: pathlib.Path
    make_data: Optional[Callable[["Model"], Data]]
    metric: str = ""
    judge: Optional[Callable] = None  # (outputs, truth) → the metric
    first_output_only: bool = False
    is_random: bool = False  # random data instead of data of its task
    runs: bool = True

    @functools.cached_property
    def data(self):
        return self.make_data(self) if self.make_data else None


# --- data in OUNCE_ZOO --------------------------------------------------------------------------------------------------

def sound(calibration, unseen, truth):
    def shaped(x):
        return (x / np.float32(32768)).astype(np.float32)[:, :, None]
    return Data({"audio": shaped(calibration[:CALIBRATION_SAMPLES])}, {"audio": shaped(unseen)}, truth)


def of_kws(_):
    return sound(table("kws_val.npz")["calib"], table("kws_val.npz")["audio"], table("kws_val.npz")["y"])


def of_commands(_):
    return sound(table("commands_calib.npz")["audio"], table("commands_val.npz")["audio"], table("commands_val.npz")["label"])


def of_mobilenetv2(_):
    z = table("cifar_val.npz")
    mean, std = np.float32([.4914, .4822, .4465]), np.float32([.2470, .2435, .2616])

    def shaped(x):
        return ((x / np.float32(255) - mean) / std).astype(np.float32)
    return Data({"input": shaped(z["calib"][:CALIBRATION_SAMPLES])}, {"input": shaped(z["x"][:500])}, z["y"][:500])


def of_vocoder(_):
    mel = table("vocoder_val.npz")["mel"].transpose(0, 2, 1).astype(np.float32)
    return Data({"mel": np.ascontiguousarray(mel[:60])}, {"mel": np.ascontiguousarray(mel[60:])})


def of_detector(_):
    def pictures(where):
        files = sorted((folder("OUNCE_ZOO") / "detector" / where).glob("*.jpg"))
        return files, np.stack([picture(f, (320, 320)) / np.float32(255) for f in files])
    files, unseen = pictures("val")
    boxes = json.loads((folder("OUNCE_ZOO") / "detector" / "val_boxes.json").read_text())["images"]
    return Data({"images": pictures("calib")[1]}, {"images": unseen}, [boxes[f.name] for f in files])


def picture(path, size=None):
    from PIL import Image
    image = Image.open(path).convert("RGB")
    if size and image.size != size:
        image = image.resize(size, Image.Resampling.BILINEAR)
    return np.asarray(image, np.float32)


def faces():
    return sorted((folder("OUNCE_ZOO") / "faces").glob("*.jpg"))


def of_ultraface(_):
    x = np.stack([(picture(f, (320, 240)) - 127) / np.float32(128) for f in faces()])
    return Data({"input": x[:4]}, {"input": x[4:]})


def of_agnews(_):
    z = table("agnews_val.npz")

    def shaped(ids, mask, count):
        return {"input_ids": z[ids][:count].astype(np.int64), "attention_mask": z[mask][:count].astype(np.int64)}
    return Data(shaped("calib_ids", "calib_mask", CALIBRATION_SAMPLES), shaped("ids", "mask", 400), z["label"][:400])


def of_ner(_):
    z = table("ner_val.npz")

    def shaped(prefix, count):
        return {name: z[prefix + name][:count].astype(np.int64) for name in ("input_ids", "attention_mask")}
    return Data(shaped("calib_", CALIBRATION_SAMPLES), shaped("", 300), z["label"][:300])


def of_gpt(_):
    z = table("gpt_val.npz")
    return Data({"tokens": z["calib"][:32, :64].astype(np.int64)}, {"tokens": z["x"][:32, :64].astype(np.int64)}, z["y"][:32, :64])


# Crops of photos of faces in the model's size: files 1 to 4 for calibration, 5 to 8 unseen.
def of_faces(model, low=0.):
    name, (_, height, width, channels) = image_input(model.path)
    rng = np.random.default_rng(7)

    def crops(files):
        from PIL import Image
        images = [Image.open(f).convert("RGB") for f in files]
        found = []
        for i in range(FACE_SAMPLES):
            image = images[i % len(images)]
            side = int(min(image.size) * rng.uniform(.4, 1))
            left, top = rng.integers(0, image.width - side + 1), rng.integers(0, image.height - side + 1)
            box = (left, top, left + side, top + side)
            x = np.asarray(image.resize((width, height), Image.Resampling.BILINEAR, box), np.float32) / 255
            found.append(x * (1 - low) + low)
        x = np.stack(found).astype(np.float32)
        return x[..., :channels] if channels <= 3 else np.concatenate([x, x[..., :1]], -1)
    files = faces()
    return Data({name: crops(files[:4])}, {name: crops(files[4:])})


def image_input(path):
    from ai_edge_litert import schema_py_generated as schema
    graph = schema.Model.GetRootAs(path.read_bytes(), 0).Subgraphs(0)
    tensor = graph.Tensors(graph.Inputs(0))
    return tensor.Name().decode(), tuple(int(d) for d in tensor.ShapeAsNumpy())


# --- metrics ----------------------------------------------------------------------------------------------------------

def accuracy(outputs, truth):
    logits = outputs[0].reshape(len(truth), -1)
    return float((logits.argmax(-1) == truth).mean())


def entity_f1(outputs, truth):
    """F1 of exact entities; labels: O, then B- and I- of each kind. −1 is ignored."""
    def entities(labels, counted):
        found, kind, begin = set(), None, 0
        words = [label for label, is_counted in zip(labels, counted) if is_counted] + [0]
        for i, label in enumerate(words):
            label = int(label)
            starts = label > 0 and (label % 2 == 1 or kind != (label - 1) // 2)
            if kind is not None and (label == 0 or starts):
                found.add((begin, i, kind))
                kind = None
            if starts:
                kind, begin = (label - 1) // 2, i
        return found
    guesses = outputs[0].reshape(*truth.shape, -1).argmax(-1)
    right = guessed = real = 0
    for guess, label in zip(guesses, truth):
        a, b = entities(guess, label >= 0), entities(label, label >= 0)
        right, guessed, real = right + len(a & b), guessed + len(a), real + len(b)
    return 2 * right / max(guessed + real, 1)


def negative_log_likelihood(outputs, truth):
    logits = outputs[0].reshape(*truth.shape, -1).astype(np.float64)
    logits = logits - logits.max(-1, keepdims=True)
    log_p = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    return float(-np.take_along_axis(log_p, truth[..., None], -1).mean())


def overlap(box, boxes):
    left, top = np.maximum(box[0], boxes[:, 0]), np.maximum(box[1], boxes[:, 1])
    right, bottom = np.minimum(box[2], boxes[:, 2]), np.minimum(box[3], boxes[:, 3])
    common = np.clip(right - left, 0, None) * np.clip(bottom - top, 0, None)
    area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    return common / np.maximum((box[2] - box[0]) * (box[3] - box[1]) + area - common, 1e-9)


def map50(outputs, truth):
    """Mean average precision at IoU .5: scores above .01, suppression at IoU .6, 101 points of recall."""
    boxes = next(o for o in outputs if o.shape[-1] == 4)
    scores = next(o for o in outputs if o is not boxes)
    if scores.shape[-1] != 3:
        scores = scores.transpose(0, 2, 1)
    averages = []
    for kind in range(3):
        guesses, real = [], 0
        for image, objects in enumerate(truth):
            targets = np.array([o["box"] for o in objects if o["label"] == kind], np.float64).reshape(-1, 4)
            real += len(targets)
            s, b = scores[image, :, kind], boxes[image]
            order = np.flatnonzero(s > .01)
            order = order[np.argsort(-s[order], kind="stable")]
            kept = []
            while len(order):
                kept.append(order[0])
                order = order[1:][overlap(b[order[0]], b[order[1:]]) <= .6]
            taken = np.zeros(len(targets), bool)
            for i in kept:
                hit = False
                if len(targets):
                    iou = np.where(taken, 0, overlap(b[i], targets))
                    best = int(iou.argmax())
                    hit = iou[best] >= .5
                    taken[best] |= hit
                guesses.append((s[i], hit))
        guesses.sort(key=lambda g: -g[0])
        hits = np.cumsum([hit for _, hit in guesses])
        precision = hits / np.arange(1, len(hits) + 1)
        precision = np.maximum.accumulate(precision[::-1])[::-1]
        recall = hits / max(real, 1)
        at = np.searchsorted(recall, np.linspace(0, 1, 101))
        averages.append(np.append(precision, 0)[at].mean())
    return float(np.mean(averages))


# --- the list ---------------------------------------------------------------------------------------------------------

ZOO = {
    "kws": (of_kws, "accuracy", accuracy),
    "commands": (of_commands, "accuracy", accuracy),
    "mobilenetv2": (of_mobilenetv2, "accuracy", accuracy),
    "vocoder": (of_vocoder, "", None),
    "detector": (of_detector, "mAP50", map50),
    "ultraface": (of_ultraface, "", None),
    "agnews": (of_agnews, "accuracy", accuracy),
    "silero_dynamic": (None, "", None),
    "ner": (of_ner, "entity F1", entity_f1),
    "gpt": (of_gpt, "nll", negative_log_likelihood),
}
SYMMETRIC = {"face_detection_short_range", "face_detection_full_range_sparse", "pose_detection"}  # inputs from −1 to 1
CANNOT_RUN = {"face_landmark_with_attention"}  # has custom operators


def models(wanted=None):
    found = []
    places = [folder("OUNCE_ZOO") / "tflite", folder("OUNCE_TFLITE_MORE", needed=False)]
    for name, (data, metric, judge) in ZOO.items():
        path = next((p / f"{name}.tflite" for p in places if p and (p / f"{name}.tflite").exists()), None)
        if path:
            found.append(Model(name, path, data, metric, judge))
    wheel = folder("OUNCE_MEDIAPIPE", needed=False)
    for path in sorted(wheel.rglob("*.tflite"), key=lambda p: p.name) if wheel else []:
        name = path.stem
        low = -1. if name in SYMMETRIC else 0.
        runs = name not in CANNOT_RUN
        found.append(Model(name, path, functools.partial(of_faces, low=low), runs=runs, first_output_only=name.startswith("hand_landmark")))
    if wanted:
        if unknown := set(wanted) - {m.name for m in found}:
            sys.exit(f"there is no model {', '.join(sorted(unknown))}")
        found = [m for m in found if m.name in wanted]
    return found


def write_data(model, where):
    """calibration.npz and unseen.npz of a model, for programs that read files; None if it has no data."""
    if model.data is None:
        return None
    where.mkdir(parents=True, exist_ok=True)
    paths = where / "calibration.npz", where / "unseen.npz"
    if not all(p.exists() for p in paths):
        np.savez(paths[0], **model.data.calibration)
        np.savez(paths[1], **model.data.unseen)
    return paths
