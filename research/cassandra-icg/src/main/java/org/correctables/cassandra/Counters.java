package org.correctables.cassandra;

import com.codahale.metrics.Counter;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;

/** What happened to those who asked. Shown as metrics of the server and as a virtual table. */
final class Counters {

    final Counter preliminaries;
    final Counter confirmed;
    final Counter diverged;
    final Counter failed;
    final Counter uncovered;
    final Counter unwritable;
    final Counter late;
    final Counter busy;
    final Counter broken;

    private final Map<String, Counter> byName = new LinkedHashMap<>();

    /** @param make the counter of a name */
    Counters(Function<String, Counter> make) {
        preliminaries = add("Preliminaries", make);
        confirmed = add("Confirmed", make);
        diverged = add("Diverged", make);
        failed = add("Failed", make);
        uncovered = add("Uncovered", make);
        unwritable = add("Unwritable", make);
        late = add("Late", make);
        busy = add("Busy", make);
        broken = add("Broken", make);
    }

    Map<String, Counter> byName() {
        return byName;
    }

    private Counter add(String name, Function<String, Counter> make) {
        Counter counter = make.apply(name);
        byName.put(name, counter);
        return counter;
    }
}
