#!/usr/bin/env python3
"""Trains a classifier of handwritten digits in PyTorch and exports it to ONNX, with samples for calibration and validation.

usage: train.py [FOLDER]     writes FOLDER/digits.onnx, digits_calib.npz and digits_val.npz (default: the folder of this script)

Takes a minute on two cores. Needs torch 2.8, onnxscript and scikit-learn (pip), which contains the images: the test set of
"Optical Recognition of Handwritten Digits" (E. Alpaydin, C. Kaynak, UCI Machine Learning Repository, CC BY 4.0).
"""

import pathlib
import sys

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn


class Residual(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels), nn.ReLU(),
            nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels))

    def forward(self, x):
        return torch.relu(x + self.layers(x))


def classifier():
    """An image of 8 × 8 pixels from 0 to 1 → 10 scores."""
    return nn.Sequential(
        nn.Upsample(scale_factor=2), nn.Conv2d(1, 48, 3, padding=1, bias=False), nn.BatchNorm2d(48), nn.ReLU(),
        Residual(48), Residual(48),
        nn.Conv2d(48, 64, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(64), nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


def shifted(images):
    """Images moved by up to one pixel, with noise."""
    dx, dy = np.random.randint(-1, 2, 2)
    return torch.roll(images, (int(dy), int(dx)), (2, 3)) + 0.05 * torch.randn_like(images)


def train(model, images, labels, epochs=12, batch=32):
    optimizer = torch.optim.AdamW(model.parameters(), 2e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, epochs=epochs, steps_per_epoch=-(-len(images) // batch))
    model.train()
    for _ in range(epochs):
        for rows in torch.randperm(len(images)).split(batch):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(shifted(images[rows])), labels[rows], label_smoothing=0.1).backward()
            optimizer.step()
            schedule.step()
    model.eval()


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    torch.manual_seed(1)
    np.random.seed(1)
    digits = load_digits()
    pixels = digits.images.astype(np.uint8)[:, None]  # from 0 to 16
    images, labels = torch.from_numpy(pixels / np.float32(16)), torch.from_numpy(digits.target)
    # In the order of the data set, so that the validation part comes from other people than the training part.
    training, validation = slice(0, 1297), slice(1297, None)

    model = classifier()
    train(model, images[training], labels[training])
    with torch.no_grad():
        accuracy = (model(images[validation]).argmax(1) == labels[validation]).float().mean()
    print(f"accuracy on {len(labels[validation])} images: {accuracy:.3f}")

    program = torch.onnx.export(
        model, (images[:2],), dynamo=True, input_names=["image"], output_names=["scores"],
        dynamic_shapes=({0: torch.export.Dim("batch")},))
    for node in program.model.graph:
        node.metadata_props.clear()  # names of local folders: where PyTorch traced the node
    program.save(folder / "digits.onnx", external_data=False)
    np.savez_compressed(folder / "digits_calib.npz", image=pixels[training][:200])
    np.savez_compressed(folder / "digits_val.npz", image=pixels[validation], label=digits.target[validation])


if __name__ == "__main__":
    main()
