package org.correctables.cassandra;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.apache.cassandra.utils.FBUtilities;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class InstallationTest {

    @ParameterizedTest
    @CsvSource({
        "5.0.9, true", "5.0.8, true", "5.0.7, true", "5.0.6, false", "5.0.10, false", "5.0, false", "5.0.9-SNAPSHOT, false", "6.0-alpha2, false",
    })
    void onlyVersionsThatItWasTestedWith(String cassandra, boolean isKnown) {
        assertEquals(isKnown, Installation.isKnown(cassandra));
    }

    @Test
    void theVersionOfTheBuildIsOne() {
        assertTrue(Installation.isKnown(FBUtilities.getReleaseVersionString()));
    }
}
