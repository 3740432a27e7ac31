package org.correctables.cassandra;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.nio.ByteBuffer;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AskingTest {

    @ParameterizedTest
    @CsvSource({"1, true, 7", "2, false, 7", "5, true, -9", "6, false, -9"})
    void eachModeIsUnderstood(int value, boolean confirm, int preliminaryStream) {
        Asking asking = Asking.in(payload(value));
        assertNotNull(asking);
        assertEquals(confirm, asking.confirm);
        assertEquals(preliminaryStream, asking.preliminaryStream(7));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 3, 4, 7, 8, 9, 0x81, 0xff})
    void otherBitsAreNotAsking(int value) {
        assertNull(Asking.in(payload(value)));
    }

    @Test
    void otherPayloadsAreNotAsking() {
        assertNull(Asking.in(null));
        assertNull(Asking.in(Map.of()));
        assertNull(Asking.in(Map.of("ICG", ByteBuffer.wrap(new byte[] {1}))));
        assertNull(Asking.in(Map.of("icg", ByteBuffer.allocate(0))));
        assertNull(Asking.in(Map.of("icg", ByteBuffer.wrap(new byte[] {1, 1}))));
    }

    @Test
    void theStreamsAsideAreNoStreamOfARequestOrOfEvents() {
        Asking asking = Asking.in(payload(5));
        assertEquals(-2, asking.preliminaryStream(0));
        assertEquals(Short.MIN_VALUE, (short) asking.preliminaryStream(Short.MAX_VALUE - 1));
    }

    private static Map<String, ByteBuffer> payload(int value) {
        return Map.of("icg", ByteBuffer.wrap(new byte[] {(byte) value}));
    }
}
