package ounce.app;

import java.lang.ref.Cleaner;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * A loaded model. Thread-safe.
 *
 * <pre>
 * try (Session session = Session.load("model.w8.onnx", options); Call call = session.call(1)) {
 *     call.inputFloats("pixel_values").put(pixels);
 *     call.run();
 *     float[] logits = call.outputFloats("logits");
 * }
 * </pre>
 *
 * The garbage collector closes a session that was not closed. Calls stay valid after their session is closed.
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

    /** Loads a model from a direct buffer, which may be released after loading. */
    public static Session load(ByteBuffer model, LoadOptions options) {
        return new Session(Native.openBuffer(model, options));
    }

    /** Loads a model from a part of an open file, such as Android's assets (ParcelFileDescriptor.getFd()). */
    public static Session load(int descriptor, long offset, long length, LoadOptions options) {
        return new Session(Native.openDescriptor(descriptor, offset, length, options));
    }

    /** Unpacks a model ahead of time (see LoadOptions.cache). Returns the file, or null if the model was not unpacked. */
    public static String unpack(String model, String cache, LoadOptions options) {
        return Native.unpack(model, cache, options);
    }

    /** Creates threads for all models with sharesThreads. Call it before the first model is loaded. 0: one per core. */
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

    /** Returns the value of a metadata key, or null. */
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

    /** Creates a call for one thread. {@code batch} is the size of a dynamic first axis. */
    public Call call(long batch) {
        return call(batch, Map.of());
    }

    /**
     * Starts a shadow deployment: {@code candidate} is compared with this model, which serves all calls. The session
     * may be closed afterwards. Null options: the defaults.
     */
    public Shadow shadow(String candidate, ShadowOptions options) {
        synchronized (handle) {
            return new Shadow(Native.newShadow(address(), candidate, options));
        }
    }

    /** Creates a call; {@code sizes} maps the names of other dynamic axes to their sizes. */
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
