/** Reads that were given up while their answers were still to come. */
import { expect, test } from 'vitest';
import { answer, open, VIEWS } from './reads.ts';
import { ScriptedNode } from './scripted-node.ts';

test('given up before its preliminary view comes → its number is not given to others before the final one', async () => {
  const retained: number[] = [];
  await using node = await ScriptedNode.start({ onExecute: answer });
  await using opened = await open(node.address, { settings: { requestTimeoutMs: 200 } });
  await opened.read().over;
  node.onExecute = ({ stream }) => retained.push(stream);
  expect(await opened.read().over).toEqual(['fail TIMEOUT']);
  const [late] = retained.splice(0) as [number];
  node.peers[0]!.rows(late, ['late'], { icg: 1 });
  // Answers come in order: after the next read the late view has been taken.
  node.onExecute = answer;
  expect(await opened.read().over).toEqual(VIEWS);
  node.onExecute = ({ stream }) => retained.push(stream);
  opened.read();
  opened.read();
  await node.until(() => retained.length === 2);
  expect(retained).not.toContain(late);
});

test('given up and answered late, more often than a connection bears without answers → it stays', async () => {
  await using node = await ScriptedNode.start({ onExecute: answer });
  await using opened = await open(node.address, { settings: { requestTimeoutMs: 150 } });
  await opened.read().over;
  for (let round = 0; round < 3; round += 1) {
    const retained: number[] = [];
    node.onExecute = ({ stream }) => retained.push(stream);
    const reads = Array.from({ length: 100 }, () => opened.read().over);
    await Promise.all(reads);
    await node.until(() => retained.length === 100);
    for (const stream of retained) {
      node.peers[0]!.rows(stream, ['a'], { icg: 1 });
      node.peers[0]!.confirm(stream);
    }
    node.onExecute = answer;
    expect(await opened.read().over).toEqual(VIEWS);
  }
  expect(node.peers.length).toBe(1);
});
