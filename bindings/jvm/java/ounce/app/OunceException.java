package ounce.app;

/** What went wrong: a status of include/ounce/app.h, and one line for a person. */
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

    /** As in the C++ library: "wrong_digest", "timeout" … */
    public String statusName() {
        return Native.statusName(status);
    }
}
