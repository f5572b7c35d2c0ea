package ounce.app;

/** Statistics of a shadow deployment. */
public final class ShadowFigures {
    public final long calls;
    public final long compared;
    /** Calls that found the queue full, or the candidate paused. */
    public final long dropped;
    public final long errors;
    public final long crashes;
    public final long timeouts;
    /** Runs with NaN or infinity where the primary's value is finite. */
    public final long notFinite;
    /** Share of unchanged predictions, and SQNR, of the worst output. The SQNR is infinite if all values are equal. */
    public final double agreement;
    public final double sqnrDb;
    public final long canaryCalls;
    public final long canaryFallbacks;
    /** 0: stopped, or no canary. */
    public final double canaryShare;

    ShadowFigures(double[] figures) {
        calls = (long) figures[0];
        compared = (long) figures[1];
        dropped = (long) figures[2];
        errors = (long) figures[3];
        crashes = (long) figures[4];
        timeouts = (long) figures[5];
        notFinite = (long) figures[6];
        agreement = figures[7];
        sqnrDb = figures[8];
        canaryCalls = (long) figures[9];
        canaryFallbacks = (long) figures[10];
        canaryShare = figures[11];
    }
}
