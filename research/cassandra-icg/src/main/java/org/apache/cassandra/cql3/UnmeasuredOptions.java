package org.apache.cassandra.cql3;

/**
 * The options of a request, for the second evaluation of one read: results are warned about, refused and counted by their
 * size when the final is made, not once more for the preliminary.
 */
public final class UnmeasuredOptions extends QueryOptions.QueryOptionsWrapper {

    public UnmeasuredOptions(QueryOptions options) {
        super(options);
    }

    @Override
    ReadThresholds getReadThresholds() {
        return NoThresholds.INSTANCE;
    }

    private enum NoThresholds implements ReadThresholds {
        INSTANCE;

        @Override
        public boolean isEnabled() {
            return false;
        }

        @Override
        public long getCoordinatorReadSizeWarnThresholdBytes() {
            return -1;
        }

        @Override
        public long getCoordinatorReadSizeFailThresholdBytes() {
            return -1;
        }
    }
}
