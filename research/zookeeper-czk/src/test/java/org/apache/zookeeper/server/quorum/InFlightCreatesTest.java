package org.apache.zookeeper.server.quorum;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class InFlightCreatesTest {

    private static final long AGE_MAX_MS = 1000;

    private final InFlightCreates inFlight = new InFlightCreates(AGE_MAX_MS);

    @Test
    void countsWhatBeganBeforeBelowTheSameParent() {
        assertEquals(0, inFlight.begin("/a", 1, 1, 0));
        assertEquals(1, inFlight.begin("/a", 2, 1, 0));
        assertEquals(0, inFlight.begin("/b", 1, 2, 0));
        inFlight.end(1, 1);
        assertEquals(1, inFlight.begin("/a", 3, 1, 0));
    }

    @Test
    void endsOnceHoweverOftenItIsTold() {
        inFlight.begin("/a", 1, 1, 0);
        inFlight.begin("/a", 1, 2, 0);
        inFlight.end(1, 1);
        inFlight.end(1, 1);
        inFlight.end(9, 9);
        assertEquals(1, inFlight.count("/a"));
    }

    @Test
    void aRequestRepeatedIsOneRequest() {
        inFlight.begin("/a", 1, 1, 0);
        inFlight.begin("/a", 1, 1, 0);
        assertEquals(1, inFlight.count("/a"));
    }

    @Test
    void nothingOfASessionThatIsOverStays() {
        inFlight.begin("/a", 1, 1, 0);
        inFlight.begin("/b", 1, 2, 0);
        inFlight.begin("/a", 2, 1, 0);
        inFlight.endSession(1);
        assertEquals(1, inFlight.count("/a"));
        assertEquals(0, inFlight.count("/b"));
    }

    @Test
    void whatWasDroppedOnTheWayIsForgottenInTime() {
        inFlight.begin("/a", 1, 1, 0);
        assertEquals(1, inFlight.begin("/a", 1, 2, AGE_MAX_MS - 1));
        assertEquals(1, inFlight.begin("/a", 1, 3, AGE_MAX_MS));
    }
}
