package org.correctables.cassandra;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.apache.cassandra.cql3.ResultSet;
import org.apache.cassandra.transport.Message;
import org.apache.cassandra.transport.messages.ResultMessage;
import org.apache.cassandra.utils.JVMStabilityInspector;
import org.apache.cassandra.utils.NoSpamLogger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import static java.util.concurrent.TimeUnit.MINUTES;

/**
 * One request that asked: at most one preliminary answer, and never after the final (Correctables, OSDI 2016, §5.2).
 *
 * <p>The preliminary may come from another thread than the final. The final waits for nothing but the sending of rows that
 * have been made: those that are still being made are too late.
 */
final class Exchange {

    private static final Logger LOG = LoggerFactory.getLogger(Exchange.class);

    private final Asking asking;
    private final Client client;
    private final Counters counters;
    private final AtomicBoolean offered = new AtomicBoolean();
    /** Makes the preliminary's rows; null while a thread makes them, and when they are not wanted. */
    private Supplier<ResultMessage.Rows> read;
    private ResultSet preliminary;
    private boolean concluded;

    /** Where answers go. */
    interface Client {

        /** Whether it takes another frame without that one having to be kept until it reads. */
        boolean isWritable();

        /** Sends the frame before all that is sent after it. */
        void send(ResultMessage.Rows rows, Asking asking);
    }

    Exchange(Asking asking, Client client, Counters counters) {
        this.asking = asking;
        this.client = client;
        this.counters = counters;
    }

    /** Whether a preliminary would still be taken. */
    boolean isOpen() {
        return !offered.get();
    }

    /** The request is not covered: it gets a normal answer. */
    void decline() {
        if (offered.compareAndSet(false, true)) {
            counters.uncovered.inc();
        }
    }

    /**
     * Sends the answer of the first replica, unless another one was first. Never throws, so the read always goes on.
     *
     * @param read makes the rows; returns null to decline
     * @param evaluator makes them: the caller itself only where it has nothing else to do
     */
    void offer(Supplier<ResultMessage.Rows> read, Executor evaluator) {
        if (!offered.compareAndSet(false, true)) {
            return;
        }
        if (!client.isWritable()) {
            counters.unwritable.inc();
            return;
        }
        keep(read);
        try {
            evaluator.execute(this::evaluate);
        } catch (RejectedExecutionException tooMany) {
            take();
            counters.busy.inc();
        }
    }

    private void evaluate() {
        try {
            Supplier<ResultMessage.Rows> mine = take();
            if (mine == null) {
                counters.late.inc();
                return;
            }
            ResultMessage.Rows rows = mine.get();
            if (rows == null) {
                counters.uncovered.inc();
            } else {
                send(rows);
            }
        } catch (Throwable error) {
            JVMStabilityInspector.inspectThrowable(error);
            failed(error);
        }
    }

    /** After the final the table may be gone, for example: nothing is broken then. */
    private synchronized void failed(Throwable error) {
        if (concluded) {
            counters.late.inc();
            return;
        }
        counters.broken.inc();
        NoSpamLogger.log(LOG, NoSpamLogger.Level.WARN, 1, MINUTES, "A preliminary answer failed", error);
    }

    private synchronized void keep(Supplier<ResultMessage.Rows> read) {
        if (!concluded) {
            this.read = read;
        }
    }

    private synchronized Supplier<ResultMessage.Rows> take() {
        Supplier<ResultMessage.Rows> mine = read;
        read = null;
        return mine;
    }

    private synchronized void send(ResultMessage.Rows rows) {
        if (concluded) {
            counters.late.inc();
            return;
        }
        client.send(Answer.PRELIMINARY.mark(rows), asking);
        counters.preliminaries.inc();
        preliminary = rows.result;
    }

    /** What to send as the final answer, given the one that the server would send. */
    synchronized Message.Response conclude(Message.Response answer) {
        concluded = true;
        // What waits for its turn keeps no replica's data until then.
        read = null;
        if (preliminary == null) {
            return answer;
        }
        if (!(answer instanceof ResultMessage.Rows)) {
            counters.failed.inc();
            return answer;
        }
        if (!Results.areEqual(preliminary, ((ResultMessage.Rows) answer).result)) {
            counters.diverged.inc();
            return Answer.DIFFERS.mark(answer);
        }
        counters.confirmed.inc();
        return asking.confirm ? Answer.CONFIRMATION.mark(new ResultMessage.Void()) : Answer.EQUALS.mark(answer);
    }
}
