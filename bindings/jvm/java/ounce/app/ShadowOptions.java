package ounce.app;

import java.util.function.Consumer;

/** Options of a shadow deployment. Fields and defaults are those of include/ounce/app.hpp; 0: the default. */
public final class ShadowOptions {
    /** Share of the calls to compare. */
    public double share;
    /** Most calls that may wait for comparison. */
    public long queue;
    /** File for the statistics, which the next process continues. Null: none. */
    public String statistics;
    public double saveSeconds;
    /** Runs the candidate in this process, even if ounce-runner is installed. */
    public boolean staysInProcess;
    /** Timeout of one run of the candidate. */
    public double candidateSeconds;
    /** Load options of the candidate; only library and threads are used. */
    public LoadOptions load;

    /** Limits. Exceeding them raises the alarm. */
    public long minCompared;
    public double minAgreement;
    public double minSqnrDb;
    public double maxFailures;
    public double maxLatencyRatio;
    /** Called once with the reasons, in the thread of the candidate. */
    public Consumer<String> onAlarm;

    /** Share of the calls that the candidate serves at first and at most, and its growth. canaryFirst 0: no canary. */
    public double canaryFirst;
    public double canaryLast;
    public double canaryGrowth;
    public long canaryCallsAStep;
}
