package org.correctables.cassandra;

import java.lang.reflect.Field;
import java.util.List;
import java.util.function.Function;
import org.apache.cassandra.db.virtual.VirtualKeyspaceRegistry;
import org.apache.cassandra.metrics.CassandraMetricsRegistry;
import org.apache.cassandra.metrics.DefaultNameFactory;
import org.apache.cassandra.net.MessagingService;
import org.apache.cassandra.transport.FlushQueue;
import org.apache.cassandra.transport.Message;
import org.apache.cassandra.transport.messages.ExecuteMessage;
import org.apache.cassandra.transport.messages.QueryMessage;
import org.apache.cassandra.utils.FBUtilities;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Puts the plugin into a server that is starting, or says why it stays out. */
final class Installation {

    private static final String VERSION = "1";

    /** What it was tested with; it is built with the last of them. */
    private static final List<String> KNOWN = List.of("5.0.7", "5.0.8", "5.0.9");

    private static final Logger LOG = LoggerFactory.getLogger(Installation.class);

    private Installation() {
    }

    /** @throws IllegalArgumentException for delays that make no sense; the server does not start then */
    static void install(RemoteData remoteData) {
        String cassandra = FBUtilities.getReleaseVersionString();
        if (!isKnown(cassandra)) {
            LOG.warn(
                "Correctable Cassandra {} stays off: it is for Cassandra {}, this is {}. The server is plain Cassandra.",
                VERSION, KNOWN, cassandra);
            return;
        }
        Delays delays = Delays.of(System.getProperty(Delays.PROPERTY, ""));
        try {
            prepare();
        } catch (Throwable error) {
            LOG.warn("Correctable Cassandra {} stays off. The server is plain Cassandra.", VERSION, error);
            return;
        }
        MessagingService.instance().inboundSink.add(remoteData);
        if (!delays.isEmpty()) {
            MessagingService.instance().inboundSink.add(delays);
            LOG.info("Messages of other nodes are delayed: {}", delays);
        }
        LOG.info("Correctable Cassandra {} is on (Cassandra {})", VERSION, cassandra);
    }

    /** The classes that the plugin rests on changed even from 5.0.8 to 5.0.9, so that no range is worth anything. */
    static boolean isKnown(String cassandra) {
        return KNOWN.contains(cassandra);
    }

    /** All that can fail, what is looked up before what is changed. */
    private static void prepare() throws ReflectiveOperationException {
        Class.forName(CopiedSelect.class.getName());
        Class.forName(FlushQueue.class.getName());
        Field codec = Message.Type.class.getDeclaredField("codec");
        codec.setAccessible(true);
        DefaultNameFactory names = new DefaultNameFactory("Correctables");
        Counters counters = new Counters(name -> CassandraMetricsRegistry.Metrics.counter(names.createMetricName(name)));
        VirtualKeyspaceRegistry.instance.register(CountersTable.keyspace(counters));
        replace(codec, Message.Type.SUPPORTED, SupportedOption::new);
        Installation.<ExecuteMessage>replace(
            codec, Message.Type.EXECUTE, plain -> CorrectableExecute.codec(plain, counters));
        Installation.<QueryMessage>replace(
            codec, Message.Type.QUERY, plain -> CorrectableQuery.codec(plain, counters));
    }

    /** The field is final and an instance's: the language lets reflection set it, and no compiler folds it. */
    @SuppressWarnings("unchecked")
    private static <M extends Message> void replace(
        Field codec, Message.Type type, Function<Message.Codec<M>, Message.Codec<M>> change)
        throws IllegalAccessException {
        codec.set(type, change.apply((Message.Codec<M>) type.codec));
    }
}
