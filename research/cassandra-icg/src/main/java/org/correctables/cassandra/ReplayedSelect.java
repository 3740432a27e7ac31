package org.correctables.cassandra;

import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.statements.SelectStatement;
import org.apache.cassandra.db.ReadQuery;
import org.apache.cassandra.db.SinglePartitionReadCommand;
import org.apache.cassandra.db.filter.ColumnFilter;
import org.apache.cassandra.db.filter.DataLimits;
import org.apache.cassandra.service.ClientState;

/** A statement whose data one replica has given already. */
final class ReplayedSelect extends CopiedSelect {

    private final ReplayedRead read;

    ReplayedSelect(SelectStatement original, ReplayedRead read) {
        super(original);
        this.read = read;
    }

    @Override
    public ReadQuery getQuery(
        QueryOptions options, ClientState state, ColumnFilter columns, long nowInSec, DataLimits limits) {
        return SinglePartitionReadCommand.Group.one(read);
    }
}
