package org.apache.cassandra.db;

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
 * What the local replica has answered to a read of one partition, decoded once. Cassandra keeps such an answer as bytes and
 * decodes them whenever it is looked at: for its digest, and for the final rows. The preliminary's rows would be a third
 * time; like this all three are made of the same rows, which nobody changes.
 */
final class DecodedResponse extends ReadResponse {

    /** Longer answers are decoded anew each time, as ever: to keep them would take more memory than it saves time. */
    static final int KEPT_MAX = 100;

    private final ReadResponse encoded;
    /** Whoever finds none makes it; two threads would make the same. */
    private volatile Kept kept;

    DecodedResponse(ReadResponse encoded) {
        this.encoded = encoded;
    }

    @Override
    public UnfilteredPartitionIterator makeIterator(ReadCommand command) {
        Kept rows = kept;
        if (rows == null) {
            rows = decode(command);
            kept = rows;
        }
        return rows.isWhole ? rows.iterator(command) : encoded.makeIterator(command);
    }

    private Kept decode(ReadCommand command) {
        try (UnfilteredPartitionIterator partitions = encoded.makeIterator(command)) {
            if (!partitions.hasNext()) {
                return new Kept(null, List.of(), true);
            }
            try (UnfilteredRowIterator partition = partitions.next()) {
                List<Unfiltered> items = new ArrayList<>(4);
                while (partition.hasNext() && items.size() < KEPT_MAX) {
                    items.add(partition.next());
                }
                return partition.hasNext() ? new Kept(null, List.of(), false) : new Kept(partition, items, true);
            }
        }
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
        private final boolean isWhole;

        Kept(UnfilteredRowIterator partition, List<Unfiltered> items, boolean isWhole) {
            this.partition = partition;
            this.items = items;
            this.isWhole = isWhole;
        }

        UnfilteredPartitionIterator iterator(ReadCommand command) {
            return partition == null
                ? EmptyIterators.unfilteredPartition(command.metadata())
                : new SingletonUnfilteredPartitionIterator(new Replay(partition, items.iterator()));
        }
    }

    private static final class Replay extends AbstractUnfilteredRowIterator {

        private final Iterator<Unfiltered> items;

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
}
