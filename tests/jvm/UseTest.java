import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import ounce.app.Call;
import ounce.app.LoadOptions;
import ounce.app.OunceException;
import ounce.app.Pixels;
import ounce.app.Session;
import ounce.app.Shadow;
import ounce.app.ShadowFigures;
import ounce.app.ShadowOptions;

/** UseTest MODEL CACHE ONNXRUNTIME HEARING SEEING GOLDEN: exits with 1 and prints the failed check. */
public final class UseTest {
    private static void must(boolean holds, String what) {
        if (!holds) throw new AssertionError(what);
    }

    private static int statusOf(Runnable action) {
        try {
            action.run();
        } catch (OunceException failure) {
            must(!failure.getMessage().isEmpty(), "no message");
            return failure.status();
        }
        return 0;
    }

    private static float[] answer(Session session) {
        try (Call call = session.call(2)) {
            FloatBuffer audio = call.inputFloats("audio");
            must(audio.remaining() == 16000, "room for two clips");
            for (int i = 0; i < 16000; ++i) audio.put(i, (i % 8000) * 37 % 101 / 500f - .1f);
            call.run();
            must(Arrays.equals(call.outputShape("logits"), new long[] {2, 10}), "shape");
            float[] logits = call.outputFloats("logits");
            for (int i = 0; i < 10; ++i) must(logits[i] == logits[10 + i], "both rows are the same");
            must(statusOf(() -> call.run(1)) == 41, "a nanosecond is too short");
            call.cancel();
            call.run(60_000_000_000L);
            must(statusOf(() -> call.input("nothing", Call.ANY)) == 1, "no such input");
            return logits;
        }
    }

    private static short[] clip() {
        short[] clip = new short[8000];
        for (int i = 0; i < clip.length; ++i) clip[i] = (short) (i * 37 % 2001 - 1000);
        return clip;
    }

    /** The golden sample of the model is clip(). */
    private static void checkGolden(String model, LoadOptions options) {
        AtomicInteger calls = new AtomicInteger();
        Call[] kept = new Call[1];
        options.golden = call -> {
            calls.incrementAndGet();
            kept[0] = call;
            call.setSound(null, 0, clip(), 1, 8000);
        };
        Session.load(model, options).close();
        must(calls.get() == 1, "the golden sample is asked for once");
        boolean refused = false;
        try {
            kept[0].run();
        } catch (IllegalStateException closed) {
            refused = true;
        }
        must(refused, "the call is only lent");
        options.golden = call -> call.setSound(null, 0, new short[8000], 1, 8000);
        must(statusOf(() -> Session.load(model, options)) == 26, "another sample");
        options.golden = call -> {
            throw new UnsupportedOperationException("no sample");
        };
        String message = "";
        try {
            Session.load(model, options);
        } catch (UnsupportedOperationException failure) {
            message = failure.getMessage();
        }
        must(message.equals("no sample"), "an exception passes through");
        options.golden = null;
    }

    /** The candidate is the model itself, so all outputs are equal. */
    private static void shadow(String model, LoadOptions options) throws Exception {
        ShadowOptions how = new ShadowOptions();
        how.staysInProcess = true;
        how.load = options;
        Call late;
        try (Session session = Session.load(model, options)) {
            must(statusOf(() -> session.shadow("no such model", how)) == 2, "no candidate");
            must(statusOf(() -> session.shadow(null, how)) == 1, "null");
            try (Shadow shadow = session.shadow(model, how); Call call = shadow.call(1)) {
                session.close();
                for (int i = 0; i < 3; ++i) {
                    call.inputFloats("audio").put(i, .5f);
                    call.run();
                    must(shadow.flush(60_000_000_000L), "flushed");
                }
                must(call.outputFloats("logits").length == 10 && !call.wasCanary(), "the primary answers");
                ShadowFigures figures = shadow.figures();
                must(figures.calls == 3 && figures.compared == 3 && figures.dropped == 0 && figures.errors == 0, "counts");
                must(figures.agreement == 1 && Double.isInfinite(figures.sqnrDb) && figures.canaryShare == 0, "equal");
                late = shadow.call(1);
            }
        }
        late.run();
        late.close();
    }

    /** A limit that no candidate meets raises the alarm once, in another thread. */
    private static void alarm(String model, LoadOptions options) throws Exception {
        AtomicInteger alarms = new AtomicInteger();
        String[] reasons = new String[1];
        long[] compared = new long[1];
        Shadow[] watched = new Shadow[1];
        ShadowOptions how = new ShadowOptions();
        how.staysInProcess = true;
        how.load = options;
        how.minCompared = 1;
        how.maxLatencyRatio = 1e-9;
        how.onAlarm = text -> {
            alarms.incrementAndGet();
            reasons[0] = text;
            compared[0] = watched[0].figures().compared;
            throw new IllegalStateException("an exception of the alarm is only printed");
        };
        try (Session session = Session.load(model, options); Shadow shadow = session.shadow(model, how);
             Call call = shadow.call(1)) {
            watched[0] = shadow;
            for (int i = 0; i < 3; ++i) {
                call.run();
                must(shadow.flush(-1), "flushed");
            }
        }
        must(alarms.get() == 1 && !reasons[0].isEmpty() && compared[0] == 1, "one alarm");
    }

    /** Preprocessing by the model's metadata must give the values that an app would fill in by hand. */
    private static void hear(String model, LoadOptions options) {
        short[] clip = clip();
        try (Session session = Session.load(model, options); Call call = session.call(1)) {
            call.setSound(null, 0, clip, 1, 8000);
            FloatBuffer audio = call.inputFloats("audio");
            for (int i = 0; i < clip.length; ++i) must(audio.get(i) == clip[i] / 32768f, "a sample");
            must(statusOf(() -> call.setSound(null, 0, clip, 1, 44100)) == 1, "another rate");
            must(statusOf(() -> call.setImage(null, 0, new Pixels())) != 0, "no picture");
        }
    }

    private static void see(String model, LoadOptions options) {
        try (Session session = Session.load(model, options); Call call = session.call(1)) {
            long[] shape = call.inputShape(null);
            int height = (int) shape[2];
            int width = (int) shape[3];
            Pixels pixels = new Pixels();
            pixels.width = width;
            pixels.height = height;
            pixels.stride = 4 * width + 12;
            pixels.plane = ByteBuffer.allocateDirect(pixels.stride * height);
            for (int i = 0; i < pixels.plane.capacity(); ++i) pixels.plane.put(i, (byte) (i * 31));
            call.setImage(null, 0, pixels);
            FloatBuffer values = call.inputFloats(null);
            for (int y = 0; y < height; ++y) {
                for (int x = 0; x < width; ++x) {
                    int red = pixels.plane.get(y * pixels.stride + 4 * x) & 255;
                    must(Math.abs(values.get(y * width + x) - red / 128f) < 1e-6, "a pixel");
                }
            }
            pixels.height = height + 1;
            must(statusOf(() -> call.setImage(null, 0, pixels)) == 1, "a buffer that is too small");
            pixels.plane = ByteBuffer.allocate(16);
            must(statusOf(() -> call.setImage(null, 0, pixels)) == 1, "no direct buffer");
        }
    }

    public static void main(String[] arguments) throws Exception {
        String model = arguments[0];
        LoadOptions options = new LoadOptions();
        options.library = arguments[2];
        float[] plain;
        try (Session session = Session.load(model, options)) {
            must(session.inputs().equals(List.of("audio")) && session.outputs().equals(List.of("logits")), "names");
            must(session.metadata("no.such.key") == null && !session.isUnpacked(), "facts");
            must(session.runtimeVersion().startsWith("1."), "version");
            plain = answer(session);
            session.close();
            boolean refused = false;
            try {
                session.call(1);
            } catch (IllegalStateException closed) {
                refused = true;
            }
            must(refused, "a closed session is refused");
        }

        options.cache = arguments[1];
        must(Session.unpack(model, options.cache, options) != null, "unpacked");
        try (Session session = Session.load(model, options)) {
            must(session.isUnpacked() && Arrays.equals(answer(session), plain), "unpacked gives the same");
        }
        options.cache = null;

        byte[] bytes = Files.readAllBytes(Path.of(model));
        ByteBuffer direct = ByteBuffer.allocateDirect(bytes.length).order(ByteOrder.nativeOrder());
        direct.put(bytes);
        try (Session session = Session.load(direct, options)) {
            must(Arrays.equals(answer(session), plain), "from a buffer");
        }
        must(statusOf(() -> Session.load(ByteBuffer.wrap(bytes), options)) == 1, "no direct buffer");

        hear(arguments[3], options);
        see(arguments[4], options);
        checkGolden(arguments[5], options);
        shadow(model, options);
        alarm(model, options);

        // Several threads, and objects that are not closed.
        AtomicInteger wrong = new AtomicInteger();
        try (Session session = Session.load(model, options)) {
            Thread[] threads = new Thread[4];
            for (int i = 0; i < threads.length; ++i) {
                threads[i] = new Thread(() -> {
                    for (int round = 0; round < 5; ++round) {
                        if (!Arrays.equals(answer(session), plain)) wrong.incrementAndGet();
                        session.call(1).outputFloats(null);  // left to the collector
                        Session.load(model, options);
                    }
                    System.gc();
                });
                threads[i].start();
            }
            for (Thread thread : threads) thread.join();
        }
        must(wrong.get() == 0, "threads");

        options.digest = "0".repeat(64);
        must(statusOf(() -> Session.load(model, options)) == 23, "another digest");
        options.digest = null;
        options.requiresOurs = true;
        must(statusOf(() -> Session.load(model, options)) == 22, "not ours");
        must(statusOf(() -> Session.load("no such model", new LoadOptions())) == 2, "no file");
        must(statusOf(() -> Session.shareThreads(2)) == 7, "too late for shared threads");
    }
}
