/** Files and messages of a deployment with one red log: nothing in them is of partitions. */
// @rule PART-G11
import { expect, test } from 'vitest';
import { READ_RED } from '../../../../../src/server/node/red-log/red-generation.ts';
import { restoreRedLog } from '../../../../../src/server/node/commands/restore-red-log.ts';
import { FollowerNode } from './follower-node.ts';

test('with one log, nothing that is written and sent is of partitions', async () => {
  const nodes: Record<string, FollowerNode> = {
    frankfurt: new FollowerNode(9),
    virginia: new FollowerNode(7),
  };
  for (const node of Object.values(nodes)) await node.follower.begin();
  const texts: string[] = [];
  const restore = () =>
    restoreRedLog({
      request: async (site, kind, body) => {
        const reply = await nodes[site]?.answer(kind, body);
        if (site === 'virginia')
          texts.push(
            `${kind} ${JSON.stringify(body)} → ${JSON.stringify(reply)}, ${JSON.stringify(nodes[site]?.stored)}`,
          );
        return structuredClone(reply);
      },
      sites: ['frankfurt', 'virginia'],
      voters: [['frankfurt', 'virginia']],
      leader: undefined,
    });
  const restored = [JSON.stringify(await restore()), JSON.stringify(await restore())];
  expect(restored).toEqual([
    '{"generation":1,"leader":"frankfurt","length":9,"losing":[],"late":[]}',
    '{"generation":2,"leader":"frankfurt","length":9,"losing":[],"late":[]}',
  ]);
  expect(texts).toEqual([
    'red.read {"isCopyAsked":true} → {"generation":0,"leader":"ireland","isTransferring":false}, {"generation":0,"leader":"ireland"}',
    'red.seal {"generation":1,"leader":null} → {"generation":1,"leader":null,"length":7,"copy":0}, {"generation":1,"leader":null,"copy":0}',
    'red.open {"generation":1,"leader":"frankfurt","base":{"copy":0,"length":9}} → {"generation":1,"leader":"frankfurt","base":{"copy":0,"length":9}}, {"generation":1,"leader":"frankfurt","base":{"copy":0,"length":9},"copy":1}',
    'red.read {"isCopyAsked":true} → {"generation":1,"leader":"frankfurt","base":{"copy":0,"length":9},"isTransferring":false}, {"generation":1,"leader":"frankfurt","base":{"copy":0,"length":9},"copy":1}',
    'red.seal {"generation":2,"leader":null} → {"generation":2,"leader":null,"length":7,"copy":1,"begin":{"copy":0,"length":9}}, {"generation":2,"leader":null,"copy":1,"begins":[{"copy":0,"length":9}]}',
    'red.open {"generation":2,"leader":"frankfurt","base":{"copy":0,"length":9}} → {"generation":2,"leader":"frankfurt","base":{"copy":0,"length":9}}, {"generation":2,"leader":"frankfurt","base":{"copy":0,"length":9},"copy":2}',
  ]);
  const { virginia } = nodes as Record<'virginia', FollowerNode>;
  virginia.isTransferring = true;
  expect(JSON.stringify(await virginia.answer(READ_RED, { isCopyAsked: true }))).toBe(
    '{"generation":2,"leader":"frankfurt","base":{"copy":0,"length":9},"isTransferring":true,"own":{"copy":2,"length":7,"begin":{"copy":0,"length":9}}}',
  );
});
