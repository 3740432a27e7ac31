/** Whom a first start asks, and what it does with the answers. */
import { expect, test } from 'vitest';
import {
  waitUntilUnknown,
  type IdentifyReply,
} from '../../../../../src/server/node/cluster/first-start.ts';

const UNKNOWN: IdentifyReply = { isKnown: false, founders: null };

function start(answers: Readonly<Record<string, () => IdentifyReply>>) {
  const waits: string[] = [];
  const aborted = new AbortController();
  const done = waitUntilUnknown({
    site: 'a',
    dataDir: 'data',
    founders: ['a', 'b', 'c'],
    service: 'v1',
    links: {
      peers: Object.keys(answers),
      request: async (peer) => (answers[peer] as () => IdentifyReply)(),
    },
    onWaiting: (sites) => waits.push(sites.join(' ')),
    signal: aborted.signal,
    retryMs: 1,
  });
  return { done, waits, aborted };
}

test('all others do not know it → begins', async () => {
  const { done, waits } = start({
    b: () => UNKNOWN,
    c: () => ({ isKnown: false, founders: ['a', 'b', 'c'] }),
  });
  await done;
  expect(waits).toEqual([]);
});

test('one site cannot be reached → waits for it, and reports it once', async () => {
  let asked = 0;
  const later = (): IdentifyReply => {
    if ((asked += 1) < 5) throw new Error('down');
    return UNKNOWN;
  };
  const { done, waits } = start({ b: () => UNKNOWN, c: later });
  await done;
  expect(waits).toEqual(['c']);
});

test('one knows it → is refused, with what to do', async () => {
  const { done } = start({
    b: () => UNKNOWN,
    c: () => ({ isKnown: true, founders: ['a', 'b', 'c'] }),
  });
  await expect(done).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    field: 'dataDir',
    retryable: false,
  });
  await expect(done).rejects.toThrow(/c knows the site a already.*start it with --rebuild/);
});

test('a deployment that was created with other sites → is refused', async () => {
  const { done } = start({ b: () => ({ isKnown: false, founders: ['b', 'c'] }), c: () => UNKNOWN });
  await expect(done).rejects.toThrow('created with the sites b, c, not with a, b, c');
});

test('a site with another version of the service → is refused', async () => {
  const { done } = start({
    b: () => ({ ...UNKNOWN, service: 'v1' }),
    c: () => ({ ...UNKNOWN, service: 'v2' }),
  });
  await expect(done).rejects.toThrow('c has another version of the service');
});

test('the waiting can be ended', async () => {
  const down = (): IdentifyReply => {
    throw new Error('down');
  };
  const { done, aborted } = start({ b: down });
  aborted.abort(new Error('enough'));
  await expect(done).rejects.toThrow('enough');
});
