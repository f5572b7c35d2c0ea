package ounce.app;

import java.nio.ByteBuffer;

/** A picture as a camera or a bitmap holds it, in direct buffers. */
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
    /** Colour differences of NV12 and NV21. */
    public ByteBuffer colours;
    /** Bytes from one row to the next; 0: without gaps. */
    public int stride;
    public int coloursStride;
    /** Degrees to turn it clockwise until it is upright: 0, 90, 180, 270. */
    public int rotation;
    /** NV12 and NV21 from 16 to 235, as video has it; otherwise from 0 to 255, as cameras have it. */
    public boolean isLimited;
}
