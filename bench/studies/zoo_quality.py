#!/usr/bin/env python3
"""Weight-only formats on real models: size, output SQNR and speed against FP32, interleaved in one run.

    OUNCE_ZOO=/path/to/zoo bench/studies/zoo_quality.py [--to w8,w16] [--runs 30] [-- ounce options …]

Needs numpy, onnx and onnxruntime (pip). Models without data in OUNCE_ZOO get seeded random input; the table says so.
"""
import argparse, os, subprocess, sys, tempfile, time, wave
import numpy as np
import onnxruntime as ort

MEAN, STD = np.array([.4914, .4822, .4465]), np.array([.2470, .2435, .2616])


def zoo_inputs(name, zoo, rows):
    """The model's validation data, preprocessed as for training; None if there is none."""
    load = lambda file: np.load(os.path.join(zoo, file))
    if name == "mobilenetv2":
        x = load("cifar_val.npz")["x"][:rows]
        return {"input": (((x / 255.0) - MEAN) / STD).transpose(0, 3, 1, 2).astype(np.float32)}
    if name == "kws":
        return {"audio": (load("kws_val.npz")["audio"][:rows].astype(np.float32) / 32768)[:, None, :]}
    if name == "commands":
        return {"audio": (load("commands_val.npz")["audio"][:rows].astype(np.float32) / 32768)[:, None, :]}
    if name == "vocoder":
        return {"mel": load("vocoder_val.npz")["mel"][60:60 + min(rows, 60)].astype(np.float32)}
    if name == "gpt":
        return {"tokens": load("gpt_val.npz")["x"][:min(rows, 32)].astype(np.int64)}
    if name == "agnews":
        data = load("agnews_val.npz")
        return {"input_ids": data["ids"][:rows].astype(np.int64), "attention_mask": data["mask"][:rows].astype(np.int64)}
    return None


def random_inputs(session):
    rng = np.random.default_rng(0)
    feed = {}
    for value in session.get_inputs():
        shape = [d if isinstance(d, int) and d > 0 else 1 for d in value.shape]
        if value.name == "sr":
            feed[value.name] = np.array(16000, dtype=np.int64)
        elif value.name == "input" and len(shape) == 2 and shape[1] == 1:  # silero: [N, samples]
            feed[value.name] = (rng.standard_normal((1, 512)) * 0.1).astype(np.float32)
        elif "float" in value.type:
            feed[value.name] = (rng.standard_normal(shape) * (0 if value.name == "state" else 1)).astype(np.float32)
        else:
            feed[value.name] = np.ones(shape, dtype=np.int64)
    return feed


def session(path):
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def stream_vad(vad, path):
    """Speech probabilities over a recording, 32 ms at a time, with the recurrent state: errors may accumulate."""
    with wave.open(path) as file:
        sound = np.frombuffer(file.readframes(file.getnframes()), dtype=np.int16).astype(np.float32) / 32768
    state, context, result = np.zeros((2, 1, 128), np.float32), np.zeros((1, 64), np.float32), []
    for start in range(0, len(sound) - 512, 512):
        chunk = sound[start:start + 512][None]
        output, state = vad.run(None, {"input": np.concatenate([context, chunk], 1), "state": state, "sr": np.array(16000)})
        context = chunk[:, -64:]
        result.append(output[0, 0])
    return np.array(result)


def sqnr(reference, candidate):
    signal = sum(float(np.sum(np.square(r.astype(np.float64)))) for r in reference)
    noise = sum(float(np.sum(np.square(r.astype(np.float64) - c.astype(np.float64)))) for r, c in zip(reference, candidate))
    return float("inf") if noise == 0 else 10 * np.log10(signal / noise)


def p50_interleaved(sessions, feed, runs):
    small = {k: (v[:1] if v.ndim > 1 else v) for k, v in feed.items()}
    if "state" in small:
        small = feed
    times = [[] for _ in sessions]
    for _ in range(runs):
        for i, s in enumerate(sessions):
            start = time.perf_counter()
            s.run(None, small)
            times[i].append(time.perf_counter() - start)
    return [float(np.median(t[len(t) // 5:])) for t in times]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ounce", default=os.path.join(os.path.dirname(__file__), "..", "..", "build", "ounce"))
    parser.add_argument("--to", default="w8,w16,w4")
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("options", nargs="*", help="more options for ounce quantize")
    arguments = parser.parse_args()
    zoo = os.environ.get("OUNCE_ZOO")
    if not zoo:
        sys.exit("set OUNCE_ZOO to the folder of the benchmark models")
    embedded = os.path.join(os.path.dirname(__file__), "..", "..", "examples", "commands")
    models = [(os.path.join(zoo, f), zoo) for f in sorted(os.listdir(zoo)) if f.endswith(".onnx")]
    models.append((os.path.join(embedded, "commands.onnx"), embedded))
    print(f"onnxruntime {ort.__version__}, 1 thread, {arguments.runs} interleaved runs")
    print(f"{'model':18} {'format':8} {'size %':>7} {'SQNR dB':>8} {'top-1 agree':>11} {'speed':>6} {'load':>6}  data")
    with tempfile.TemporaryDirectory() as folder:
        for path, data_folder in models:
            name = os.path.splitext(os.path.basename(path))[0]
            reference = session(path)
            feed = zoo_inputs(name, data_folder, arguments.rows)
            source = "zoo" if feed else "random"
            feed = feed or random_inputs(reference)
            expected = reference.run(None, feed)
            for form in arguments.to.split(","):
                out = os.path.join(folder, f"{name}.{form}.onnx")
                subprocess.run([arguments.ounce, "quantize", path, "-o", out, "--to", form, *arguments.options],
                               check=True, stdout=subprocess.DEVNULL)
                start = time.perf_counter(); session(path); load_reference = time.perf_counter() - start
                start = time.perf_counter(); candidate = session(out); load = time.perf_counter() - start
                got = candidate.run(None, feed)
                agree = float(np.mean(expected[0].reshape(-1, expected[0].shape[-1]).argmax(-1) ==
                                      got[0].reshape(-1, got[0].shape[-1]).argmax(-1)))
                base, fast = p50_interleaved([reference, candidate], feed, arguments.runs)
                recording = os.path.join(zoo, "silero_test.wav")
                quality = sqnr(expected, got)
                if name == "silero_vad" and os.path.exists(recording):
                    heard, hears = stream_vad(reference, recording), stream_vad(candidate, recording)
                    quality, agree, source = sqnr([heard], [hears]), float(np.mean((heard > .5) == (hears > .5))), "recording"
                print(f"{name:18} {form:8} {100 * os.path.getsize(out) / os.path.getsize(path):7.2f} "
                      f"{quality:8.1f} {agree:11.4f} {base / fast:6.2f} {load / load_reference:6.2f}  {source}")


if __name__ == "__main__":
    main()
