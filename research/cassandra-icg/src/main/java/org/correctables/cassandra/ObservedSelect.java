package org.correctables.cassandra;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.UnmeasuredOptions;
import org.apache.cassandra.cql3.statements.SelectStatement;
import org.apache.cassandra.db.ObservedRead;
import org.apache.cassandra.db.ReadQuery;
import org.apache.cassandra.db.ReadResponse;
import org.apache.cassandra.db.SinglePartitionReadCommand;
import org.apache.cassandra.db.filter.ColumnFilter;
import org.apache.cassandra.db.filter.DataLimits;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.service.ClientWarn;
import org.apache.cassandra.service.QueryState;
import org.apache.cassandra.transport.Dispatcher;
import org.apache.cassandra.transport.messages.ResultMessage;

/** One execution of a statement that offers the first replica's rows to the exchange of its request. */
final class ObservedSelect extends CopiedSelect implements ObservedRead.Observer {

    private final SelectStatement original;
    private final Exchange exchange;
    private final RemoteData remoteData;
    private final List<Long> requested = new ArrayList<>(1);
    private SettledClient reader;
    private QueryOptions options;
    private Dispatcher.RequestTime requestTime;
    private Thread coordinator;
    /** What the coordinator has read and not offered yet; touched by its thread only. */
    private ReadResponse own;
    /** The whole read, of which a page is asked for. */
    private SinglePartitionReadCommand read;

    ObservedSelect(SelectStatement original, Exchange exchange, RemoteData remoteData) {
        super(original);
        this.original = original;
        this.exchange = exchange;
        this.remoteData = remoteData;
    }

    @Override
    public ResultMessage.Rows execute(QueryState state, QueryOptions options, Dispatcher.RequestTime requestTime) {
        this.options = options;
        this.requestTime = requestTime;
        coordinator = Thread.currentThread();
        try {
            return super.execute(state, options, requestTime);
        } finally {
            requested.forEach(remoteData::forget);
        }
    }

    @Override
    public ReadQuery getQuery(
        QueryOptions options, ClientState client, ColumnFilter columns, long nowInSec, DataLimits limits) {
        ReadQuery query = super.getQuery(options, client, columns, nowInSec, limits);
        if (!Coverage.covers(isAggregate(original), options, query)) {
            exchange.decline();
            return query;
        }
        reader = SettledClient.of(client, table);
        read = ((SinglePartitionReadCommand.Group) query).queries.get(0);
        return SinglePartitionReadCommand.Group.one(new ObservedRead(read, this));
    }

    /** What this thread has read itself waits until the others have been asked: the final would be late by its evaluation. */
    @Override
    public void onData(ReadResponse data) {
        if (Thread.currentThread() == coordinator) {
            own = data;
        } else {
            offer(data, PreliminaryStage.INSTANCE);
        }
    }

    @Override
    public void onWait() {
        if (Thread.currentThread() == coordinator && own != null) {
            ReadResponse data = own;
            own = null;
            offer(data, Runnable::run);
        }
    }

    @Override
    public void onDataRequested(long messageId) {
        if (exchange.isOpen()) {
            requested.add(messageId);
            remoteData.expect(messageId, data -> offer(data, PreliminaryStage.INSTANCE));
        }
    }

    private void offer(ReadResponse data, Executor evaluator) {
        exchange.offer(() -> rowsOf(data), evaluator);
    }

    /** What this statement gives on one replica's data: for this user, with this page size. Null if it is too large. */
    private ResultMessage.Rows rowsOf(ReadResponse data) {
        ClientWarn.State warnings = ClientWarn.instance.get();
        // Whatever there is to warn about, the final warns about it.
        ClientWarn.instance.set(null);
        try {
            ReplayedSelect replayed = new ReplayedSelect(original, new ReplayedRead(read, data));
            ResultMessage.Rows rows = replayed.executeInternal(
                new QueryState(reader), new UnmeasuredOptions(options), read.nowInSec(), requestTime);
            return Coverage.covers(rows.result, options) ? rows : null;
        } finally {
            ClientWarn.instance.set(warnings);
        }
    }
}
