package ounce.app;

import java.lang.ref.Cleaner;
import java.util.Map;

/**
 * A shadow deployment: a candidate is compared with the model that serves the calls, in the background. Thread-safe.
 *
 * <pre>
 * try (Shadow shadow = session.shadow("candidate.onnx", options); Call call = shadow.call(1)) {
 *     call.inputFloats("pixel_values").put(pixels);
 *     call.run();                                  // answers with the primary model, and does not wait
 * }
 * </pre>
 *
 * The garbage collector ends a shadow that was not closed. Calls stay valid after their shadow is closed.
 */
public final class Shadow implements AutoCloseable {
    private static final class Handle implements Runnable {
        private final long address;
        private boolean isOpen = true;
        private int users = 1;  // the shadow and its calls

        Handle(long address) {
            this.address = address;
        }

        @Override
        public synchronized void run() {
            if (!isOpen) return;
            isOpen = false;
            Native.freeShadow(address);
            release();
        }

        synchronized void release() {
            if (--users == 0) Native.freeAlarm(address);
        }
    }

    private static final long SLICE = 20_000_000;  // nanoseconds

    private final Handle handle;
    private final Cleaner.Cleanable cleanable;

    Shadow(long address) {
        handle = new Handle(address);
        cleanable = Session.CLEANER.register(this, handle);
    }

    /** Creates a call for one thread, used like any other call. {@code batch} is the size of a dynamic first axis. */
    public Call call(long batch) {
        return call(batch, Map.of());
    }

    /** Creates a call; {@code sizes} maps the names of other dynamic axes to their sizes. */
    public Call call(long batch, Map<String, Long> sizes) {
        String[] axes = sizes.keySet().toArray(new String[0]);
        long[] lengths = new long[axes.length];
        for (int i = 0; i < axes.length; ++i) lengths[i] = sizes.get(axes[i]);
        Handle kept = handle;
        synchronized (kept) {
            long call = Native.newShadowCall(address(), batch, axes, lengths);
            ++kept.users;
            return new Call(call, () -> {
                Native.freeCall(call);
                kept.release();
            });
        }
    }

    public ShadowFigures figures() {
        synchronized (handle) {
            return new ShadowFigures(Native.shadowFigures(address()));
        }
    }

    /** Waits until all queued calls are compared and saved; returns false after {@code nanoseconds}. Negative: no limit. */
    public boolean flush(long nanoseconds) {
        long begin = System.nanoTime();
        while (true) {
            long left = nanoseconds < 0 ? SLICE : nanoseconds - (System.nanoTime() - begin);
            synchronized (handle) {  // not for long: the alarm may use this object while calls are compared
                if (Native.flushShadow(address(), Math.max(0, Math.min(left, SLICE)))) return true;
            }
            if (left <= 0) return false;
        }
    }

    @Override
    public void close() {
        cleanable.clean();
    }

    private long address() {
        if (!handle.isOpen) throw new IllegalStateException("the shadow is closed");
        return handle.address;
    }
}
