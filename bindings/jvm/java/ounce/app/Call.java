package ounce.app;

import java.lang.ref.Cleaner;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;

/**
 * Inputs and outputs of a model, for one thread at a time. Buffers are the memory that the model reads and writes: nothing
 * is copied. They hold until the call is closed; a call whose buffers were handed out is not closed by the garbage collector.
 */
public final class Call implements AutoCloseable {
    public static final int ANY = 0;
    public static final int FLOAT32 = 1;
    public static final int UINT8 = 2;
    public static final int INT8 = 3;
    public static final int INT16 = 5;
    public static final int INT32 = 6;
    public static final int INT64 = 7;

    private static final class Handle implements Runnable {
        private long address;
        private boolean hasBuffers;

        Handle(long address) {
            this.address = address;
        }

        synchronized void free() {
            if (address != 0) Native.freeCall(address);
            address = 0;
        }

        synchronized void cancel() {
            if (address != 0) Native.cancel(address);
        }

        @Override
        public void run() {
            if (!hasBuffers) free();
        }
    }

    private final Handle handle;
    private final Cleaner.Cleanable cleanable;

    Call(long address) {
        handle = new Handle(address);
        cleanable = Session.CLEANER.register(this, handle);
    }

    public synchronized ByteBuffer input(String name, int type) {
        ByteBuffer found = Native.input(address(), name, type).order(ByteOrder.nativeOrder());
        handle.hasBuffers = true;
        return found;
    }

    public FloatBuffer inputFloats(String name) {
        return input(name, FLOAT32).asFloatBuffer();
    }

    /** What the last run gave, until the next one. */
    public synchronized ByteBuffer output(String name, int type) {
        ByteBuffer found = Native.output(address(), name, type).order(ByteOrder.nativeOrder());
        handle.hasBuffers = true;
        return found;
    }

    /** A copy of it. */
    public synchronized float[] outputFloats(String name) {
        FloatBuffer found = Native.output(address(), name, FLOAT32).order(ByteOrder.nativeOrder()).asFloatBuffer();
        float[] values = new float[found.remaining()];
        found.get(values);
        return values;
    }

    public synchronized long[] inputShape(String name) {
        return Native.shape(address(), name, false);
    }

    public synchronized long[] outputShape(String name) {
        return Native.shape(address(), name, true);
    }

    /** By the model's contract, into a row of the batch; null for a name means the only picture. */
    public synchronized void setImage(String input, long row, Pixels pixels) {
        Native.setImage(address(), input, row, pixels.format, pixels.width, pixels.height, pixels.plane, pixels.stride,
            pixels.colours, pixels.coloursStride, pixels.rotation, pixels.isLimited);
    }

    /** Likewise; samples of all channels in turn, and how many a second (0: nobody asks). */
    public synchronized void setSound(String input, long row, short[] samples, int channels, double rate) {
        Native.setSound(address(), input, row, samples, channels, rate);
    }

    public void run() {
        run(-1);
    }

    /** Nanoseconds that it may take; below 0: as many as it wants. */
    public synchronized void run(long nanoseconds) {
        Native.run(address(), nanoseconds);
    }

    /** From any thread: ends the run that goes on, if one does. */
    public void cancel() {
        handle.cancel();
    }

    @Override
    public synchronized void close() {
        handle.free();
        cleanable.clean();
    }

    private long address() {
        if (handle.address == 0) throw new IllegalStateException("the call is closed");
        return handle.address;
    }
}
