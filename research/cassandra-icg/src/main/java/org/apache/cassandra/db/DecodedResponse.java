package org.apache.cassandra.db;

import static org.apache.cassandra.net.MessagingService.current_version;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.cassandra.db.partitions.SingletonUnfilteredPartitionIterator;
import org.apache.cassandra.db.partitions.UnfilteredPartitionIterator;
import org.apache.cassandra.db.rows.AbstractUnfilteredRowIterator;
import org.apache.cassandra.db.rows.Unfiltered;
import org.apache.cassandra.db.rows.UnfilteredRowIterator;

/**
 * The local replica's answer to a read of one partition, decoded once. Cassandra keeps such an answer as bytes and
 * decodes them at each use: for its digest, and for the final rows. The preliminary's rows would be a third time. Here
 * all three use the same rows, which are never changed.
 *
 * Long answers are decoded at each use, as before: to keep them would take more memory than it saves time.
 */
final class DecodedResponse extends ReadResponse {

    /** Rows of answers that are kept, at most: decoded, a short row takes many times its encoded length. */
    static final int KEPT_MAX = 100;
    /** The encoded length in bytes of answers that are kept, at most: a few rows may be long. */
    static final int LENGTH_MAX = 64 * 1024;

    private final ReadResponse encoded;
    /** Made by the first thread that finds none. Two threads would make the same. */
    private volatile Kept kept;
    /** There are more rows than are kept. */
    private volatile boolean isLong;

    DecodedResponse(ReadResponse encoded) {
        this.encoded = encoded;
    }

    /** The answer, decoded once if it is one with data, and short. */
    static ReadResponse of(ReadResponse encoded) {
        return encoded.isDigestResponse() || serializer.serializedSize(encoded, current_version) > LENGTH_MAX
            ? encoded
            : new DecodedResponse(encoded);
    }

    @Override
    public UnfilteredPartitionIterator makeIterator(ReadCommand command) {
        Kept rows = kept;
        if (rows != null) {
            return rows.iterator(command);
        }
        return isLong ? encoded.makeIterator(command) : decode(command);
    }

    private UnfilteredPartitionIterator decode(ReadCommand command) {
        UnfilteredPartitionIterator partitions = encoded.makeIterator(command);
        boolean isHandedOn = false;
        try {
            if (!partitions.hasNext()) {
                return keep(new Kept(null, List.of()), command);
            }
            UnfilteredRowIterator partition = partitions.next();
            List<Unfiltered> items = new ArrayList<>(4);
            while (partition.hasNext() && items.size() < KEPT_MAX) {
                items.add(partition.next());
            }
            if (!partition.hasNext()) {
                return keep(new Kept(partition, items), command);
            }
            isLong = true;
            isHandedOn = true;
            // The next reader continues where this one has stopped: decoded rows are not decoded again.
            return new SingletonUnfilteredPartitionIterator(new Resumed(items.iterator(), partition, partitions));
        } finally {
            if (!isHandedOn) {
                partitions.close();
            }
        }
    }

    private UnfilteredPartitionIterator keep(Kept rows, ReadCommand command) {
        kept = rows;
        return rows.iterator(command);
    }

    @Override
    public ByteBuffer digest(ReadCommand command) {
        try (UnfilteredPartitionIterator partitions = makeIterator(command)) {
            return makeDigest(partitions, command);
        }
    }

    @Override
    public ByteBuffer repairedDataDigest() {
        return encoded.repairedDataDigest();
    }

    @Override
    public boolean isRepairedDigestConclusive() {
        return encoded.isRepairedDigestConclusive();
    }

    @Override
    public boolean mayIncludeRepairedDigest() {
        return encoded.mayIncludeRepairedDigest();
    }

    @Override
    public boolean isDigestResponse() {
        return encoded.isDigestResponse();
    }

    /** The rows and range tombstones of one partition; without one where there was none. */
    private static final class Kept {

        /** What it says of itself is asked for; that it has been read to its end does not matter. */
        private final UnfilteredRowIterator partition;
        private final List<Unfiltered> items;

        Kept(UnfilteredRowIterator partition, List<Unfiltered> items) {
            this.partition = partition;
            this.items = items;
        }

        UnfilteredPartitionIterator iterator(ReadCommand command) {
            return partition == null
                ? EmptyIterators.unfilteredPartition(command.metadata())
                : new SingletonUnfilteredPartitionIterator(new Replay(partition, items.iterator()));
        }
    }

    private static class Replay extends AbstractUnfilteredRowIterator {

        protected final Iterator<Unfiltered> items;

        Replay(UnfilteredRowIterator partition, Iterator<Unfiltered> items) {
            super(
                partition.metadata(),
                partition.partitionKey(),
                partition.partitionLevelDeletion(),
                partition.columns(),
                partition.staticRow(),
                partition.isReverseOrder(),
                partition.stats());
            this.items = items;
        }

        @Override
        protected Unfiltered computeNext() {
            return items.hasNext() ? items.next() : endOfData();
        }
    }

    /** What was read of a partition, and then the rest of it. */
    private static final class Resumed extends Replay {

        private final UnfilteredRowIterator rest;
        private final UnfilteredPartitionIterator partitions;

        Resumed(Iterator<Unfiltered> read, UnfilteredRowIterator rest, UnfilteredPartitionIterator partitions) {
            super(rest, read);
            this.rest = rest;
            this.partitions = partitions;
        }

        @Override
        protected Unfiltered computeNext() {
            return items.hasNext() || !rest.hasNext() ? super.computeNext() : rest.next();
        }

        @Override
        public void close() {
            rest.close();
            partitions.close();
        }
    }
}
