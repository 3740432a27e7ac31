/** What is kept of an operation, how much while it lasts, and until when it counts. */
import { describe, expect, test, vi } from 'vitest';
import type { BindingSession } from '../../../../../src/correctable/binding.ts';
import { CorrectableError } from '../../../../../src/correctable/errors.ts';
import { jsonCodec } from '../../../../../src/protocol/codec/json-codec.ts';
import type { HostedOperation } from '../../../../../src/server/gateway/operations/hosted-operation.ts';
import { collectGarbage } from '../../../../support/garbage.ts';
import { OutletDouble, start, type Memory } from './submission-doubles.ts';

describe('an outcome that is kept', () => {
  test('a failure too large to keep → a resend gets the same failure with a short message', () => {
    const { submission, outlet: first, budget, memory } = start();
    budget.max = 10;
    submission.fail(new CorrectableError('CONFLICT', `sold out ${'x'.repeat(5_000)}`));
    expect(first.rows[0]?.[3]).toHaveLength(4_096);
    const outlet = new OutletDouble();
    memory.repeat(outlet);
    expect(outlet.rows[0]?.slice(0, 3)).toEqual([7, 'fail', 'CONFLICT']);
    expect(outlet.rows[0]?.[3]).toMatch(/^sold out x{80,90}$/);
    expect(budget.bytes).toBeLessThan(500);
    memory.forget();
    expect(budget.bytes).toBe(0);
  });

  test('acknowledged before it ended, and too much waits → UNKNOWN: the client could not ask for the result later', () => {
    const { submission, outlet } = start();
    outlet.isFull = true;
    submission.forget?.();
    submission.view({ text: 'x'.repeat(100) }, 'strong');
    expect(outlet.rows.map((row) => row.slice(0, 3))).toEqual([[7, 'fail', 'UNKNOWN']]);
  });

  test('the store leaves listeners and whereabouts behind → nothing of them is kept', async () => {
    const { submission, memory } = start();
    const args = new WeakRef(
      (() => {
        const value = { text: 'x' };
        submission.context.signal.addEventListener('abort', () => void value.text);
        submission.context.submissionStatus = {
          mayHaveBeenSent: true,
          blockedBy: undefined,
          given: value,
        } as HostedOperation['context']['submissionStatus'];
        return value;
      })(),
    );
    submission.view(true, 'strong');
    await withoutGarbage();
    expect(memory.entry).toBeDefined();
    expect(args.deref()).toBeUndefined();
  });

  test('text that is a part of a larger one → kept without the rest', async () => {
    const memories: Memory[] = [];
    await withoutGarbage();
    const before = process.memoryUsage().heapUsed;
    for (let n = 0; n < 40; n++) {
      const { submission, memory } = start();
      const page = String(n).padEnd(20, '-') + Buffer.alloc(1_000_000, 'abc').toString('latin1');
      if (n % 2 === 0) submission.view(page.slice(0, 20), 'strong');
      else submission.view(true, 'strong', { version: page.slice(0, 20) });
      memories.push(memory);
    }
    await withoutGarbage();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(10_000_000);
    expect(memories).toHaveLength(40);
  });
});

describe('views of an operation that does not end', () => {
  test('as many views are held as clients keep, with their details', () => {
    const { submission, budget } = start(2, 'read');
    const bytesAt = (count: number): number => {
      while (
        submission.view(Math.random(), 'tentative', { meta: { at: 'x'.repeat(100) } }) < count
      );
      return budget.bytes;
    };
    const retained = bytesAt(2_000);
    expect(retained).toBeGreaterThan(1_024 * 200);
    expect(bytesAt(6_000)).toBeLessThan(retained * 1.1);
    submission.view('v', 'strong');
    expect(budget.bytes).toBe(0);
  });

  test('the store confirms one again and again, with more details each time → they count', () => {
    const { submission, budget } = start(2, 'read');
    const seq = submission.view('v', 'tentative');
    for (let n = 0; n < 5; n++)
      submission.confirm('tentative', seq, { meta: { [`at${n}`]: 'x'.repeat(100) } });
    expect(budget.bytes).toBeGreaterThan(500);
    submission.abandon();
    expect(budget.bytes).toBe(0);
  });
});

describe('a mistake of the gateway at a view', () => {
  const showFinal = (submission: HostedOperation): void => void submission.view('v', 'strong');
  const fail = (submission: HostedOperation): void => submission.fail(new Error('x'));
  const breaks = (): never => {
    throw new Error('of ours');
  };

  test.each([
    ['final view of a write', 'write', 'UNKNOWN', showFinal],
    ['failure of a write', 'write', 'UNKNOWN', fail],
    ['final view of a read', 'read', 'FINAL_FAILED', showFinal],
    ['failure of a read', 'read', 'FINAL_FAILED', fail],
  ] as const)(
    '%s (%s) → the client gets %s once; the store is not called',
    (_, effect, code, endOperation) => {
      const { submission, outlet, anomalies, load } = start(2, effect);
      vi.spyOn(outlet, 'pushEncoded').mockImplementationOnce(breaks);
      endOperation(submission);
      endOperation(submission);
      expect(outlet.rows.map((row) => row.slice(0, 3))).toEqual([[7, 'fail', code]]);
      expect(anomalies).toContain('the gateway failed at a view');
      expect([outlet.ends, load.operations]).toEqual([1, 0]);
    },
  );

  test('a final view that was sent is the one that is kept', () => {
    const { submission, outlet, anomalies, memory } = start();
    vi.spyOn(outlet, 'onEnded').mockImplementationOnce(breaks);
    showFinal(submission);
    memory.repeat(outlet);
    const reported = [7, 'view', 2, 0, 'v'];
    expect(outlet.rows).toEqual([reported, reported]);
    expect(anomalies).toEqual(['the gateway failed at a view']);
  });
});

describe('the place of an operation', () => {
  const session = (): BindingSession & { closed: number } => ({
    closed: 0,
    tokens: ['t'],
    close() {
      this.closed++;
    },
  });

  test.each([
    ['a final view', (submission: HostedOperation) => void submission.view('v', 'strong')],
    [
      'a confirmed view',
      (submission: HostedOperation) => submission.confirm('strong', submission.view('v', 'causal')),
    ],
    ['a failure', (submission: HostedOperation) => submission.fail(new Error('x'))],
    ['the end of its promise', (submission: HostedOperation) => submission.close()],
  ])('is its own until the store is done: %s → left, and the session closed, once', (_, end) => {
    for (const effect of ['read', 'write'] as const) {
      for (const isAbandoned of [false, true]) {
        const opened = session();
        const { submission, load } = start(2, effect, jsonCodec, opened);
        if (isAbandoned) submission.abandon();
        submission.view('early', 'tentative');
        expect([load.operations, opened.closed]).toEqual([1, 0]);
        end(submission);
        submission.view('late', 'strong');
        expect([load.operations, opened.closed]).toEqual([0, 1]);
      }
    }
  });

  test('the store has taken the signal → left when that is aborted: it need not say any more', () => {
    const { submission, load } = start(2, 'read');
    expect(submission.context.signal.aborted).toBe(false);
    submission.abandon();
    expect(load.operations).toBe(0);
    expect(submission.context.signal.aborted).toBe(true);
  });

  test('the store asks for the signal only later → left then', () => {
    const { submission, load } = start(2, 'read');
    submission.abandon();
    expect(load.operations).toBe(1);
    expect(submission.context.signal.aborted).toBe(true);
    expect(load.operations).toBe(0);
  });

  test('the store has taken the signal, and given a promise → left when that ends', () => {
    const { submission, load } = start(2, 'read');
    submission.awaitPromise();
    expect(submission.context.signal.aborted).toBe(false);
    submission.abandon();
    expect(load.operations).toBe(1);
    submission.close();
    expect(load.operations).toBe(0);
  });

  test('its session cannot be closed → reported', () => {
    const broken: BindingSession = {
      tokens: ['t'],
      close: () => {
        throw new Error('x');
      },
    };
    const { submission, anomalies, outlet } = start(2, 'read', jsonCodec, broken);
    submission.view('v', 'strong');
    expect(anomalies).toEqual(['a session could not be closed']);
    expect(outlet.ends).toBe(1);
  });
});

async function withoutGarbage(): Promise<void> {
  await new Promise(setImmediate);
  collectGarbage();
}
