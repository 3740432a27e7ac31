/**
 * A consumer in a process of its own, to be killed: `queue-consumer-process.ts <servers> <root> <queue>` takes items for
 * ever and writes each into its output, a line an item, when it has it.
 */
import { writeSync } from 'node:fs';
import { zookeeper } from '../../../src/bindings/zookeeper/index.ts';
import { createClient } from '../../../src/index.ts';
import { dequeue } from '../../../src/operations/index.ts';

const [servers = '', root = '', queue = ''] = process.argv.slice(2);
const STDOUT = 1;

const client = createClient(zookeeper({ servers, root, sessionTimeoutMs: 1_000 }));
for (;;) {
  const found = await client.invoke(dequeue<string>(queue));
  if (found !== null) writeSync(STDOUT, `${found.item}\n`); // Written before anything else can happen.
}
