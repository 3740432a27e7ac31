/** What waits for a decision, or for a client that was slow. */
import { expect, test } from 'vitest';
import { RawClient, startGateway } from '../../../../support/wire.ts';

test('a client sends much and reads no replies → reading pauses; once it reads, all its requests get replies', async () => {
  await using server = await startGateway({ bounds: { maxSendBufferBytes: 1 << 18 } });
  server.store.answer = ({ sink }) => sink.view('x'.repeat(100_000), 'strong');
  await using client = await RawClient.greeted(server.url);
  client.send([1, 'submit', 'put', 'write', 2, null]);
  await client.row();
  client.socket.pause();
  const repetitions = 150;
  for (let n = 0; n < repetitions; n++)
    client.send([1, 'submit', 'put', 'write', 2, 'y'.repeat(100_000)]);
  // Served after all of that has been read, as far as it is read at all.
  for (let n = 0; n < 30; n++) {
    await using _other = await RawClient.greeted(server.url, {
      client: 'b'.repeat(32),
      attempt: n + 1,
    });
  }
  expect(client.socket.bufferedAmount).toBeGreaterThan(0);
  client.socket.resume();
  for (let n = 0; n < repetitions; n++)
    expect((await client.row()).slice(0, 2)).toEqual([1, 'view']);
  expect(client.socket.bufferedAmount).toBe(0);
}, 20_000);
