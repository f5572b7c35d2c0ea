"""Makes meaningful data for bench/studies/foreign_models.py: pages and lines of drawn words, images from scikit-image's package,
speech of examples/commands, plucked strings, files of this system, words of several languages.

The data depend only on a seed (and `file_bytes` on the system). Needs numpy, and pillow for `photos`.
"""

import ast
import os
import sysconfig
import wave

import numpy as np

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "commands")

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

HEBREW = ("שלום ספר בית ילד ילדה איש אשה מים שמש ירח לילה יום דרך עיר כפר ים הר עץ פרח דלת חלון כסא עט הלך ישב כתב קרא "
          "שתה אכל ישן יצא נכנס חזר גדול קטן יפה חדש ישן מהר רחוק קרוב על מן אל עם זה זאת הספר הבית הילד העיר היום מחר "
          "אתמול לפני אחרי כל הוא היא אנחנו מלך ארץ שמים דבר").split()
THAI = ("หนังสือ บ้าน เด็ก ผู้ชาย ผู้หญิง น้ำ ดวงอาทิตย์ ดวงจันทร์ กลางคืน วัน ถนน เมือง หมู่บ้าน ทะเล ภูเขา ต้นไม้ ดอกไม้ "
        "ประตู หน้าต่าง เก้าอี้ ปากกา ไป นั่ง เขียน อ่าน ดื่ม กิน นอน ออก เข้า กลับ ใหญ่ เล็ก สวย ใหม่ เก่า เร็ว ไกล ใกล้ "
        "ใน จาก ถึง บน กับ นี้ พรุ่งนี้ เมื่อวาน ก่อน หลัง ทุก เขา เธอ เรา").split()


# Pictures

def draw_text(page, text, left, top, height, ink, thickness=.07):
    """Draws text onto a page [H, W, 3] of floats, with smooth edges; returns the right end of the text."""
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
    """A page of one color with a gradient and noise; and a readable ink color."""
    colour = random.uniform(150, 250, 3)
    slope = np.linspace(-1, 1, width)[None, :, None] * random.uniform(0, 25)
    return colour + slope + np.zeros((height, width, 3)), random.uniform(0, 90, 3)


def finished(random, page):
    return np.clip(page + random.normal(0, random.uniform(1, 6), page.shape), 0, 255).astype(np.uint8)


def text_pages(count, height, width, seed, lines=(3, 7), size=(11, 26)):
    """Lines of words in several sizes, with some boxes of colored discs."""
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
    """One line of words, as cropped by a detector; optionally every other one is rotated by 180 degrees."""
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
    """Five separate letters on a background of soft patches of all colors."""
    random, pages = np.random.default_rng(seed), []
    for _ in range(count):
        page = patches(random, height, width)
        for n in range(5):
            left, top = (n % 3 * .29 + random.uniform(.07, .14)) * width, (n // 3 * .43 + random.uniform(.1, .24)) * height
            draw_text(page, random.choice(list(STROKES)), left, top, random.uniform(40, 90), random.choice([0., 255.], 3))
        pages.append(finished(random, page))
    return np.stack(pages)


def patches(random, height, width):
    """Random colors at every 32nd pixel, interpolated between them."""
    colours = random.uniform(0, 255, (height // 32 + 2, width // 32 + 2, 3))
    rows, columns = np.arange(height) / 32, np.arange(width) / 32
    top, left = rows.astype(int), columns.astype(int)
    down, right = (rows - top)[:, None, None], (columns - left)[None, :, None]
    upper = (1 - right) * colours[top][:, left] + right * colours[top][:, left + 1]
    lower = (1 - right) * colours[top + 1][:, left] + right * colours[top + 1][:, left + 1]
    return (1 - down) * upper + down * lower


def tables(count, height, width, seed):
    """Pages with one ruled table, a word in most of its cells."""
    random, pages = np.random.default_rng(seed), []
    for _ in range(count):
        page, ink = paper(random, height, width)
        across = np.cumsum([random.uniform(.03, .1) * width, *random.uniform(.12, .25, random.integers(3, 6)) * width])
        down = np.cumsum([random.uniform(.03, .15) * height, *random.uniform(.06, .14, random.integers(3, 8)) * height])
        across, down = across[across < width - 4], down[down < height - 4]
        for x in across:
            draw_line(page, (x, down[0]), (x, down[-1]), random.uniform(.6, 1.5), ink)
        for y in down:
            draw_line(page, (across[0], y), (across[-1], y), random.uniform(.6, 1.5), ink)
        for top, bottom in zip(down, down[1:]):
            for left, right in zip(across, across[1:]):
                letter = min((bottom - top) * .5, 22)
                word = random.choice(WORDS)[:int((right - left - 6) / letter / .72)]
                draw_text(page, word, left + 5, top + (bottom - top) * .25, letter, ink)
        pages.append(finished(random, page))
    return np.stack(pages)


def photos(folder, names, count, height, width, seed):
    """Crops of the images in a folder, of a third of their size or more, some rotated or darker: uint8 [count, H, W, 3]."""
    from PIL import Image
    random, found = np.random.default_rng(seed), []
    for n in range(count):
        picture = Image.open(os.path.join(folder, names[n % len(names)])).convert("RGB")
        part = random.uniform(.34, 1) * min(picture.width / width, picture.height / height)
        left = random.uniform(0, picture.width - part * width)
        top = random.uniform(0, picture.height - part * height)
        cut = picture.resize((width, height), Image.BILINEAR, (left, top, left + part * width, top + part * height))
        pixels = np.asarray(cut, float)[:, ::random.choice([1, -1])] * random.uniform(.6, 1.1)
        found.append(finished(random, pixels))
    return np.stack(found)


def puzzles(pictures, seed):
    """The same images with a square piece moved: a darker gap, and the piece at the left edge."""
    random, found = np.random.default_rng(seed), pictures.copy()
    for picture in found:
        height, width = picture.shape[:2]
        size = int(width * random.uniform(.12, .2))
        top, left = random.integers(0, height - size), random.integers(width // 3, width - size)
        piece = picture[top:top + size, left:left + size].copy()
        picture[top:top + size, left:left + size] = piece * .35
        picture[top:top + size, 5:5 + size] = piece
        picture[[top, top + size - 1], 5:5 + size] = 255
    return found


def small_faces(path, groups, across, size, seed):
    """Faces and other images of scikit-image's lfw_subset, `across` in each group: uint8 [groups, across, size, size, 3]."""
    faces = np.load(path)
    random = np.random.default_rng(seed)
    at = np.arange(size) * (faces.shape[1] - 1) // (size - 1)
    chosen = faces[random.integers(len(faces), size=(groups, across))][:, :, at][:, :, :, at]
    grey = chosen * 255 / chosen.max() * random.uniform(.6, 1, (groups, across, 1, 1))
    return np.repeat(grey[..., None], 3, axis=-1).astype(np.uint8)


# Sound

def spoken(count, length, rate, seed, first):
    """Words from half of the clips of examples/commands, from `first` on, with pauses: int16 [count, length]."""
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


def with_noise(sound, seed):
    """Speech with noise of various levels, from nearly inaudible to louder than the words."""
    random = np.random.default_rng(seed)
    noise = random.normal(0, 1, sound.shape) * 10 ** random.uniform(1, 3.5, (len(sound), 1))
    return (sound + noise).clip(-32768, 32767).astype(np.int16)


def power_spectrum(sound, window, hop, points):
    """Spectra [count, frames, points/2 + 1] of int16 audio, with a Hann window."""
    frames = np.lib.stride_tricks.sliding_window_view(sound / 32768, window, axis=1)[:, ::hop]
    return np.abs(np.fft.rfft(frames * np.hanning(window), points)) ** 2


def mel(power, bands, rate):
    """Power in bands of equal width on the mel scale, with triangular windows that add up to one."""
    to_mel, from_mel = (lambda hertz: 2595 * np.log10(1 + hertz / 700)), (lambda mels: 700 * (10 ** (mels / 2595) - 1))
    edges = from_mel(np.linspace(0, to_mel(rate / 2), bands + 2))
    hertz = np.linspace(0, rate / 2, power.shape[-1])
    rising = (hertz - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    falling = (edges[2:, None] - hertz) / (edges[2:] - edges[1:-1])[:, None]
    weights = np.maximum(0, np.minimum(rising, falling)) * (2 / (edges[2:] - edges[:-2]))[:, None]
    return power @ weights.T


def decibels(power, floor=80):
    """Decibels relative to the maximum of each sample, at least -floor."""
    loud = 10 * np.log10(np.maximum(power, 1e-10))
    return np.maximum(loud - loud.max(axis=(1, 2), keepdims=True), -floor)


def write_wav(path, samples, rate):
    with wave.open(path, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples.astype("<i2").tobytes())


# Text and files

def file_bytes(count, seed):
    """The first and last 1024 bytes (padded with 256) of files of this Python installation and of /usr/share."""
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


def sentences(words, count, length, seed, between=" "):
    """Common words in random order, `length` characters."""
    random, rows = np.random.default_rng(seed), []
    for _ in range(count):
        text = ""
        while len(text) < length:
            text += random.choice(words) + between
        rows.append(text[:length])
    return rows


def constants_of(source):
    """The named lists and dictionaries of a Python file, without running it."""
    with open(source, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    found = {}
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.value, (ast.List, ast.Dict)):
            found[node.target.id] = ast.literal_eval(node.value) if not getattr(node.value, "generators", None) else None
    return found
