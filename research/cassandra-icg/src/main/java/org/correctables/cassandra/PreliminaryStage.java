package org.correctables.cassandra;

import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.cassandra.utils.FBUtilities;

/**
 * Threads that evaluate preliminaries of data which another thread brought. That one has more to do: the few of the stage
 * REQUEST_RESPONSE count each acknowledgement that this node waits for, those of READ hold back writes to disk.
 */
final class PreliminaryStage implements Executor {

    static final PreliminaryStage INSTANCE = new PreliminaryStage(FBUtilities.getAvailableProcessors(), 1024);

    private static final long IDLE_SECONDS = 60;

    private final ThreadPoolExecutor threads;

    PreliminaryStage(int threadsMax, int waitingMax) {
        threads = new ThreadPoolExecutor(
            threadsMax,
            threadsMax,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(waitingMax),
            new DefaultThreadFactory("correctables-preliminary", true));
        threads.allowCoreThreadTimeOut(true);
    }

    /** @throws RejectedExecutionException where too many wait: their finals are there before their turn comes */
    @Override
    public void execute(Runnable evaluation) {
        threads.execute(evaluation);
    }
}
