package org.apache.cassandra.db;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.db.filter.ClusteringIndexSliceFilter;
import org.apache.cassandra.db.filter.ColumnFilter;
import org.apache.cassandra.db.filter.DataLimits;
import org.apache.cassandra.db.filter.RowFilter;
import org.apache.cassandra.db.marshal.Int32Type;
import org.apache.cassandra.db.marshal.ReversedType;
import org.apache.cassandra.db.marshal.SetType;
import org.apache.cassandra.db.marshal.UTF8Type;
import org.apache.cassandra.db.partitions.PartitionIterator;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.db.partitions.SingletonUnfilteredPartitionIterator;
import org.apache.cassandra.db.partitions.UnfilteredPartitionIterator;
import org.apache.cassandra.db.partitions.UnfilteredPartitionIterators;
import org.apache.cassandra.db.rows.BTreeRow;
import org.apache.cassandra.db.rows.BufferCell;
import org.apache.cassandra.db.rows.CellPath;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.db.rows.RowIterator;
import org.apache.cassandra.db.rows.Unfiltered;
import org.apache.cassandra.db.rows.UnfilteredRowIterator;
import org.apache.cassandra.dht.Murmur3Partitioner;
import org.apache.cassandra.schema.ColumnMetadata;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.utils.ByteBufferUtil;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Whatever a partition consists of (tombstones of cells, rows, ranges and the whole; collections, statics, cells that
 * expire; in either order), several threads that look at it, some of them only half, see what the encoded answer says.
 */
class DecodedKindsTest {

    private static final int SEEDS = 300;
    private static final int LOOKS = 6;
    private static final int[] ROWS = {0, 1, 5, 60, 99, 100, 101, 150};

    private static TableMetadata table;

    @BeforeAll
    static void configure() {
        DatabaseDescriptor.clientInitialization();
        table = TableMetadata.builder("keyspace", "table")
            .partitioner(Murmur3Partitioner.instance)
            .addPartitionKeyColumn("id", UTF8Type.instance)
            .addClusteringColumn("at", ReversedType.getInstance(Int32Type.instance))
            .addStaticColumn("shared", UTF8Type.instance)
            .addRegularColumn("value", UTF8Type.instance)
            .addRegularColumn("tags", SetType.getInstance(UTF8Type.instance, true))
            .build();
    }

    @Test
    void looksTheSameAsTheEncodedAnswer() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            for (int seed = 0; seed < SEEDS; seed += 1) {
                compare(new Random(seed), threads, "seed " + seed);
            }
        } finally {
            threads.shutdown();
        }
    }

    private static void compare(Random random, ExecutorService threads, String name) throws Exception {
        PartitionUpdate update = update(random, ROWS[random.nextInt(ROWS.length)]);
        boolean isReversed = random.nextBoolean();
        SinglePartitionReadCommand read = SinglePartitionReadCommand.create(
            table,
            200,
            ColumnFilter.all(table),
            RowFilter.none(),
            random.nextBoolean() ? DataLimits.NONE : DataLimits.cqlLimits(3),
            key(),
            new ClusteringIndexSliceFilter(Slices.ALL, isReversed));
        read.setDigestVersion(org.apache.cassandra.net.MessagingService.current_version);
        ReadResponse plain = answer(update, read, isReversed);
        ReadResponse decoded = new DecodedResponse(answer(update, read, isReversed));
        List<Future<String>> looks = new ArrayList<>();
        for (int look = 0; look < LOOKS; look += 1) {
            int kind = look % 3;
            looks.add(threads.submit(() -> look(kind, decoded, read)));
        }
        for (int look = 0; look < LOOKS; look += 1) {
            assertEquals(look(look % 3, plain, read), looks.get(look).get(), name);
        }
        ByteBuffer digest = plain.digest(read);
        for (int time = 0; time < 2; time += 1) {
            assertEquals(digest, decoded.digest(read), name);
            assertEquals(look(0, plain, read), look(0, decoded, read), name);
            assertEquals(look(1, plain, read), look(1, decoded, read), name);
        }
    }

    private static String look(int kind, ReadResponse response, SinglePartitionReadCommand read) {
        if (kind == 1) {
            return rows(response, read);
        }
        return items(response, read, kind == 0 ? Integer.MAX_VALUE : 2);
    }

    /** The first items, tombstones among them, and what the partition says of itself. */
    private static String items(ReadResponse response, SinglePartitionReadCommand read, int count) {
        StringBuilder text = new StringBuilder();
        try (UnfilteredPartitionIterator partitions = response.makeIterator(read)) {
            text.append(partitions.metadata().name);
            while (partitions.hasNext()) {
                try (UnfilteredRowIterator partition = partitions.next()) {
                    text.append(partition.partitionKey())
                        .append(partition.partitionLevelDeletion())
                        .append(partition.columns())
                        .append(partition.isReverseOrder())
                        .append(partition.stats())
                        .append(partition.staticRow().toString(table, true));
                    for (int item = 0; item < count && partition.hasNext(); item += 1) {
                        Unfiltered next = partition.next();
                        text.append('\n').append(next.kind()).append(next.toString(table, true, true));
                    }
                }
            }
        }
        return text.toString();
    }

    /** What is left of it where tombstones and what has expired are taken away. */
    private static String rows(ReadResponse response, SinglePartitionReadCommand read) {
        StringBuilder text = new StringBuilder();
        try (PartitionIterator partitions =
            UnfilteredPartitionIterators.filter(response.makeIterator(read), read.nowInSec())) {
            while (partitions.hasNext()) {
                try (RowIterator partition = partitions.next()) {
                    text.append(partition.staticRow().toString(table, true));
                    partition.forEachRemaining((row) -> text.append(row.toString(table, true)));
                }
            }
        }
        return text.toString();
    }

    private static ReadResponse answer(PartitionUpdate update, SinglePartitionReadCommand read, boolean isReversed) {
        UnfilteredRowIterator rows = update.unfilteredIterator(ColumnFilter.all(table), Slices.ALL, isReversed);
        return ReadResponse.createDataResponse(
            new SingletonUnfilteredPartitionIterator(rows), read, RepairedDataInfo.NO_OP_REPAIRED_DATA_INFO);
    }

    private static DecoratedKey key() {
        return Murmur3Partitioner.instance.decorateKey(ByteBufferUtil.bytes("a"));
    }

    private static ColumnMetadata column(String name) {
        return table.getColumn(ByteBufferUtil.bytes(name));
    }

    private static Clustering<?> at(int at) {
        return Clustering.make(ByteBufferUtil.bytes(at));
    }

    private static PartitionUpdate update(Random random, int rows) {
        PartitionUpdate.Builder update =
            new PartitionUpdate.Builder(table, key(), table.regularAndStaticColumns(), rows);
        if (random.nextInt(3) == 0) {
            update.addPartitionDeletion(DeletionTime.build(random.nextInt(3), 100));
        }
        if (random.nextBoolean()) {
            Row.Builder shared = BTreeRow.unsortedBuilder();
            shared.newRow(Clustering.STATIC_CLUSTERING);
            shared.addCell(BufferCell.live(column("shared"), 5, ByteBufferUtil.bytes("shared " + random.nextInt())));
            update.add(shared.build());
        }
        for (int at = 0; at < rows; at += 1) {
            update.add(row(random, at));
            if (random.nextInt(5) == 0) {
                update.add(new RangeTombstone(Slice.make(at(at + 2), at(at)), DeletionTime.build(2, 100)));
            }
        }
        return update.build();
    }

    private static Row row(Random random, int at) {
        Row.Builder row = BTreeRow.unsortedBuilder();
        row.newRow(at(at));
        int kind = random.nextInt(6);
        if (kind == 0) {
            row.addRowDeletion(Row.Deletion.regular(DeletionTime.build(7, 100)));
        } else if (kind == 1) {
            row.addCell(BufferCell.tombstone(column("value"), 9, 100));
        } else if (kind == 2) {
            row.addPrimaryKeyLivenessInfo(LivenessInfo.create(4, 1000));
            row.addCell(BufferCell.expiring(column("value"), 9, 50, 1000, ByteBufferUtil.bytes("expires")));
        } else if (kind == 3) {
            row.addPrimaryKeyLivenessInfo(LivenessInfo.create(4, 1000));
            row.addComplexDeletion(column("tags"), DeletionTime.build(3, 100));
            int tags = random.nextInt(4);
            for (int tag = 0; tag < tags; tag += 1) {
                CellPath path = CellPath.create(ByteBufferUtil.bytes("tag " + tag));
                row.addCell(BufferCell.live(column("tags"), 8, ByteBufferUtil.EMPTY_BYTE_BUFFER, path));
            }
        } else {
            row.addPrimaryKeyLivenessInfo(LivenessInfo.create(4, 1000));
            row.addCell(BufferCell.live(column("value"), 9, ByteBufferUtil.bytes("value " + random.nextInt())));
        }
        return row.build();
    }
}
