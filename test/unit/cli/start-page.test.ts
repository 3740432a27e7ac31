/** The start page of `correctables serve`. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { createStartPage } from '../../../src/cli/start-page.ts';

test('start page: / → the contract, with a policy that lets its own script and style run; other paths → 404', async () => {
  const contract = {
    name: 'shop <1>',
    operations: { buy: { access: 'write' }, look: { access: 'read' } },
  } as const;
  const server = createServer(createStartPage({ contract }, ['ireland'])).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const answer = await fetch(`${address}/?x`);
  const page = await answer.text();
  expect(answer.status).toBe(200);
  expect(page).toContain('<h1>shop &lt;1&gt;</h1>');
  expect(page).toContain('<li>buy: write</li><li>look: read</li>');
  const policy = answer.headers.get('content-security-policy') ?? '';
  for (const tag of ['script', 'style']) {
    const content = new RegExp(`<${tag}>([^]*)</${tag}>`).exec(page)?.[1] ?? '';
    expect(policy).toContain(
      `${tag}-src 'sha256-${createHash('sha256').update(content).digest('base64')}'`,
    );
  }
  expect((await fetch(`${address}/other`)).status).toBe(404);
  expect((await fetch(`${address}/`, { method: 'POST' })).status).toBe(404);
  server.close();
  server.closeAllConnections();
});
