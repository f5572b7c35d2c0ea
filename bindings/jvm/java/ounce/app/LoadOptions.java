package ounce.app;

/** Options for loading a model. Fields and defaults are those of include/ounce/app.hpp. */
public final class LoadOptions {
    /** Library of the runtime: a path, or an installed version. */
    public String library;
    /** Threads of this model. 0: one; -1: one per core. */
    public int threads;
    public boolean sharesThreads;
    /** Cache folder for unpacked models. */
    public String cache;
    public boolean requiresOurs;
    public boolean requiresContract;
    /** Expected SHA-256 of the model and its external data, 64 hex digits: "sha256" of {@code ounce unpack --json}. */
    public String digest;
    public String source;
}
