package ounce.app;

/** An error: a status of include/ounce/app.h and a one-line message. */
public final class OunceException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final int status;

    OunceException(int status, String message) {
        super(message);
        this.status = status;
    }

    public int status() {
        return status;
    }

    /** The status as in C++: "wrong_digest", "timeout" … */
    public String statusName() {
        return Native.statusName(status);
    }
}
