package ounce.app;

/** How a model is loaded; all that is left alone is as in include/ounce/app/session.h. */
public final class LoadOptions {
    /** Of ONNX Runtime: a path, or a version that is installed. */
    public String library;
    /** 0: one; -1: one for each core. */
    public int threads;
    public boolean sharesThreads;
    /** A folder to unpack into. */
    public String cache;
    public boolean requiresOurs;
    public boolean requiresContract;
    /** SHA-256 of the model with its external data, 64 digits: "sha256" of {@code ounce unpack --json}. */
    public String digest;
    public String source;
}
