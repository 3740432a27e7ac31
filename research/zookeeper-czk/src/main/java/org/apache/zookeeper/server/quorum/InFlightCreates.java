package org.apache.zookeeper.server.quorum;

import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * The creates of this server's own clients that it has taken and not applied yet, by parent. What is dropped on the way (a
 * closed session, a refused request) does not stay: an entry ends with its request, with its session, or by age.
 */
final class InFlightCreates {

    private static final class Key {
        final long session;
        final int xid;

        Key(long session, int xid) {
            this.session = session;
            this.xid = xid;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Key && ((Key) other).session == session && ((Key) other).xid == xid;
        }

        @Override
        public int hashCode() {
            return Objects.hash(session, xid);
        }
    }

    private static final class Entry {
        final String parent;
        final long sinceMs;

        Entry(String parent, long sinceMs) {
            this.parent = parent;
            this.sinceMs = sinceMs;
        }
    }

    private final long ageMaxMs;
    /** Oldest first. */
    private final Map<Key, Entry> entries = new LinkedHashMap<>();
    private final Map<String, Integer> counts = new HashMap<>();

    /** @param ageMaxMs after so long a create that was not applied never will be */
    InFlightCreates(long ageMaxMs) {
        this.ageMaxMs = ageMaxMs;
    }

    /** A create begins. Returns how many others below the same parent began before it and have not ended. */
    synchronized int begin(String parent, long session, int xid, long nowMs) {
        forgetOld(nowMs);
        end(session, xid);
        int before = counts.getOrDefault(parent, 0);
        entries.put(new Key(session, xid), new Entry(parent, nowMs));
        counts.put(parent, before + 1);
        return before;
    }

    /** A request has been applied, or has failed; one that is not known does no harm. */
    synchronized void end(long session, int xid) {
        Entry entry = entries.remove(new Key(session, xid));
        if (entry != null) {
            uncount(entry);
        }
    }

    /** A session is over, and with it all that it had under way. */
    synchronized void endSession(long session) {
        Iterator<Map.Entry<Key, Entry>> all = entries.entrySet().iterator();
        while (all.hasNext()) {
            Map.Entry<Key, Entry> each = all.next();
            if (each.getKey().session == session) {
                all.remove();
                uncount(each.getValue());
            }
        }
    }

    synchronized int count(String parent) {
        return counts.getOrDefault(parent, 0);
    }

    private void forgetOld(long nowMs) {
        Iterator<Entry> oldest = entries.values().iterator();
        while (oldest.hasNext()) {
            Entry entry = oldest.next();
            if (nowMs - entry.sinceMs < ageMaxMs) {
                return;
            }
            oldest.remove();
            uncount(entry);
        }
    }

    private void uncount(Entry entry) {
        counts.computeIfPresent(entry.parent, (parent, count) -> count == 1 ? null : count - 1);
    }
}
