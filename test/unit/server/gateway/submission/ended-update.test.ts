/** Updates that have ended, asked for again by a client that has moved meanwhile. */
import { expect, test } from 'vitest';
import { EndedUpdate } from '../../../../../src/server/gateway/submission/ended-update.ts';
import type { KeptReply } from '../../../../../src/server/gateway/submission/kept-reply.ts';

const HOP = 2;

test.each<[string, KeptReply | undefined, boolean]>([
  ['with a view', { row: '[7,"view",1,0,"v"]', isFailure: false }, false],
  ['with a view of a fixed size', { value: null, level: 1, seq: 0 }, false],
  // It may be that nothing was done here, and something elsewhere.
  ['with a failure', { row: '[7,"fail","UNAVAILABLE","no quorum"]', isFailure: true }, true],
  ['with a view that is not kept', undefined, true],
])('ended %s → superseded by one that has moved since: %s', (_, reply, expected) => {
  const ended = new EndedUpdate(7, HOP, reply);
  expect([HOP - 1, HOP, HOP + 1].map((hop) => ended.isSuperseded(hop))).toEqual([false, false, expected]);
});
