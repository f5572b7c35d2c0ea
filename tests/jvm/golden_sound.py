#!/usr/bin/env python3
"""golden_sound.py FILE.wav: writes the sound that UseTest.java computes."""

import pathlib
import sys
import wave

with wave.open(str(pathlib.Path(sys.argv[1])), "wb") as file:
    file.setparams((1, 2, 8000, 0, "NONE", ""))
    file.writeframes(b"".join((i * 37 % 2001 - 1000).to_bytes(2, "little", signed=True) for i in range(8000)))
