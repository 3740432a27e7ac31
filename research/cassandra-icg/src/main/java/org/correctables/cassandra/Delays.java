package org.correctables.cassandra;

import com.google.common.net.InetAddresses;
import java.net.InetAddress;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.apache.cassandra.concurrent.ExecutorLocals;
import org.apache.cassandra.net.Message;
import org.apache.cassandra.net.MessagingService;

/**
 * Delivers the messages of some nodes later, to have the distances of a WAN on one machine: a filter of incoming messages
 * that takes each out and puts it back after the one-way time of its sender.
 */
final class Delays implements Predicate<Message<?>> {

    static final String PROPERTY = "correctables.delay";

    private static final double MICROS_PER_MS = 1_000;

    private final Map<InetAddress, Long> microsBySender;
    private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, Delays::daemon);
    private final ThreadLocal<Message<?>> delivered = new ThreadLocal<>();

    private Delays(Map<InetAddress, Long> microsBySender) {
        this.microsBySender = microsBySender;
    }

    /**
     * @param text {@code address:oneWayMs,…}; empty for none
     * @throws IllegalArgumentException for anything else
     */
    static Delays of(String text) {
        Map<InetAddress, Long> micros = new LinkedHashMap<>();
        for (String entry : text.isBlank() ? new String[0] : text.split(",", -1)) {
            int colon = entry.lastIndexOf(':');
            try {
                double ms = Double.parseDouble(entry.substring(colon + 1));
                if (!(ms >= 0 && ms < TimeUnit.MINUTES.toMillis(1))) {
                    throw new IllegalArgumentException("not between 0 and a minute");
                }
                micros.put(InetAddresses.forString(entry.substring(0, colon).trim()), Math.round(ms * MICROS_PER_MS));
            } catch (IllegalArgumentException | StringIndexOutOfBoundsException error) {
                String form = "-D%s takes address:oneWayMs,… such as 127.0.0.2:10,127.0.0.3:45.5, not \"%s\"";
                throw new IllegalArgumentException(String.format(form, PROPERTY, entry), error);
            }
        }
        return new Delays(micros);
    }

    boolean isEmpty() {
        return microsBySender.isEmpty();
    }

    long micros(InetAddress sender) {
        return microsBySender.getOrDefault(sender, 0L);
    }

    @Override
    public boolean test(Message<?> message) {
        long micros = message == delivered.get() ? 0 : micros(message.from().getAddress());
        if (micros == 0) {
            return true;
        }
        ExecutorLocals locals = ExecutorLocals.current();
        Runnable delivery = () -> deliver(message);
        timer.schedule(
            () -> message.verb().stage.execute(locals, delivery), micros, TimeUnit.MICROSECONDS);
        return false;
    }

    @Override
    public String toString() {
        return microsBySender + " (µs)";
    }

    /** Through all filters once more, so that those behind this one see it too. */
    private void deliver(Message<?> message) {
        delivered.set(message);
        try {
            MessagingService.instance().inboundSink.accept(message);
        } finally {
            delivered.remove();
        }
    }

    private static Thread daemon(Runnable work) {
        Thread thread = new Thread(work, "correctables-delays");
        thread.setDaemon(true);
        return thread;
    }
}
