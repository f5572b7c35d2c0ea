package ounce.app;

import java.nio.ByteBuffer;

/** The functions of libounce_jni. Handles are addresses; 0 means none. All functions throw OunceException. */
final class Native {
    static {
        // Desktop programs and tests set a path. An Android app contains the library.
        String path = System.getProperty("ounce.jni");
        if (path != null) {
            System.load(path);
        } else {
            System.loadLibrary("ounce_jni");
        }
    }

    private Native() {}

    static native String version();

    static native String statusName(int status);

    static native void shareThreads(int threads);

    static native long open(String model, LoadOptions options);

    static native long openBuffer(ByteBuffer model, LoadOptions options);

    static native long openDescriptor(int descriptor, long offset, long length, LoadOptions options);

    static native void close(long session);

    static native String[] names(long session, boolean outputs);

    static native String metadata(long session, String key);

    static native boolean isUnpacked(long session);

    static native String runtimeVersion(long session);

    static native long newCall(long session, long batch, String[] axes, long[] sizes);

    static native long newShadow(long session, String candidate, ShadowOptions options);

    /** Ends the shadow. Its calls stay valid. */
    static native void freeShadow(long shadow);

    /** Frees what the alarm needs. Call it when the shadow and all of its calls are freed. */
    static native void freeAlarm(long shadow);

    static native long newShadowCall(long shadow, long batch, String[] axes, long[] sizes);

    static native boolean wasCanary(long call);

    /** The members of ShadowFigures, in their order. */
    static native double[] shadowFigures(long shadow);

    /** Returns false after a timeout. */
    static native boolean flushShadow(long shadow, long nanoseconds);

    static native void freeCall(long call);

    static native ByteBuffer input(long call, String name, int type);

    static native ByteBuffer output(long call, String name, int type);

    static native long[] shape(long call, String name, boolean output);

    static native void setImage(long call, String input, long row, int format, int width, int height, ByteBuffer plane,
        int stride, ByteBuffer colours, int coloursStride, int rotation, boolean isLimited);

    static native void setSound(long call, String input, long row, short[] samples, int channels, double rate);

    static native void run(long call, long nanoseconds);

    static native void cancel(long call);

    /** Returns the file in the cache, or null if the model was not unpacked. */
    static native String unpack(String model, String cache, LoadOptions options);
}
