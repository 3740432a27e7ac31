package org.correctables.cassandra;

import java.nio.ByteBuffer;
import java.util.Map;

/** How a request asks for a preliminary answer: one byte in its custom payload (docs/spec/cassandra-icg.md). */
final class Asking {

    static final String KEY = "icg";

    private static final int CONFIRM = 1;
    private static final int FULL = 2;
    private static final int ASIDE = 4;

    /** A final that equals the preliminary comes without rows. */
    final boolean confirm;

    private final boolean aside;

    private Asking(boolean confirm, boolean aside) {
        this.confirm = confirm;
        this.aside = aside;
    }

    /** Null unless the payload asks, in a way that this version knows. */
    static Asking in(Map<String, ByteBuffer> payload) {
        ByteBuffer value = payload == null ? null : payload.get(KEY);
        if (value == null || value.remaining() != 1) {
            return null;
        }
        int bits = value.get(value.position());
        int mode = bits & ~ASIDE;
        return mode == CONFIRM || mode == FULL ? new Asking(mode == CONFIRM, (bits & ASIDE) != 0) : null;
    }

    /** The stream of the preliminary. Servers use -1 for events, so the streams of requests map below it. */
    int preliminaryStream(int stream) {
        return aside ? -(stream + 2) : stream;
    }
}
