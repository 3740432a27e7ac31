package org.correctables.cassandra;

import java.nio.ByteBuffer;
import java.util.Map;
import org.apache.cassandra.transport.Message;

/** What an answer is to the other one of its request, as its custom payload says. */
enum Answer {
    PRELIMINARY(1),
    CONFIRMATION(2),
    DIFFERS(3),
    EQUALS(4);

    private final byte code;

    Answer(int code) {
        this.code = (byte) code;
    }

    <M extends Message> M mark(M message) {
        message.setCustomPayload(Map.of(Asking.KEY, ByteBuffer.wrap(new byte[] {code})));
        return message;
    }
}
