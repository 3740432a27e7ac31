package org.correctables.cassandra;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;
import org.apache.cassandra.cql3.ResultSet;

/** Results as a client sees them. */
final class Results {

    private Results() {
    }

    /** Whether a client that has the one need not be sent the other. */
    static boolean areEqual(ResultSet one, ResultSet other) {
        return one.rows.equals(other.rows)
            && one.metadata.requestNames().equals(other.metadata.requestNames())
            && Objects.equals(one.metadata.getPagingState(), other.metadata.getPagingState());
    }

    /** The bytes of its values, as the server's own limits on results count them. */
    static long size(ResultSet result) {
        long size = 0;
        for (List<ByteBuffer> row : result.rows) {
            for (ByteBuffer value : row) {
                size += value == null ? 0 : value.remaining();
            }
        }
        return size;
    }
}
