package org.correctables.cassandra;

import java.lang.reflect.Field;
import org.apache.cassandra.cql3.Term;
import org.apache.cassandra.cql3.statements.SelectStatement;
import org.apache.cassandra.db.aggregation.AggregationSpecification;

/**
 * The same statement once more, so that a subclass can say which query it makes. Everything else (authorisation, limits,
 * paging, masking, selectors) stays Cassandra's own code.
 */
abstract class CopiedSelect extends SelectStatement {

    private static final Field RESTRICTIONS = field("restrictions");
    private static final Field IS_REVERSED = field("isReversed");
    private static final Field AGGREGATION = field("aggregationSpecFactory");
    private static final Field ORDERING = field("orderingComparator");
    private static final Field LIMIT = field("limit");
    private static final Field PER_PARTITION_LIMIT = field("perPartitionLimit");

    CopiedSelect(SelectStatement original) {
        super(
            original.table,
            original.bindVariables,
            original.parameters,
            original.getSelection(),
            get(RESTRICTIONS, original),
            get(IS_REVERSED, original),
            get(AGGREGATION, original),
            null,
            CopiedSelect.<Term>get(LIMIT, original),
            get(PER_PARTITION_LIMIT, original));
        copyOrdering(original);
    }

    /** Whether it counts, sums, groups. */
    static boolean isAggregate(SelectStatement statement) {
        return CopiedSelect.<AggregationSpecification.Factory>get(AGGREGATION, statement) != null;
    }

    /** Its class is private, so that it cannot be handed to the constructor. */
    private void copyOrdering(SelectStatement original) {
        try {
            ORDERING.set(this, ORDERING.get(original));
        } catch (IllegalAccessException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    @SuppressWarnings("unchecked")
    private static <T> T get(Field field, SelectStatement statement) {
        try {
            return (T) field.get(statement);
        } catch (IllegalAccessException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static Field field(String name) {
        try {
            Field field = SelectStatement.class.getDeclaredField(name);
            field.setAccessible(true);
            return field;
        } catch (ReflectiveOperationException missing) {
            throw new ExceptionInInitializerError(missing);
        }
    }
}
