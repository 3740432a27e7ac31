package org.apache.zookeeper.server.quorum;

import java.io.IOException;
import java.util.Locale;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.common.Time;
import org.apache.zookeeper.proto.CreateRequest;
import org.apache.zookeeper.proto.CreateResponse;
import org.apache.zookeeper.proto.ReplyHeader;
import org.apache.zookeeper.server.DataNode;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.RequestProcessor;
import org.apache.zookeeper.server.ZKDatabase;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stands before all other processors of a server and answers a sequential create at once with the name that the node should
 * get, from the server's own state (Correctables, OSDI 2016, §5.2). The reply of the create follows as ever.
 *
 * <p>Protocol: a client asks for it by bit 30 of the request's number; the preliminary reply has bit 31 set as well, which
 * makes its number negative: the server's count of unanswered requests leaves such replies out. Servers without this class
 * send the number back as it came.
 */
final class PreliminaryReplies implements RequestProcessor {

    static final int WANTED = 1 << 30;
    static final int PRELIMINARY = 1 << 31;

    private static final Logger LOG = LoggerFactory.getLogger(PreliminaryReplies.class);

    private final ZooKeeperServer server;
    private final InFlightCreates inFlight;
    private final RequestProcessor next;

    PreliminaryReplies(ZooKeeperServer server, InFlightCreates inFlight, RequestProcessor next) {
        this.server = server;
        this.inFlight = inFlight;
        this.next = next;
    }

    @Override
    public void processRequest(Request request) throws RequestProcessorException {
        if (isCreate(request.type)) {
            try {
                reply(request);
            } catch (IOException | RuntimeException error) {
                // A request that cannot be read is for the processors behind to refuse.
                LOG.debug("no preliminary reply", error);
            }
        }
        next.processRequest(request);
    }

    @Override
    public void shutdown() {
        next.shutdown();
    }

    static boolean isCreate(int type) {
        return type == ZooDefs.OpCode.create || type == ZooDefs.OpCode.create2;
    }

    static boolean isWanted(int xid) {
        return xid > 0 && (xid & WANTED) != 0;
    }

    static String parentOf(String path) {
        int slash = path.lastIndexOf('/');
        return slash <= 0 ? "/" : path.substring(0, slash);
    }

    static String nameOf(String path, int number) {
        return path + String.format(Locale.ENGLISH, "%010d", number);
    }

    private void reply(Request request) throws IOException {
        CreateRequest create = request.readRequestRecord(CreateRequest::new);
        CreateMode mode = CreateMode.fromFlag(create.getFlags(), CreateMode.PERSISTENT);
        if (!mode.isSequential()) {
            return;
        }
        String parent = parentOf(create.getPath());
        ZKDatabase database = server.getZKDatabase();
        DataNode node = database.getNode(parent);
        if (node == null || !isAllowed(request, create, node)) {
            return;
        }
        int number;
        // As one with the application of a create: it is counted once, as applied or as under way.
        synchronized (inFlight) {
            int applied;
            synchronized (node) {
                applied = node.stat.getCversion();
            }
            number = applied + inFlight.begin(parent, request.sessionId, request.cxid, Time.currentElapsedTime());
        }
        if (isWanted(request.cxid) && request.cnxn != null) {
            ReplyHeader header =
                new ReplyHeader(request.cxid | PRELIMINARY, database.getDataTreeLastProcessedZxid(), 0);
            request.cnxn.sendResponse(header, new CreateResponse(nameOf(create.getPath(), number)), "response");
        }
    }

    /** A client that may not make the node, or may not look at its parent, gets no early reply. */
    private boolean isAllowed(Request request, CreateRequest create, DataNode node) {
        int[] permissions = {ZooDefs.Perms.CREATE, ZooDefs.Perms.READ};
        for (int permission : permissions) {
            try {
                server.checkACL(
                    request.cnxn,
                    server.getZKDatabase().aclForNode(node),
                    permission,
                    request.authInfo,
                    create.getPath(),
                    null);
            } catch (KeeperException.NoAuthException refused) {
                return false;
            }
        }
        return true;
    }
}
