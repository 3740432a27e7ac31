/**
 * What docs/operate/tls.md explains of Node, which its own program cannot show: an authority from
 * outside the program.
 */
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { memory } from '../../src/bindings/memory/index.ts';
import { createGateway, listenGateways } from '../../src/server/index.ts';
import { TLS_CERT, TLS_KEY } from '../unit/research/cassandra-icg/test-certificate.ts';
import { output } from './bundle.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

test('NODE_EXTRA_CA_CERTS → a client without options trusts that authority; without it, it does not', async () => {
  const folder = temporaryFolder();
  const authority = join(folder, 'ca.pem');
  await writeFile(authority, TLS_CERT);
  const server = createServer({ key: TLS_KEY, cert: TLS_CERT });
  const gateways = await listenGateways({
    server,
    sites: { ireland: createGateway({ binding: memory() }) },
  });
  onTestFinished(async () => {
    await gateways.close();
    server.close();
  });
  const client = `
    import { createClient } from 'correctables';
    import { remote } from 'correctables/bindings/remote';
    import { put } from 'correctables/operations';
    const store = createClient(remote({ url: '${gateways.siteUrl('ireland')}', levels: ['weak', 'strong'] }));
    const put1 = store.invoke(put('k', 1), { timeoutMs: 2_000 });
    console.log(await put1.then(() => 'done', (error) => error.code));
    await store.close();`;
  const environments = [{ ...process.env, NODE_EXTRA_CA_CERTS: authority }, process.env];
  // Side by side: the second waits for its time to be over.
  const reported = await Promise.all(environments.map((env) => output(client, 'client.ts', env)));
  expect(reported).toEqual(['done\n', 'UNAVAILABLE\n']);
});
