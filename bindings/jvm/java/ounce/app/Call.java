package ounce.app;

import java.lang.ref.Cleaner;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.function.Consumer;

/**
 * Inputs and outputs of a model, for one thread at a time. The buffers are the memory that the model reads and writes;
 * nothing is copied. They are valid until the call is closed. The garbage collector does not close a call whose buffers
 * were requested, so close such calls with {@code close()}.
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
        private final Runnable free;
        private boolean hasBuffers;

        Handle(long address, Runnable free) {
            this.address = address;
            this.free = free;
        }

        synchronized void free() {
            if (address != 0) free.run();
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
        this(address, () -> Native.freeCall(address));
    }

    /** {@code free} frees the call. It must not refer to this object. */
    Call(long address, Runnable free) {
        handle = new Handle(address, free);
        cleanable = Session.CLEANER.register(this, handle);
    }

    /** Lends the call of a model that is being loaded to LoadOptions.golden. */
    static void lend(Consumer<Call> golden, long address) {
        try (Call call = new Call(address, () -> {})) {
            golden.accept(call);
        }
    }

    public synchronized ByteBuffer input(String name, int type) {
        ByteBuffer found = Native.input(address(), name, type).order(ByteOrder.nativeOrder());
        handle.hasBuffers = true;
        return found;
    }

    public FloatBuffer inputFloats(String name) {
        return input(name, FLOAT32).asFloatBuffer();
    }

    /** An output of the last run; valid until the next run. */
    public synchronized ByteBuffer output(String name, int type) {
        ByteBuffer found = Native.output(address(), name, type).order(ByteOrder.nativeOrder());
        handle.hasBuffers = true;
        return found;
    }

    /** A copy of an output of the last run. */
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

    /** Preprocesses an image as the model's contract says, into a row of the batch. A null name means the only image input. */
    public synchronized void setImage(String input, long row, Pixels pixels) {
        Native.setImage(address(), input, row, pixels.format, pixels.width, pixels.height, pixels.plane, pixels.stride,
            pixels.colours, pixels.coloursStride, pixels.rotation, pixels.isLimited);
    }

    /** Preprocesses a sound as setImage() does. Samples are interleaved; rate in samples per second (0: not checked). */
    public synchronized void setSound(String input, long row, short[] samples, int channels, double rate) {
        Native.setSound(address(), input, row, samples, channels, rate);
    }

    public void run() {
        run(-1);
    }

    /** Runs the model with a timeout in nanoseconds; negative: no timeout. */
    public synchronized void run(long nanoseconds) {
        Native.run(address(), nanoseconds);
    }

    /** True if the candidate of a shadow deployment served the last run. */
    public synchronized boolean wasCanary() {
        return Native.wasCanary(address());
    }

    /** Cancels the current run, if there is one. May be called from any thread. */
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
