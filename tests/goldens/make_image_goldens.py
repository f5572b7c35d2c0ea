#!/usr/bin/env python3
"""Writes images/: small images, and the results of decoding and resizing them with Pillow and OpenCV.

    python -m venv venv
    venv/bin/pip install pillow==12.1.1 opencv-python-headless==5.0.0.93
    venv/bin/python tests/goldens/make_image_goldens.py

Files in images/ (see src/data/*_test.cpp):
    NAME.jpg, NAME.png   an image to decode
    NAME.rgb, NAME.grey  its pixels after convert("RGB") and convert("L"), raw
    decode.txt           NAME.EXT WIDTH HEIGHT
    resize.txt           LIBRARY METHOD CHANNELS WIDTH HEIGHT: a result, in the order of the pixels in
                         LIBRARY_METHOD.bin; the source is resize.png, in gray for one channel
    resize_large.txt     LIBRARY METHOD CHANNELS FROM_WIDTH FROM_HEIGHT WIDTH HEIGHT DIGEST: the FNV-1a digest
                         of a result; the source is computed by pattern()
"""

import pathlib
import struct
import warnings
import zlib

import cv2
import numpy as np
import PIL
from PIL import Image

FOLDER = pathlib.Path(__file__).parent / "images"
WIDTH, HEIGHT = 37, 23

PILLOW = {
    "nearest": Image.Resampling.NEAREST,
    "box": Image.Resampling.BOX,
    "bilinear": Image.Resampling.BILINEAR,
    "hamming": Image.Resampling.HAMMING,
    "bicubic": Image.Resampling.BICUBIC,
    "lanczos": Image.Resampling.LANCZOS,
}
OPENCV = {
    "nearest": cv2.INTER_NEAREST,
    "linear": cv2.INTER_LINEAR,
    "cubic": cv2.INTER_CUBIC,
    "area": cv2.INTER_AREA,
}


def photo(width, height, channels, seed=1):
    """A 16-bit gradient with hard edges and noise."""
    noise = np.random.RandomState(seed)
    y, x = np.mgrid[0:height, 0:width]
    planes = []
    for channel in range(channels):
        plane = (x * (channel + 1) * 211 + y * 1371) % 4096 * 12
        plane = np.where((x // 5 + y // 4 + channel) % 3 == 0, 65535 - plane, plane)
        planes.append(plane + noise.randint(-6000, 6000, plane.shape))
    return np.clip(np.stack(planes, axis=-1), 0, 65535).astype(np.uint16)


def pattern(width, height, channels):
    """Pixels computed with 32-bit integers, by the same formula as in the tests."""
    index = np.arange(width * height * channels, dtype=np.uint64)
    values = (index * 2654435761 + 12345) & 0xFFFFFFFF
    values = ((values ^ (values >> 15)) * 2246822519) & 0xFFFFFFFF
    return (values >> 24).astype(np.uint8).reshape(height, width, channels)


def fnv1a(data):
    digest = 0xCBF29CE484222325
    for byte in data:
        digest = (digest ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{digest:016x}"


# ---- PNG files of every kind; Pillow writes only some ----

ADAM7 = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
SAMPLES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def packed_rows(pixels, depth):
    rows = []
    for number, row in enumerate(pixels.reshape(pixels.shape[0], -1)):
        if depth == 16:
            raw = row.astype(">u2").tobytes()
        elif depth == 8:
            raw = row.astype(np.uint8).tobytes()
        else:
            bits = ((row[:, None].astype(int) >> np.arange(depth - 1, -1, -1)) & 1).astype(np.uint8)
            raw = np.packbits(bits.ravel()).tobytes()
        step = max(1, depth * pixels.shape[2] // 8)
        rows.append(filtered(raw, step, number % 2))
    return b"".join(rows)


def filtered(raw, step, kind):
    if kind == 0:
        return b"\0" + raw
    before = bytes(step) + raw
    return b"\1" + bytes((a - b) & 255 for a, b in zip(raw, before))


def png(pixels, depth, colour_type, interlaced=False, extra=b""):
    height, width = pixels.shape[:2]
    header = struct.pack(">IIBBBBB", width, height, depth, colour_type, 0, 0, int(interlaced))
    if interlaced:
        passes = [pixels[y::dy, x::dx] for x, y, dx, dy in ADAM7]
        data = b"".join(packed_rows(p, depth) for p in passes if p.size)
    else:
        data = packed_rows(pixels, depth)
    stream = zlib.compress(data, 9)
    half = len(stream) // 2
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + extra
        + chunk(b"IDAT", stream[:half])
        + chunk(b"IDAT", stream[half:])
        + chunk(b"tEXt", b"Comment\0not a pixel")
        + chunk(b"IEND", b"")
    )


def palette(count):
    colours = np.random.RandomState(7).randint(0, 256, (count, 3)).astype(np.uint8)
    return chunk(b"PLTE", colours.tobytes())


def write_png_files():
    deep = photo(WIDTH, HEIGHT, 4)
    gamma = chunk(b"gAMA", struct.pack(">I", 30000))
    alphas = chunk(b"tRNS", bytes(range(0, 200, 10)))

    def of(depth, colour_type, name, extra=b"", interlaced=False, levels=None):
        pixels = deep[:, :, : SAMPLES[colour_type]] >> (16 - depth)
        if levels:
            pixels = pixels % levels
        (FOLDER / f"{name}.png").write_bytes(png(pixels, depth, colour_type, interlaced, extra))

    of(1, 0, "grey1")
    of(2, 0, "grey2", interlaced=True)
    of(4, 0, "grey4")
    of(8, 0, "grey8", extra=gamma + chunk(b"tRNS", struct.pack(">H", 128)))
    of(8, 2, "rgb8", extra=gamma + chunk(b"tRNS", struct.pack(">HHH", 1, 2, 3)))
    of(8, 2, "rgb8_interlaced", interlaced=True)
    of(16, 2, "rgb16")
    of(1, 3, "palette1", extra=palette(2))
    of(2, 3, "palette2", extra=palette(3), levels=3)
    of(4, 3, "palette4_interlaced", extra=palette(16), interlaced=True)
    of(8, 3, "palette8_alpha", extra=palette(200) + alphas, levels=200)
    of(8, 4, "grey_alpha8")
    of(16, 4, "grey_alpha16")
    of(8, 6, "rgba8", extra=gamma)
    of(16, 6, "rgba16_interlaced", interlaced=True)
    # Values around 255, where 16-bit gray is clipped.
    faint = (deep[:, :, :1].astype(int) >> 7).astype(np.uint16)
    (FOLDER / "grey16.png").write_bytes(png(faint, 16, 0))
    (FOLDER / "grey16_interlaced.png").write_bytes(png(faint, 16, 0, interlaced=True))
    (FOLDER / "one_pixel.png").write_bytes(png(deep[:1, :1, :3] >> 8, 8, 2, interlaced=True))
    (FOLDER / "resize.png").write_bytes(png(deep[:, :, :3] >> 8, 8, 2))


def write_jpeg_files():
    colour = Image.fromarray((photo(WIDTH, HEIGHT, 3) >> 8).astype(np.uint8))
    larger = Image.fromarray((photo(83, 65, 3, seed=2) >> 8).astype(np.uint8))

    def save(image, name, **options):
        image.save(FOLDER / f"{name}.jpg", **{"quality": 80, **options})

    save(colour, "jpeg_444", subsampling="4:4:4", quality=95)
    save(colour, "jpeg_422", subsampling="4:2:2")
    save(colour, "jpeg_420", subsampling="4:2:0")
    save(larger, "jpeg_420_progressive", subsampling="4:2:0", progressive=True)
    save(larger, "jpeg_420_restart", subsampling="4:2:0", restart_marker_blocks=3)
    save(colour.convert("L"), "jpeg_grey")
    save(colour.convert("CMYK"), "jpeg_cmyk")
    save(colour.crop((0, 0, 1, 1)), "jpeg_one_pixel", subsampling="4:2:0")
    exif = Image.Exif()
    exif[0x0112] = 6  # a rotation by 90 degrees, which libraries do not apply by default
    save(colour, "jpeg_turned", exif=exif)


def write_decoded():
    lines = []
    for path in sorted(p for p in FOLDER.iterdir() if p.suffix in (".jpg", ".png")):
        with Image.open(path) as image:
            rgb = image.convert("RGB")
        path.with_suffix(".rgb").write_bytes(rgb.tobytes())
        path.with_suffix(".grey").write_bytes(rgb.convert("L").tobytes())
        lines.append(f"{path.name} {rgb.width} {rgb.height}\n")
    (FOLDER / "decode.txt").write_text("".join(lines))


# ---- resizing ----

SIZES = ((16, 11), (41, 29), (37, 7), (9, 23), (20, 46), (18, 30), (1, 1), (1, 40), (60, 1), (36, 22))
LARGE = (
    (320, 200, 224, 224),
    (320, 200, 160, 100),
    (320, 200, 107, 67),
    (300, 198, 100, 66),
    (300, 200, 75, 100),
    (49, 98, 1, 2),  # 1 / (1 / 49) is not 49
    (200, 320, 33, 31),
    (64, 300, 64, 90),
    (2, 400, 130, 5),
    (101, 3, 7, 90),
    (97, 89, 293, 271),
    (120, 90, 240, 30),
)


def resized(library, method, pixels, size):
    if library == "pillow":
        image = Image.fromarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels)
        return np.asarray(image.resize(size, PILLOW[method]))
    result = cv2.resize(pixels, size, interpolation=OPENCV[method])
    cv2.ipp.setUseIPP(True)
    other = cv2.resize(pixels, size, interpolation=OPENCV[method])
    cv2.ipp.setUseIPP(False)
    difference = int(np.abs(result.astype(int) - other).max())
    assert difference <= (1 if method == "cubic" else 0), (method, size, difference)
    return result


def methods():
    yield from (("pillow", name) for name in PILLOW)
    yield from (("opencv", name) for name in OPENCV)


def write_resized():
    colour = np.asarray(Image.open(FOLDER / "resize.png"))
    grey = np.asarray(Image.open(FOLDER / "resize.png").convert("L"))[:, :, None]
    lines = []
    for library, method in methods():
        with open(FOLDER / f"{library}_{method}.bin", "wb") as file:
            for pixels in (colour, grey):
                for size in SIZES if pixels is colour else SIZES[:2]:
                    file.write(resized(library, method, pixels, size).tobytes())
                    lines.append(f"{library} {method} {pixels.shape[2]} {size[0]} {size[1]}\n")
    (FOLDER / "resize.txt").write_text("".join(lines))


def write_large():
    lines = []
    for library, method in methods():
        for from_width, from_height, width, height in LARGE:
            for channels in (1, 3):
                source = pattern(from_width, from_height, channels)
                digest = fnv1a(resized(library, method, source, (width, height)).tobytes())
                lines.append(
                    f"{library} {method} {channels} {from_width} {from_height} {width} {height} {digest}\n"
                )
    (FOLDER / "resize_large.txt").write_text("".join(lines))


def main():
    # Later versions resize the height first in some images; see src/data/image/image.h.
    assert tuple(map(int, PIL.__version__.split(".")[:2])) < (12, 2), "needs Pillow before 12.2"
    warnings.filterwarnings("ignore", "Palette images with Transparency")
    cv2.ipp.setUseIPP(False)
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.iterdir():
        old.unlink()
    write_png_files()
    write_jpeg_files()
    write_decoded()
    write_resized()
    write_large()


if __name__ == "__main__":
    main()
