package ounce.app;

import java.lang.ref.Cleaner;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * A model that is loaded, for several threads at once.
 *
 * <pre>
 * try (Session session = Session.load("model.w8.onnx", options); Call call = session.call(1)) {
 *     call.inputFloats("pixel_values").put(pixels);
 *     call.run();
 *     float[] logits = call.outputFloats("logits");
 * }
 * </pre>
 *
 * Whoever forgets to close it has it closed by the garbage collector. Calls keep what they need of it.
 */
public final class Session implements AutoCloseable {
    static final Cleaner CLEANER = Cleaner.create();

    private static final class Handle implements Runnable {
        private long address;

        Handle(long address) {
            this.address = address;
        }

        @Override
        public synchronized void run() {
            if (address != 0) Native.close(address);
            address = 0;
        }
    }

    private final Handle handle;
    private final Cleaner.Cleanable cleanable;

    private Session(long address) {
        handle = new Handle(address);
        cleanable = CLEANER.register(this, handle);
    }

    public static Session load(String model, LoadOptions options) {
        return new Session(Native.open(model, options));
    }

    /** A direct buffer; it may go afterwards. */
    public static Session load(ByteBuffer model, LoadOptions options) {
        return new Session(Native.openBuffer(model, options));
    }

    /** A part of a file that is open, as Android's assets are (ParcelFileDescriptor.getFd()). */
    public static Session load(int descriptor, long offset, long length, LoadOptions options) {
        return new Session(Native.openDescriptor(descriptor, offset, length, options));
    }

    /** Ahead of time what LoadOptions.cache does; null where the model stays as it is. */
    public static String unpack(String model, String cache, LoadOptions options) {
        return Native.unpack(model, cache, options);
    }

    /** Before the first model of the process; 0: a thread for each core. */
    public static void shareThreads(int threads) {
        Native.shareThreads(threads);
    }

    public List<String> inputs() {
        synchronized (handle) {
            return Arrays.asList(Native.names(address(), false));
        }
    }

    public List<String> outputs() {
        synchronized (handle) {
            return Arrays.asList(Native.names(address(), true));
        }
    }

    /** null where there is no such key. */
    public String metadata(String key) {
        synchronized (handle) {
            return Native.metadata(address(), key);
        }
    }

    public boolean isUnpacked() {
        synchronized (handle) {
            return Native.isUnpacked(address());
        }
    }

    public String runtimeVersion() {
        synchronized (handle) {
            return Native.runtimeVersion(address());
        }
    }

    /** Memory for one thread: the batch is the size of a first axis that is free. */
    public Call call(long batch) {
        return call(batch, Map.of());
    }

    /** Other free axes get their sizes by their names. */
    public Call call(long batch, Map<String, Long> sizes) {
        String[] axes = sizes.keySet().toArray(new String[0]);
        long[] lengths = new long[axes.length];
        for (int i = 0; i < axes.length; ++i) lengths[i] = sizes.get(axes[i]);
        synchronized (handle) {
            return new Call(Native.newCall(address(), batch, axes, lengths));
        }
    }

    @Override
    public void close() {
        cleanable.clean();
    }

    private long address() {
        if (handle.address == 0) throw new IllegalStateException("the session is closed");
        return handle.address;
    }
}
