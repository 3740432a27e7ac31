/**
 * Loaded into each node before anything else: after a full collection, reports to each client of a
 * socket what the thread that serves holds.
 */
import { readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import v8 from 'node:v8';
import vm from 'node:vm';
import { isMainThread } from 'node:worker_threads';

const { SOAK_FOLDER: folder } = process.env;
const at = process.argv.indexOf('--site');

// The command serves in a thread of its own.
if (!isMainThread && folder !== undefined && at > 0) {
  v8.setFlagsFromString('--expose-gc');
  const collect = vm.runInNewContext('gc');
  createServer((socket) => {
    collect();
    const { heapUsed, external, rss } = process.memoryUsage();
    const files = readdirSync('/proc/self/fd').length;
    socket.on('error', () => {});
    socket.end(JSON.stringify({ heapUsed, external, rss, files }));
  })
    .listen(join(folder, `${process.argv[at + 1]}.sock`))
    .unref();
}
