package org.apache.cassandra.db;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.db.marshal.Int32Type;
import org.apache.cassandra.db.marshal.UTF8Type;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.db.partitions.SingletonUnfilteredPartitionIterator;
import org.apache.cassandra.db.partitions.UnfilteredPartitionIterator;
import org.apache.cassandra.db.rows.BTreeRow;
import org.apache.cassandra.db.rows.BufferCell;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.db.rows.Unfiltered;
import org.apache.cassandra.db.rows.UnfilteredRowIterator;
import org.apache.cassandra.dht.Murmur3Partitioner;
import org.apache.cassandra.schema.ColumnMetadata;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.utils.ByteBufferUtil;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DecodedResponseTest {

    private static TableMetadata table;
    private static SinglePartitionReadCommand read;

    @BeforeAll
    static void configure() {
        DatabaseDescriptor.clientInitialization();
        table = TableMetadata.builder("keyspace", "table")
            .partitioner(Murmur3Partitioner.instance)
            .addPartitionKeyColumn("id", UTF8Type.instance)
            .addClusteringColumn("at", Int32Type.instance)
            .addRegularColumn("value", UTF8Type.instance)
            .build();
        read = SinglePartitionReadCommand.fullPartitionRead(table, 0, key());
        read.setDigestVersion(org.apache.cassandra.net.MessagingService.current_version);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 10, DecodedResponse.KEPT_MAX})
    void isDecodedOnceForTheDigestAndForEachLook(int rows) {
        Counted encoded = new Counted(update(rows));
        ReadResponse plain = new Counted(update(rows));
        DecodedResponse response = new DecodedResponse(encoded);
        assertEquals(items(plain), items(response));
        assertEquals(plain.digest(read), response.digest(read));
        assertEquals(items(plain), items(response));
        assertEquals(rows, items(response).size());
        assertEquals(1, encoded.decodings);
    }

    @Test
    void aLongOneIsDecodedAnewEachTime() {
        int rows = DecodedResponse.KEPT_MAX + 1;
        Counted encoded = new Counted(update(rows));
        ReadResponse plain = new Counted(update(rows));
        DecodedResponse response = new DecodedResponse(encoded);
        assertEquals(plain.digest(read), response.digest(read));
        assertEquals(items(plain), items(response));
        assertEquals(rows, items(response).size());
        assertEquals(3, encoded.decodings);
    }

    @Test
    void onlyShortOnesAreKept() {
        ReadResponse shortOne = answer(update(1, "x".repeat(100)));
        assertNotSame(shortOne, DecodedResponse.of(shortOne));
        ReadResponse longOne = answer(update(1, "x".repeat(DecodedResponse.LENGTH_MAX)));
        assertSame(longOne, DecodedResponse.of(longOne));
    }

    @Test
    void aDigestIsLeftAsItIs() {
        ReadResponse digest = ReadResponse.createDigestResponse(
            new SingletonUnfilteredPartitionIterator(update(1).unfilteredIterator()), read);
        assertSame(digest, DecodedResponse.of(digest));
    }

    @Test
    void nothingIsNothingEachTime() {
        Counted encoded = new Counted(null);
        DecodedResponse response = new DecodedResponse(encoded);
        for (int look = 0; look < 2; look += 1) {
            try (UnfilteredPartitionIterator partitions = response.makeIterator(read)) {
                assertFalse(partitions.hasNext());
            }
        }
        assertEquals(new Counted(null).digest(read), response.digest(read));
        assertEquals(1, encoded.decodings);
    }

    @Test
    void whatThePartitionSaysOfItselfIsKept() {
        PartitionUpdate update = update(2);
        try (UnfilteredRowIterator plain = update.unfilteredIterator();
            UnfilteredPartitionIterator partitions = new DecodedResponse(new Counted(update)).makeIterator(read);
            UnfilteredRowIterator replayed = partitions.next()) {
            assertEquals(plain.partitionKey(), replayed.partitionKey());
            assertEquals(plain.partitionLevelDeletion(), replayed.partitionLevelDeletion());
            assertEquals(plain.columns(), replayed.columns());
            assertEquals(plain.staticRow(), replayed.staticRow());
            assertEquals(plain.isReverseOrder(), replayed.isReverseOrder());
            assertEquals(plain.stats(), replayed.stats());
        }
    }

    private static List<Unfiltered> items(ReadResponse response) {
        List<Unfiltered> items = new ArrayList<>();
        try (UnfilteredPartitionIterator partitions = response.makeIterator(read);
            UnfilteredRowIterator partition = partitions.next()) {
            partition.forEachRemaining(items::add);
            assertFalse(partitions.hasNext());
        }
        return items;
    }

    private static DecoratedKey key() {
        return Murmur3Partitioner.instance.decorateKey(ByteBufferUtil.bytes("a"));
    }

    private static ReadResponse answer(PartitionUpdate update) {
        return ReadResponse.createDataResponse(
            new SingletonUnfilteredPartitionIterator(update.unfilteredIterator()),
            read,
            RepairedDataInfo.NO_OP_REPAIRED_DATA_INFO);
    }

    private static PartitionUpdate update(int rows) {
        return update(rows, "value ");
    }

    private static PartitionUpdate update(int rows, String text) {
        ColumnMetadata value = table.getColumn(ByteBufferUtil.bytes("value"));
        PartitionUpdate.Builder update =
            new PartitionUpdate.Builder(table, key(), table.regularAndStaticColumns(), rows);
        for (int at = 0; at < rows; at += 1) {
            Row.Builder row = BTreeRow.unsortedBuilder();
            row.newRow(Clustering.make(ByteBufferUtil.bytes(at)));
            row.addCell(BufferCell.live(value, 1, ByteBufferUtil.bytes(text + at)));
            update.add(row.build());
        }
        return update.build();
    }

    /** A partition, or none, made again at each use. */
    private static final class Counted extends ReadResponse {

        private final PartitionUpdate update;
        private int decodings;

        Counted(PartitionUpdate update) {
            this.update = update;
        }

        @Override
        public UnfilteredPartitionIterator makeIterator(ReadCommand command) {
            decodings += 1;
            return update == null
                ? EmptyIterators.unfilteredPartition(table)
                : new SingletonUnfilteredPartitionIterator(update.unfilteredIterator());
        }

        @Override
        public ByteBuffer digest(ReadCommand command) {
            return makeDigest(makeIterator(command), command);
        }

        @Override
        public ByteBuffer repairedDataDigest() {
            return null;
        }

        @Override
        public boolean isRepairedDigestConclusive() {
            return true;
        }

        @Override
        public boolean mayIncludeRepairedDigest() {
            return false;
        }

        @Override
        public boolean isDigestResponse() {
            return false;
        }
    }
}
