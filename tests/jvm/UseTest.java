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

/** UseTest MODEL CACHE ONNXRUNTIME HEARING SEEING: exits with 1 and prints the failed check. */
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

    /** Preprocessing by the model's metadata must give the values that an app would fill in by hand. */
    private static void hear(String model, LoadOptions options) {
        short[] clip = new short[8000];
        for (int i = 0; i < clip.length; ++i) clip[i] = (short) (i * 37 % 2001 - 1000);
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
