package org.correctables.cassandra;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.cassandra.cql3.ColumnIdentifier;
import org.apache.cassandra.cql3.ColumnSpecification;
import org.apache.cassandra.cql3.ResultSet;
import org.apache.cassandra.db.marshal.UTF8Type;
import org.apache.cassandra.transport.messages.ResultMessage;
import org.apache.cassandra.utils.ByteBufferUtil;

/** Results of one column. */
final class TestResults {

    private TestResults() {
    }

    static ResultMessage.Rows rows(String... values) {
        return new ResultMessage.Rows(result("v", values));
    }

    static ResultSet result(String column, String... values) {
        ColumnIdentifier name = new ColumnIdentifier(column, true);
        List<ColumnSpecification> columns =
            new ArrayList<>(List.of(new ColumnSpecification("ks", "t", name, UTF8Type.instance)));
        ResultSet result = new ResultSet(new ResultSet.ResultMetadata(columns));
        Arrays.stream(values).forEach(value -> result.addRow(new ArrayList<>(Arrays.asList(bytes(value)))));
        return result;
    }

    private static ByteBuffer bytes(String value) {
        return value == null ? null : ByteBufferUtil.bytes(value);
    }
}
