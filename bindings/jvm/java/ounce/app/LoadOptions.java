package ounce.app;

import java.util.function.Consumer;

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
    /**
     * Fills the inputs with the golden sample of the model's contract, with the same code that the app uses later.
     * It is called once while the model is loaded, with a call that is valid until it returns. Loading fails with
     * contract_mismatch or golden_mismatch if the inputs or the outputs are not the recorded ones. An exception ends
     * loading.
     */
    public Consumer<Call> golden;
}
