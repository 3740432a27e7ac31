package org.correctables.cassandra;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.net.InetAddresses;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DelaysTest {

    @Test
    void eachSenderHasItsOwn() {
        Delays delays = Delays.of("127.0.0.2:10, 127.0.0.3:41.5,::1:0.25");
        assertEquals(10_000, delays.micros(InetAddresses.forString("127.0.0.2")));
        assertEquals(41_500, delays.micros(InetAddresses.forString("127.0.0.3")));
        assertEquals(250, delays.micros(InetAddresses.forString("::1")));
        assertEquals(0, delays.micros(InetAddresses.forString("127.0.0.4")));
    }

    @Test
    void noneByDefault() {
        assertTrue(Delays.of("").isEmpty());
        assertTrue(Delays.of("  ").isEmpty());
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "127.0.0.2", "127.0.0.2:", ":10", "127.0.0.2:ten", "127.0.0.2:-1", "127.0.0.2:NaN", "127.0.0.2:60000",
        "node2:10", "127.0.0.2:10,", ",", "127.0.0.2:10;127.0.0.3:20"
    })
    void anythingElseIsRefusedWithTheFormThatItTakes(String text) {
        IllegalArgumentException error = assertThrows(IllegalArgumentException.class, () -> Delays.of(text));
        assertTrue(error.getMessage().contains("-Dcorrectables.delay takes address:oneWayMs"), error.getMessage());
    }
}
