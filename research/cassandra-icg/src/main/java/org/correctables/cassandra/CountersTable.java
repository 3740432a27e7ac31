package org.correctables.cassandra;

import com.google.common.collect.ImmutableList;
import org.apache.cassandra.db.marshal.LongType;
import org.apache.cassandra.db.marshal.UTF8Type;
import org.apache.cassandra.db.virtual.AbstractVirtualTable;
import org.apache.cassandra.db.virtual.SimpleDataSet;
import org.apache.cassandra.db.virtual.VirtualKeyspace;
import org.apache.cassandra.dht.LocalPartitioner;
import org.apache.cassandra.schema.TableMetadata;

/** The counters of this node, as the virtual table {@code system_correctables.icg}. */
final class CountersTable extends AbstractVirtualTable {

    private static final String KEYSPACE = "system_correctables";

    private final Counters counters;

    private CountersTable(Counters counters) {
        super(TableMetadata.builder(KEYSPACE, "icg")
            .comment("preliminary answers of this coordinator since it was started")
            .kind(TableMetadata.Kind.VIRTUAL)
            .partitioner(new LocalPartitioner(UTF8Type.instance))
            .addPartitionKeyColumn("name", UTF8Type.instance)
            .addRegularColumn("value", LongType.instance)
            .build());
        this.counters = counters;
    }

    static VirtualKeyspace keyspace(Counters counters) {
        return new VirtualKeyspace(KEYSPACE, ImmutableList.of(new CountersTable(counters)));
    }

    @Override
    public DataSet data() {
        SimpleDataSet data = new SimpleDataSet(metadata());
        counters.byName().forEach((name, counter) -> data.row(name).column("value", counter.getCount()));
        return data;
    }
}
