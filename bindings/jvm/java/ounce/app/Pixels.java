package ounce.app;

import java.nio.ByteBuffer;

/** An image from a camera or a bitmap, in direct buffers. */
public final class Pixels {
    public static final int RGBA = 0;
    public static final int BGRA = 1;
    public static final int RGB = 2;
    public static final int BGR = 3;
    public static final int GREY = 4;
    public static final int NV12 = 5;
    public static final int NV21 = 6;

    public int format = RGBA;
    public int width;
    public int height;
    public ByteBuffer plane;
    /** The interleaved plane of Cb and Cr of NV12 and NV21. */
    public ByteBuffer colours;
    /** Bytes from one row to the next; 0: rows without padding. */
    public int stride;
    public int coloursStride;
    /** Clockwise degrees that make the image upright: 0, 90, 180 or 270. */
    public int rotation;
    /** NV12 and NV21: true for values from 16 to 235 (video), false for 0 to 255 (cameras). */
    public boolean isLimited;
}
