package org.apache.zookeeper.server.quorum;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.apache.zookeeper.ZooDefs;
import org.junit.jupiter.api.Test;

class PreliminaryRepliesTest {

    @Test
    void namesAreThoseOfTheServer() {
        assertEquals("/q/-0000000042", PreliminaryReplies.nameOf("/q/-", 42));
        assertEquals("/q", PreliminaryReplies.parentOf("/q/-"));
        assertEquals("/", PreliminaryReplies.parentOf("/-"));
    }

    @Test
    void onlyWhoAsksGetsOne() {
        assertTrue(PreliminaryReplies.isWanted(7 | PreliminaryReplies.WANTED));
        assertFalse(PreliminaryReplies.isWanted(7));
        // The server's own numbers: watches, pings, identities.
        for (int xid : new int[] {-1, -2, -4, -8}) {
            assertFalse(PreliminaryReplies.isWanted(xid));
        }
    }

    @Test
    void itsNumberIsNegativeAndNoneOfTheServersOwn() {
        int xid = 7 | PreliminaryReplies.WANTED | PreliminaryReplies.PRELIMINARY;
        assertTrue(xid < -8);
        assertEquals(7, xid & ~(PreliminaryReplies.WANTED | PreliminaryReplies.PRELIMINARY));
    }

    @Test
    void onlyPlainCreatesAreLookedAt() {
        assertTrue(PreliminaryReplies.isCreate(ZooDefs.OpCode.create));
        assertTrue(PreliminaryReplies.isCreate(ZooDefs.OpCode.create2));
        assertFalse(PreliminaryReplies.isCreate(ZooDefs.OpCode.setData));
    }
}
