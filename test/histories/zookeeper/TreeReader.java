import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/**
 * Prints a node and all below it, an object of JSON a line, as ZooKeeper's own client reads them after a sync: what is in
 * the ensemble in the end, by code that shares nothing with what is tested. Arguments: server, path.
 */
public final class TreeReader {
    private static final int SESSION_MS = 30_000;

    public static void main(String[] args) throws Exception {
        CountDownLatch connected = new CountDownLatch(1);
        Watcher watcher = event -> {
            if (event.getState() == Watcher.Event.KeeperState.SyncConnected) connected.countDown();
        };
        try (ZooKeeper zk = new ZooKeeper(args[0], SESSION_MS, watcher)) {
            connected.await();
            CountDownLatch synced = new CountDownLatch(1);
            zk.sync("/", (code, path, context) -> synced.countDown(), null);
            synced.await();
            print(zk, args[1]);
        }
    }

    private static void print(ZooKeeper zk, String path) throws Exception {
        Stat stat = new Stat();
        byte[] data;
        List<String> names;
        try {
            data = zk.getData(path, false, stat);
            names = new ArrayList<>(zk.getChildren(path, false));
        } catch (KeeperException.NoNodeException gone) {
            return;
        }
        String text = data == null ? "null" : '"' + Base64.getEncoder().encodeToString(data) + '"';
        System.out.printf("{\"path\":\"%s\",\"cversion\":%d,\"numChildren\":%d,\"data\":%s}%n", path,
            stat.getCversion(), stat.getNumChildren(), text);
        Collections.sort(names);
        for (String name : names) print(zk, (path.equals("/") ? "" : path) + "/" + name);
    }
}
