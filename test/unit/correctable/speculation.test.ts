/** COR-8 speculate, rule by rule. */
import { expect, test, vi } from 'vitest';
import type { Manual } from './support.ts';
import { codeOf, manual, record, settled } from './support.ts';

/** A function whose runs finish when the test finishes them. */
function runs(): {
  run: (input: number) => Promise<string>;
  finish: (at: number) => Promise<void>;
  inputs: number[];
} {
  const inputs: number[] = [];
  const resolvers: (() => void)[] = [];
  return {
    inputs,
    run: (input) => {
      inputs.push(input);
      return new Promise((resolve) => resolvers.push(() => resolve(`result of ${input}`)));
    },
    finish: async (at) => {
      resolvers[at]!();
      await settled();
    },
  };
}

test('COR-8a: views that equal the input of the live run → one run; one that differs → another', async () => {
  const { c, sink } = manual<number>();
  const { run, inputs, finish } = runs();
  const result = c.speculate(run);
  sink.view(1, 'weak');
  sink.view(1, 'causal');
  expect(inputs).toEqual([1]);
  sink.view(2, 'strong');
  await settled();
  expect(inputs).toEqual([1, 2]);
  await finish(1);
  expect(await result).toBe('result of 2');
});

test('COR-8a: the scope → the view of the run, a signal, onAbort and onCommit', async () => {
  const { c, sink } = manual<number>();
  const levels: string[] = [];
  const result = c.speculate((value, { view, signal }) => {
    levels.push(view.level);
    return signal.aborted ? -1 : value * 2;
  });
  sink.view(4, 'weak');
  sink.confirm('strong', 0);
  expect(await result).toBe(8);
  expect(levels).toEqual(['weak']);
});

test('COR-8a: the function returns a Correctable → flattened level by level', async () => {
  const outer = manual<number>();
  const inners: Manual<string>[] = [];
  const result = outer.c.speculate(() => {
    const inner = manual<string>();
    inners.push(inner);
    return inner.c;
  });
  const lines = record(result);
  outer.sink.view(1, 'causal');
  inners[0]!.sink.view('a', 'weak');
  inners[0]!.sink.view('b', 'strong');
  expect(lines).toEqual(['write a weak', 'write b causal']);
  outer.sink.confirm('strong', 0);
  expect(lines.at(-1)).toBe('final b strong');
  expect(inners).toHaveLength(1);
});

test('COR-8g: the inner Correctable goes beyond the level of the input → its views at that level, each', () => {
  const outer = manual<number>();
  const inner = manual<string>();
  const lines = record(outer.c.speculate(() => inner.c));
  outer.sink.view(1, 'weak');
  inner.sink.view('a', 'weak');
  inner.sink.view('b', 'causal');
  outer.sink.confirm('strong', 0);
  inner.sink.view('c', 'strong');
  expect(lines).toEqual(['write a weak', 'write b weak', 'write b causal', 'final c strong']);
});

test('COR-8a: the input is final before the inner Correctable is → its levels show through', () => {
  const outer = manual<number>();
  const inner = manual<string>();
  const lines = record(outer.c.speculate(() => inner.c));
  outer.sink.view(1, 'strong');
  inner.sink.view('a', 'weak');
  inner.sink.view('b', 'causal');
  inner.sink.view('c', 'strong');
  expect(lines).toEqual(['write a weak', 'write b causal', 'final c strong']);
});

test('COR-8b: the final equals the input, the result is there → final at once', async () => {
  const { c, sink } = manual<number>();
  const { run, finish } = runs();
  const result = c.speculate(run);
  sink.view(1, 'weak');
  await finish(0);
  expect(result.latest).toMatchObject({ value: 'result of 1', level: 'weak', final: false });
  sink.view(1, 'strong');
  expect(result.latest).toMatchObject({ value: 'result of 1', level: 'strong', final: true });
});

test('COR-8c: refuted → signal, onAborts in reverse, then abort with input and result, then the next run', async () => {
  const { c, sink } = manual<number>();
  const order: string[] = [];
  const result = c.speculate(
    (value, { signal, onAbort }) => {
      order.push(`run ${value}`);
      signal.addEventListener('abort', () => order.push('signal'));
      onAbort(async () => {
        await settled();
        order.push('undo 1');
      });
      onAbort(() => void order.push('undo 2'));
      return value * 10;
    },
    async (input, output) => {
      await settled();
      order.push(`abort ${input} ${output}`);
    },
  );
  sink.view(1, 'weak');
  sink.view(2, 'strong');
  expect(await result).toBe(20);
  expect(order).toEqual(['run 1', 'signal', 'undo 2', 'undo 1', 'abort 1 10', 'run 2']);
});

test('COR-8c: views that come while the undoing lasts → only the newest gets a run', async () => {
  const { c, sink } = manual<number>({ isRefining: true });
  const inputs: number[] = [];
  let finishAbort!: () => void;
  const result = c.speculate(
    (value) => {
      inputs.push(value);
      return value;
    },
    () => new Promise<void>((resolve) => (finishAbort = resolve)),
  );
  sink.view(1, 'weak');
  sink.view(2, 'weak');
  sink.view(3, 'causal');
  sink.view(4, 'strong');
  await settled();
  expect(inputs).toEqual([1]);
  finishAbort();
  expect(await result).toBe(4);
  expect(inputs).toEqual([1, 4]);
});

test('COR-8c: the abort function gets no result from a run that had none', async () => {
  const { c, sink } = manual<number>();
  const abort = vi.fn();
  const { run } = runs();
  c.speculate(run, abort);
  sink.view(1, 'weak');
  sink.view(2, 'strong');
  await settled();
  expect(abort).toHaveBeenCalledExactlyOnceWith(1, undefined);
});

test('COR-8c: an onAbort registered after the run was undone → run at once', async () => {
  const { c, sink } = manual<number>();
  const undo = vi.fn();
  let late!: () => void;
  c.speculate(async (_value, { onAbort }) => {
    await new Promise<void>((resolve) => (late = resolve));
    onAbort(undo);
  });
  sink.view(1, 'weak');
  const resume = late;
  sink.view(2, 'strong');
  await settled();
  resume();
  await settled();
  expect(undo).toHaveBeenCalledOnce();
});

test('COR-8d: the source fails → the live run is undone, then the error of the source', async () => {
  const { c, sink } = manual<number>();
  const order: string[] = [];
  const result = c.speculate(
    (value) => value,
    async () => {
      await settled();
      order.push('undone');
    },
  );
  result.onError(({ code }) => order.push(code));
  sink.view(1, 'weak');
  sink.fail(new Error('down'));
  expect(order).toEqual([]);
  await codeOf(result);
  expect(order).toEqual(['undone', 'FINAL_FAILED']);
});

test('COR-8d: the result is cancelled → the run is undone, a source that others listen to goes on', async () => {
  const { c, sink } = manual<number>();
  c.onFinal(() => {});
  const abort = vi.fn();
  const result = c.speculate((value) => value, abort);
  sink.view(1, 'weak');
  result.cancel();
  expect(await codeOf(result)).toBe('ABORTED');
  expect(abort).toHaveBeenCalledOnce();
  sink.view(1, 'strong');
  expect(await c).toBe(1);
});

test('COR-8c: one undo fails → the others are done all the same, then ABORT_HANDLER_FAILED with the first failure', async () => {
  const uncaught: unknown[] = [];
  const { c, sink } = manual<number>({ onUncaught: (error) => void uncaught.push(error) });
  const log: string[] = [];
  const failing = (name: string) => (): void => {
    log.push(name);
    throw new Error(name);
  };
  const result = c.speculate((value, { onAbort }) => {
    onAbort(() => void log.push('release the seat'));
    onAbort(failing('mail'));
    return value;
  }, failing('abort'));
  sink.view(1, 'weak');
  sink.view(2, 'strong');
  const error: unknown = await result.catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'ABORT_HANDLER_FAILED', cause: { message: 'mail' } });
  expect(log).toEqual(['mail', 'release the seat', 'abort']);
  expect(uncaught).toEqual([expect.objectContaining({ message: 'abort' })]);
});

test.each([
  ['the first', 0, ['undone']],
  ['the second', 1, ['first']],
])(
  'COR-8f: %s effect of onCommit fails → SPECULATION_FAILED; undone where nothing is done',
  async (_, at, expected) => {
    const { c, sink } = manual<number>();
    const log: string[] = [];
    const result = c.speculate((value, { onAbort, onCommit }) => {
      onAbort(() => void log.push('undone'));
      for (const name of ['first', 'second']) {
        onCommit(() => {
          if (name === ['first', 'second'][at]) throw new Error(name);
          log.push(name);
        });
      }
      return value;
    });
    sink.view(1, 'strong');
    expect(await codeOf(result)).toBe('SPECULATION_FAILED');
    expect(log).toEqual(expected);
  },
);

test('COR-8f: an effect is registered after the final → done at once; of a run that was undone → never', async () => {
  const uncaught: unknown[] = [];
  const { c, sink } = manual<number>({ onUncaught: (error) => void uncaught.push(error) });
  const log: string[] = [];
  const late: ((name: string) => void)[] = [];
  const result = c.speculate((value, { onCommit }) => {
    late.push((name) => onCommit(() => void log.push(`${name} of ${value}`)));
    if (value === 2) late.push(() => onCommit(() => Promise.reject(new Error('charge'))));
    return value;
  });
  sink.view(1, 'weak');
  sink.view(2, 'strong');
  await result;
  for (const register of late) register('charged');
  await settled();
  expect(log).toEqual(['charged of 2']);
  expect(uncaught).toEqual([expect.objectContaining({ message: 'charge' })]);
});

test('COR-8e: a run fails on wrong input → never surfaced', async () => {
  const { c, sink } = manual<number>();
  const result = c.speculate((value) => {
    if (value === 1) throw new Error('no such page');
    return value;
  });
  const lines = record(result);
  sink.view(1, 'weak');
  sink.view(2, 'strong');
  expect(await result).toBe(2);
  expect(lines).toEqual(['final 2 strong']);
});

test('COR-8e: a run fails on confirmed input → SPECULATION_FAILED with the cause', async () => {
  const cause = new Error('no such page');
  for (const confirmFirst of [true, false]) {
    const { c, sink } = manual<number>();
    const result = c.speculate(async () => {
      throw cause;
    });
    sink.view(1, 'weak');
    if (!confirmFirst) await settled();
    sink.view(1, 'strong');
    expect(await result.catch((error: unknown) => error)).toMatchObject({
      code: 'SPECULATION_FAILED',
      cause,
    });
  }
});

test('COR-8f: onCommit effects → in order, once confirmed and resolved, before the derived final', async () => {
  const { c, sink } = manual<number>();
  const order: string[] = [];
  const { run, finish } = runs();
  const result = c.speculate((value, { onCommit }) => {
    onCommit(async () => {
      await settled();
      order.push('first');
    });
    onCommit(() => void order.push('second'));
    return run(value);
  });
  result.onFinal(() => order.push('final'));
  sink.view(1, 'weak');
  await finish(0);
  expect(order).toEqual([]);
  sink.view(1, 'strong');
  await result;
  expect(order).toEqual(['first', 'second', 'final']);
});

test('COR-8f: refuted → its onCommit effects never run', async () => {
  const { c, sink } = manual<number>();
  const committed: number[] = [];
  const result = c.speculate((value, { onCommit }) => {
    onCommit(() => void committed.push(value));
    return value;
  });
  sink.view(1, 'weak');
  sink.view(2, 'strong');
  await result;
  expect(committed).toEqual([2]);
});

test('COR-8g: results → preliminary views at the level of the input, again as it rises', () => {
  const { c, sink } = manual<number>();
  const lines = record(c.speculate((value) => value * 10));
  sink.view(1, 'weak');
  sink.view(1, 'causal');
  sink.view(1, 'strong');
  expect(lines).toEqual(['write 10 weak', 'write 10 causal', 'final 10 strong']);
});

test('COR-8g: a run on an input that came back → its result is delivered again, as one that confirms', async () => {
  const { c, sink } = manual<number>({ isRefining: true });
  const result = c.speculate((value) => [value]);
  const seen: boolean[] = [];
  result.subscribe((view) => seen.push(view.confirms));
  sink.view(1, 'weak');
  sink.view(2, 'weak');
  sink.view(1, 'weak');
  await settled();
  expect(seen).toEqual([false, true]);
  sink.view(1, 'strong');
  expect(await result).toEqual([1]);
});

test('COR-8: equality → asked once per view, by the source', () => {
  const equals = vi.fn((a: number, b: number) => a === b);
  const { c, sink } = manual<number>({ equals });
  c.speculate((value) => value);
  sink.view(1, 'weak');
  sink.view(2, 'causal');
  sink.view(3, 'strong');
  expect(equals).toHaveBeenCalledTimes(2);
});

test('COR-8: attached to a closed Correctable → one run on the final', async () => {
  const { c, sink } = manual<number>();
  sink.view(1, 'weak');
  sink.view(2, 'strong');
  const inputs: number[] = [];
  expect(await c.speculate((value) => inputs.push(value))).toBe(1);
  expect(inputs).toEqual([2]);
});
