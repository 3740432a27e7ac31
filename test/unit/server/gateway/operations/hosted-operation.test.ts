/** Views of the hosted binding as rows. */
// @rule RB-V8
import { describe, expect, test } from 'vitest';
import { CorrectableError } from '../../../../../src/correctable/errors.ts';
import type { EncodedMessage, Span } from '../../../../../src/protocol/codec/codec.ts';
import { msgpackCodec } from '../../../../../src/protocol/codec/msgpack-codec.ts';
import { OutletDouble, start } from './submission-doubles.ts';

describe('submission', () => {
  test('same value at a stronger level → confirm of the first view, which ends it', () => {
    const { submission, outlet } = start();
    submission.view({ a: 1 }, 'tentative');
    submission.view({ a: 1 }, 'causal');
    submission.view({ a: 1 }, 'strong');
    expect(outlet.rows).toEqual([
      [7, 'view', 0, 0, { a: 1 }],
      [7, 'confirm', 1, 0],
      [7, 'confirm', 2, 0],
    ]);
    expect(outlet.ends).toBe(1);
  });

  test.each([
    ['a version', { version: 3 }, [3]],
    ['metadata', { meta: { remaining: 5 } }, [null, { remaining: 5 }]],
    ['both', { version: 3, meta: { remaining: 5 } }, [3, { remaining: 5 }]],
  ])(
    'view with %s → sent with all of it, whether more views may follow or not',
    (_what, details, tail) => {
      const { submission, outlet } = start();
      submission.view('a', 'tentative', details);
      submission.view('b', 'causal', { ...details, final: true });
      expect(outlet.rows).toEqual([
        [7, 'view', 0, 0, 'a', ...tail],
        [7, 'final', 1, 1, 'b', ...tail],
      ]);
    },
  );

  test('same value, but a detail of the first view is gone → sent in full: a confirmation would keep it', () => {
    const { submission, outlet } = start();
    submission.view('v', 'tentative', { meta: { remaining: 5 } });
    submission.view('v', 'strong');
    expect(outlet.rows[1]).toEqual([7, 'view', 2, 1, 'v']);
  });

  test('same value, more metadata → confirmed, with all of it', () => {
    const { submission, outlet } = start();
    submission.view('v', 'tentative', { meta: { remaining: 5 } });
    submission.view('v', 'strong', { meta: { remaining: 3, from: 'disk' } });
    expect(outlet.rows[1]).toEqual([7, 'confirm', 2, 0, null, { remaining: 3, from: 'disk' }]);
  });

  test.each([
    ['version', { version: 1 }, { version: null }],
    ['metadata', { meta: { a: 1 } }, { meta: null }],
    ['key', { meta: { a: 1 } }, { meta: { a: undefined } }],
  ] as const)(
    'same value, %s given as nothing → sent in full: a row leaves it out',
    (_, first, second) => {
      const { submission, outlet } = start();
      submission.view('v', 'tentative', first);
      submission.view('v', 'strong', second as object);
      expect(outlet.rows[1]?.[1]).toBe('view');
    },
  );

  test('the store adds to a view as it confirms it → the client must not keep that for what is confirmed later', () => {
    const { submission, outlet } = start();
    const seq = submission.view('v', 'tentative');
    submission.confirm('causal', seq, { meta: { checked: true } });
    submission.view('v', 'strong');
    expect(outlet.rows.map(([, kind]) => kind)).toEqual(['view', 'confirm', 'view']);
  });

  test('a later view adds to an earlier one → the store confirms that without it: sent in full', () => {
    const { submission, outlet } = start();
    const seq = submission.view('v', 'tentative');
    submission.view('v', 'causal', { meta: { checked: true } });
    submission.confirm('strong', seq);
    expect(outlet.rows).toEqual([
      [7, 'view', 0, 0, 'v'],
      [7, 'confirm', 1, 0, null, { checked: true }],
      [7, 'view', 2, 0, 'v'],
    ]);
  });

  test('a store confirms a view that was sent as a confirmation → the client gets the number that it knows', () => {
    const { submission, outlet } = start();
    submission.view('v', 'tentative');
    const second = submission.view('v', 'causal', { meta: { a: 1 } });
    submission.confirm('strong', second, { version: 2 });
    expect(outlet.rows).toEqual([
      [7, 'view', 0, 0, 'v'],
      [7, 'confirm', 1, 0, null, { a: 1 }],
      [7, 'confirm', 2, 0, 2, { a: 1 }],
    ]);
  });

  test('0 and -0, undefined and null → undefined is no null', () => {
    const { submission, outlet } = start();
    submission.view(undefined, 'tentative');
    submission.view(null, 'strong');
    expect(outlet.rows.map(([, kind]) => kind)).toEqual(['view', 'view']);
  });

  test('the store confirms → confirm; a view it never gave → PROTOCOL', () => {
    const { submission, outlet } = start();
    const seq = submission.view('v', 'tentative');
    submission.confirm('causal', seq, { version: 9 });
    submission.confirm('strong', 5);
    expect(outlet.rows.slice(1, 2)).toEqual([[7, 'confirm', 1, 0, 9]]);
    expect(outlet.rows[2]?.slice(0, 3)).toEqual([7, 'fail', 'PROTOCOL']);
  });

  test('view at a level stronger than requested → ends it', () => {
    const { submission, outlet } = start(1);
    submission.view('v', 'strong');
    expect(outlet.ends).toBe(1);
  });

  test('a view that the store calls final, below what was asked for → final, in full, which ends it', () => {
    for (const value of [null, { a: 1 }]) {
      const { submission, outlet } = start();
      submission.view(value, 'tentative');
      submission.view(value, 'causal', { final: true });
      expect(outlet.rows[1]).toEqual([7, 'final', 1, 1, value]);
      expect(outlet.ends).toBe(1);
    }
  });

  test('it confirms a view and calls that final, below what was asked for → final, in full', () => {
    const { submission, outlet } = start();
    submission.confirm('causal', submission.view('v', 'tentative'), { final: true });
    expect(outlet.rows[1]).toEqual([7, 'final', 1, 0, 'v']);
    expect(outlet.ends).toBe(1);
  });

  test.each([
    ['the final', 2, 'strong'],
    ['a weaker level', 0, 'tentative'],
  ] as const)(
    'a domain error of %s larger than a view may be → INVALID_VALUE, with its size',
    (_what, level, name) => {
      const { submission, outlet } = start();
      const domain = { name: 'taken', data: { by: 'x'.repeat(2_000) } };
      submission.fail(new CorrectableError('DOMAIN', 'reserve: taken', { domain }), name);
      expect(outlet.rows).toEqual([
        [
          7,
          'fail',
          'INVALID_VALUE',
          expect.stringMatching(/reserve: taken.*2\d\d\d bytes.*1000/),
          level === 2 ? null : level,
          { retryable: false, field: 'domain.data' },
        ],
      ]);
    },
  );

  test('a domain error → its name and data travel; data that cannot → FINAL_FAILED', () => {
    const [reported, odd] = [start(), start()];
    const rejection = (data: unknown): CorrectableError =>
      new CorrectableError('DOMAIN', 'withdraw: notEnough', {
        domain: { name: 'notEnough', data },
      });
    reported.submission.fail(rejection({ left: 3 }));
    odd.submission.fail(rejection(new Map()));
    const details = { retryable: false, domain: { name: 'notEnough', data: { left: 3 } } };
    expect(reported.outlet.rows).toEqual([
      [7, 'fail', 'DOMAIN', 'withdraw: notEnough', null, details],
    ]);
    expect(odd.outlet.rows[0]?.[2]).toBe('FINAL_FAILED');
  });

  test('a weak level fails → the client gets the failure with its level, and the operation goes on', () => {
    const { submission, outlet } = start();
    submission.fail(new CorrectableError('UNAVAILABLE', 'no backup'), 'tentative');
    submission.view('v', 'strong');
    expect(outlet.rows[0]?.slice(0, 5)).toEqual([7, 'fail', 'UNAVAILABLE', 'no backup', 0]);
    expect(outlet.rows[1]).toEqual([7, 'view', 2, 0, 'v']);
  });

  test('strongest level fails → ends it', () => {
    const { submission, outlet } = start();
    submission.fail(new CorrectableError('UNAVAILABLE', 'no quorum'), 'strong');
    expect(outlet.rows[0]?.[4]).toBeNull();
    expect(outlet.ends).toBe(1);
  });

  test('the store is done without a final → CLOSED_WITHOUT_FINAL', () => {
    const { submission, outlet } = start();
    submission.close();
    expect(outlet.rows[0]?.[2]).toBe('CLOSED_WITHOUT_FINAL');
  });

  test('calls after the end or at an unknown level → counted, nothing sent, nothing thrown', () => {
    const { submission, outlet, anomalies } = start();
    submission.view('v', 'purple');
    submission.view('v', 'strong');
    submission.view('v', 'strong');
    submission.confirm('strong', 0);
    submission.fail(new Error('late'));
    submission.close();
    expect(outlet.rows).toHaveLength(1);
    expect(anomalies).toHaveLength(4);
  });

  test('repetition → everything known in full on the new connection, and no confirm after it', () => {
    const { submission, outlet: old, memory } = start();
    submission.view('v', 'tentative', { version: 1 });
    submission.confirm('causal', 0);
    const outlet = new OutletDouble();
    memory.repeat(outlet);
    submission.view('v', 'strong');
    expect(outlet.rows.map(([, kind, level, , value]) => [kind, level, value])).toEqual([
      ['view', 1, 'v'],
      ['view', 2, 'v'],
    ]);
    expect(old.rows).toHaveLength(2);
    expect([old.ends, outlet.ends]).toEqual([0, 1]);
  });

  test.each([1, 3, 1024, 1025, 1500, 2048, 3000])(
    'repetition of %i views, one of which was confirmed → the last 1024 in their order',
    (count) => {
      const { submission, memory } = start();
      for (let n = 0; n < count; n++) submission.view(n, 'tentative');
      const first = Math.max(0, count - 1024);
      submission.confirm('causal', first);
      const outlet = new OutletDouble();
      memory.repeat(outlet);
      const expected = Array.from({ length: count - first }, (_, n) => [
        n === 0 ? 1 : 0,
        first + n,
      ]);
      expect(outlet.rows.map(([, , level, , value]) => [level, value])).toEqual(expected);
    },
  );

  test('object that the store changes after it was the final → repeated as it was', () => {
    const { submission, memory } = start();
    const value = { item: 'a' };
    submission.view(value, 'strong');
    value.item = 'b';
    const outlet = new OutletDouble();
    memory.repeat(outlet);
    expect(outlet.rows).toEqual([[7, 'view', 2, 0, { item: 'a' }]]);
  });

  test.each([null, undefined, 'v', 0, true, 10n])(
    '%s was the final → repeated the same',
    (value) => {
      const { submission, outlet: first, memory } = start();
      submission.view(value, 'strong');
      const outlet = new OutletDouble();
      memory.repeat(outlet);
      expect(outlet.rows).toEqual(first.rows);
      expect(outlet.rows).toEqual([[7, 'view', 2, 0, value]]);
    },
  );

  test.each([
    ['read', Number.NaN, 'INVALID_VALUE'],
    ['write', Number.NaN, 'UNKNOWN'],
    ['read', { at: new Map() }, 'INVALID_VALUE'],
    ['write', { at: new Map() }, 'UNKNOWN'],
    ['read', 'x'.repeat(2_000), 'INVALID_VALUE'],
    ['write', 'x'.repeat(2_000), 'UNKNOWN'],
  ] as const)(
    'final of a %s that cannot be sent: %s → %s with the reason',
    (effect, value, code) => {
      const { submission, outlet } = start(2, effect);
      submission.view(value, 'strong');
      expect(outlet.rows[0]?.slice(0, 3)).toEqual([7, 'fail', code]);
      expect(outlet.rows[0]?.[3]).toMatch(
        /^(the write took effect, but its result cannot be sent: )?value/,
      );
      expect(outlet.ends).toBe(1);
    },
  );

  test.each(['read', 'write'] as const)(
    'preliminary of a %s that cannot be sent → that level fails alone',
    (effect) => {
      const { submission, outlet } = start(2, effect);
      const seq = submission.view(Number.NaN, 'tentative');
      submission.confirm('causal', seq);
      submission.view('v', 'strong');
      expect(outlet.rows.map((row) => [row[1], row[1] === 'fail' ? row[4] : row[2]])).toEqual([
        ['fail', 0],
        ['fail', 1],
        ['view', 2],
      ]);
      expect(outlet.ends).toBe(1);
    },
  );

  test('preliminary that could not be sent is confirmed as the final of a write → UNKNOWN: it took effect', () => {
    const { submission, outlet } = start();
    submission.confirm('strong', submission.view(Number.NaN, 'tentative'));
    expect(outlet.rows.at(-1)?.slice(0, 3)).toEqual([7, 'fail', 'UNKNOWN']);
  });

  test('ended by a confirmation → repeated in full', () => {
    const { submission, memory } = start();
    submission.view({ a: 1 }, 'tentative', { meta: { remaining: 5 } });
    submission.view({ a: 1 }, 'strong', { meta: { remaining: 4 } });
    const outlet = new OutletDouble();
    memory.repeat(outlet);
    expect(outlet.rows).toEqual([[7, 'view', 2, 1, { a: 1 }, null, { remaining: 4 }]]);
  });

  test('repetition of one in flight → what the store confirms then is sent in full, at its level', () => {
    const { submission, memory } = start();
    const seq = submission.view('v', 'tentative');
    const outlet = new OutletDouble();
    memory.repeat(outlet);
    submission.confirm('causal', seq);
    submission.confirm('strong', seq, { version: 2 });
    expect(outlet.rows).toEqual([
      [7, 'view', 0, 0, 'v'],
      [7, 'view', 1, 0, 'v'],
      [7, 'view', 2, 0, 'v', 2],
    ]);
  });
});

describe('submission whose client has too much waiting', () => {
  test('read → its preliminary view and its final fail with OVERLOADED', () => {
    const { submission, outlet } = start(2, 'read');
    outlet.isFull = true;
    submission.view('a', 'tentative');
    submission.view('b', 'strong');
    expect(outlet.rows.map((row) => [row[1], row[2], row[4]])).toEqual([
      ['fail', 'OVERLOADED', 0],
      ['fail', 'OVERLOADED', null],
    ]);
    expect(outlet.ends).toBe(1);
  });

  test('read whose preliminary view was not sent → the final in full, though it is the same', () => {
    const { submission, outlet } = start(2, 'read');
    outlet.isFull = true;
    const seq = submission.view('v', 'tentative');
    outlet.isFull = false;
    submission.confirm('causal', seq);
    submission.view('v', 'strong');
    expect(outlet.rows.slice(1)).toEqual([
      [7, 'view', 1, 0, 'v'],
      [7, 'confirm', 2, 0],
    ]);
  });

  test('a write → its final view is sent all the same, since it is kept in any case', () => {
    const { submission, outlet } = start();
    outlet.isFull = true;
    submission.view('v', 'strong');
    expect(outlet.rows).toEqual([[7, 'view', 2, 0, 'v']]);
  });
});

describe('what is kept', () => {
  test('final of a write → as many bytes as the row has, until it is forgotten; of a read → none', () => {
    const update = start();
    update.submission.view({ text: 'x'.repeat(100) }, 'strong');
    expect(update.budget.bytes).toBeGreaterThan(100);
    update.memory.forget();
    expect(update.budget.bytes).toBe(0);
    const read = start(2, 'read');
    read.submission.view({ text: 'x'.repeat(100) }, 'tentative');
    expect(read.budget.bytes).toBeGreaterThan(100);
    read.submission.view({ text: 'y'.repeat(100) }, 'strong');
    expect(read.budget.bytes).toBe(0);
  });

  test('an abandoned read → nothing is kept, and later views of the store are no misuse', () => {
    const { submission, budget, anomalies } = start(2, 'read');
    submission.view('v', 'tentative');
    submission.abandon();
    submission.view('v', 'strong');
    expect([budget.bytes, anomalies]).toEqual([0, []]);
  });

  test('msgpack → in memory of its own, not in the block that it was written in', () => {
    const { submission, outlet, memory } = start(2, 'write', msgpackCodec);
    submission.view({ ok: true }, 'strong');
    const repeated: EncodedMessage[] = [];
    memory.repeat({
      isFull: false,
      push: () => {},
      pushEncoded: (row) => repeated.push(row),
      onEnded: () => {},
    });
    const [{ block, length } = expect.fail()] = repeated as Span[];
    expect(block.buffer.byteLength).toBe(length);
    expect(outlet.ends).toBe(1);
  });

  test('no room to keep the final view → it is sent, but a resend gets UNKNOWN: the write took effect', () => {
    const { submission, outlet: first, budget, memory } = start();
    budget.max = 10;
    submission.view({ text: 'x'.repeat(100) }, 'strong');
    expect(first.rows[0]?.[1]).toBe('view');
    const outlet = new OutletDouble();
    memory.repeat(outlet);
    expect(outlet.rows[0]?.slice(0, 3)).toEqual([7, 'fail', 'UNKNOWN']);
    expect(outlet.rows[0]?.[3]).toContain('took effect');
  });

  test('no room for a preliminary view → sent; the store can no longer confirm it: UNKNOWN after a write', () => {
    const { submission, outlet, budget } = start();
    budget.max = 0;
    submission.confirm('strong', submission.view({ a: 1 }, 'tentative'));
    expect(outlet.rows.map((row) => row[1])).toEqual(['view', 'fail']);
    expect(outlet.rows[1]?.[2]).toBe('UNKNOWN');
  });

  test('no room for a preliminary view → nothing of it is given back at the end', () => {
    const { submission, budget } = start(2, 'read');
    budget.max = 0;
    submission.view({ a: 1 }, 'tentative');
    submission.view({ a: 2 }, 'strong');
    expect(budget.bytes).toBe(0);
  });

  test('forgotten while in flight → nothing is kept of its end', () => {
    const { submission, budget } = start();
    submission.forget?.();
    submission.view({ a: 1 }, 'strong');
    expect(budget.bytes).toBe(0);
  });
});
