package org.correctables.cassandra;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.cql3.ResultSet;
import org.apache.cassandra.service.pager.PagingState;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class ResultsTest {

    @BeforeAll
    static void configure() {
        DatabaseDescriptor.clientInitialization();
    }

    @Test
    void equalityIsOfRowsInTheirOrder() {
        assertTrue(Results.areEqual(TestResults.result("v"), TestResults.result("v")));
        assertTrue(Results.areEqual(TestResults.result("v", "a", null), TestResults.result("v", "a", null)));
        assertFalse(Results.areEqual(TestResults.result("v", "a"), TestResults.result("v")));
        assertFalse(Results.areEqual(TestResults.result("v", "a", "b"), TestResults.result("v", "b", "a")));
        assertFalse(Results.areEqual(TestResults.result("v", ""), TestResults.result("v", (String) null)));
    }

    @Test
    void equalityIsOfColumns() {
        assertFalse(Results.areEqual(TestResults.result("v", "a"), TestResults.result("w", "a")));
    }

    @Test
    void equalityIsOfWhereTheNextPageBegins() {
        ResultSet last = TestResults.result("v", "a");
        ResultSet more = paged(7);
        assertFalse(Results.areEqual(last, more));
        assertFalse(Results.areEqual(more, last));
        assertFalse(Results.areEqual(more, paged(8)));
        assertTrue(Results.areEqual(more, paged(7)));
    }

    @Test
    void leavingOutMetadataChangesNothing() {
        ResultSet skipped = TestResults.result("v", "a");
        skipped.metadata.setSkipMetadata();
        assertTrue(Results.areEqual(skipped, TestResults.result("v", "a")));
    }

    @Test
    void sizeIsThatOfTheValues() {
        assertEquals(0, Results.size(TestResults.result("v")));
        assertEquals(5, Results.size(TestResults.result("v", "abc", null, "", "de")));
    }

    private static ResultSet paged(int remaining) {
        ResultSet result = TestResults.result("v", "a");
        ByteBuffer key = ByteBuffer.wrap(new byte[] {1});
        PagingState.RowMark none = null;
        result.metadata.setHasMorePages(new PagingState(key, none, remaining, remaining));
        return result;
    }
}
