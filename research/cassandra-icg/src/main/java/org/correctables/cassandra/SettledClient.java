package org.correctables.cassandra;

import org.apache.cassandra.auth.Permission;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.service.ClientState;

/**
 * A client whose right to see masked columns was settled before the read. Evaluating a replica's answer for it looks up no
 * permission, which could take a read of its own, and checks no guardrail a second time.
 */
final class SettledClient extends ClientState {

    private final boolean seesMasked;

    private SettledClient(boolean seesMasked) {
        super(ClientState.forInternalCalls());
        this.seesMasked = seesMasked;
    }

    /** A client that may read the table. */
    static SettledClient of(ClientState client, TableMetadata table) {
        return new SettledClient(!table.hasMaskedColumns() || client.hasTablePermission(table, Permission.UNMASK));
    }

    @Override
    public boolean hasTablePermission(TableMetadata table, Permission permission) {
        return permission == Permission.UNMASK && seesMasked;
    }
}
