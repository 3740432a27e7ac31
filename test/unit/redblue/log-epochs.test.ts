/** Proposals of a site from before its restart: the red log takes none of them after the first of the new epoch. */
import { expect, test } from 'vitest';
import { SequencedLog } from '../../../src/server/log/sequenced-log.ts';

/** Syncs what the log stores, and gives what it delivers. */
function deliveredBy(log: SequencedLog<string>): string[] {
  const stored = log.takeOutputs().flatMap((output) => (output.kind === 'store' ? output.entries : []));
  log.onSynced(stored.length);
  return log.takeOutputs().flatMap((output) => (output.kind === 'deliver' ? output.records : []));
}

test('leader: proposals of epoch 1 after one of epoch 2 → ignored, and epoch 2 goes on', () => {
  const leader = new SequencedLog<string>({
    site: 0,
    siteCount: 1,
    leader: 0,
    epoch: 1,
    entries: [],
    resendAfterMs: 10,
  });
  const propose = (epoch: number, sequence: number, record: string): void =>
    leader.receive(1, { kind: 'log.propose', epoch, sequence, record }, 0);
  propose(1, 1, 'before');
  propose(2, 1, 'after');
  propose(1, 1, 'before, again');
  propose(1, 2, 'before, late');
  propose(2, 2, 'next');
  expect(deliveredBy(leader)).toEqual(['before', 'after', 'next']);
});
