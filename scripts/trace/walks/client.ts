/** The client of a server walk: it executes one operation for each message. */
import { createClient } from 'correctables';
import { redblue } from 'correctables/bindings/redblue';
import { WebSocket } from 'ws';
import { contract } from './service.ts';
import type { ServedOperation } from './server.ts';

const [url, operation] = process.argv.slice(2) as [string, ServedOperation];
const binding = redblue(contract, { url, WebSocket });
await binding.ready;
const client = createClient(binding);
let count = 0;

process.on('message', () => void run());
process.on('disconnect', () => void client.close());
process.send?.('ready');

async function run(): Promise<void> {
  count += 1;
  const account = `account ${count % 5}`;
  if (operation === 'renameAccount')
    await client.invoke(contract.renameAccount({ account, name: `name ${count}` }));
  else await client.invoke(contract.withdrawCents({ account, cents: 1 }));
  process.send?.('done');
}
