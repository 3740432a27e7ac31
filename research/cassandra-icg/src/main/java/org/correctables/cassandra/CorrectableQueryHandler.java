package org.correctables.cassandra;

import java.nio.ByteBuffer;
import java.util.Map;
import org.apache.cassandra.cql3.BatchQueryOptions;
import org.apache.cassandra.cql3.CQLStatement;
import org.apache.cassandra.cql3.QueryHandler;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.QueryProcessor;
import org.apache.cassandra.cql3.statements.BatchStatement;
import org.apache.cassandra.cql3.statements.SelectStatement;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.service.QueryState;
import org.apache.cassandra.transport.Dispatcher;
import org.apache.cassandra.transport.messages.ResultMessage;
import org.apache.cassandra.utils.MD5Digest;

/**
 * Makes the server a Correctable Cassandra (Correctables, OSDI 2016, §5.2): start it with
 * {@code -Dcassandra.custom_query_handler_class=org.correctables.cassandra.CorrectableQueryHandler}.
 *
 * <p>Everything is Cassandra's own query processor's work. Only the reads of clients that ask are executed through a copy of
 * their statement that shows the first replica's data.
 */
public final class CorrectableQueryHandler implements QueryHandler {

    private final QueryHandler plain = QueryProcessor.instance;
    private final RemoteData remoteData = new RemoteData();

    /** Made by the server, once, at its start. */
    public CorrectableQueryHandler() {
        Installation.install(remoteData);
    }

    @Override
    public ResultMessage process(
        CQLStatement statement,
        QueryState state,
        QueryOptions options,
        Map<String, ByteBuffer> payload,
        Dispatcher.RequestTime requestTime) {
        return plain.process(observed(statement, payload), state, options, payload, requestTime);
    }

    @Override
    public ResultMessage processPrepared(
        CQLStatement statement,
        QueryState state,
        QueryOptions options,
        Map<String, ByteBuffer> payload,
        Dispatcher.RequestTime requestTime) {
        return plain.processPrepared(observed(statement, payload), state, options, payload, requestTime);
    }

    private CQLStatement observed(CQLStatement statement, Map<String, ByteBuffer> payload) {
        Exchange exchange = Exchanges.of(payload);
        if (exchange == null) {
            return statement;
        }
        if (statement.getClass() != SelectStatement.class) {
            exchange.decline();
            return statement;
        }
        return new ObservedSelect((SelectStatement) statement, exchange, remoteData);
    }

    @Override
    public ResultMessage processBatch(
        BatchStatement statement,
        QueryState state,
        BatchQueryOptions options,
        Map<String, ByteBuffer> payload,
        Dispatcher.RequestTime requestTime) {
        return plain.processBatch(statement, state, options, payload, requestTime);
    }

    @Override
    public CQLStatement parse(String query, QueryState state, QueryOptions options) {
        return plain.parse(query, state, options);
    }

    @Override
    public ResultMessage.Prepared prepare(String query, ClientState state, Map<String, ByteBuffer> payload) {
        return plain.prepare(query, state, payload);
    }

    @Override
    public Prepared getPrepared(MD5Digest id) {
        return plain.getPrepared(id);
    }
}
