/** Random histories of a sink, against a small reference model of the delivery rules (C1–C4, C6, C7). */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { correctable, structurallyEqual } from '../../src/index.ts';
import type { Correctable, Sink } from '../../src/index.ts';

const LEVELS = ['weak', 'causal', 'strong'] as const;
type Level = (typeof LEVELS)[number];

type Step =
  | { readonly kind: 'update'; readonly level: Level; readonly value: number; readonly version: number | undefined }
  | { readonly kind: 'confirm'; readonly level: Level; readonly seq: number }
  | { readonly kind: 'fail'; readonly level: Level | undefined }
  | { readonly kind: 'cancel' };

const level = fc.constantFrom(...LEVELS);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('update' as const),
      level,
      value: fc.nat(2),
      version: fc.option(fc.nat(3), { nil: undefined }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('confirm' as const), level, seq: fc.nat(3) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('fail' as const), level: fc.option(level, { nil: undefined }) }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'cancel' as const }) },
);

/** The delivery rules, in the simplest form that says them. */
class Model {
  readonly lines: string[] = [];
  readonly #refining: boolean;
  readonly #given: { value: number; version: number | undefined }[] = [];
  #rank = -1;
  #version = -1;
  #value: number | undefined;
  closed = false;

  constructor(refining: boolean) {
    this.#refining = refining;
  }

  apply(action: Step): void {
    if (action.kind === 'update') {
      this.#given.push(action);
      if (!this.closed) this.#see(action.value, action.version, LEVELS.indexOf(action.level));
    } else if (this.closed) {
      return;
    } else if (action.kind === 'confirm') {
      const known = this.#given[action.seq];
      if (known === undefined) this.#close('PROTOCOL');
      else this.#see(known.value, known.version, LEVELS.indexOf(action.level));
    } else if (action.kind === 'cancel') {
      this.#close('ABORTED');
    } else if (action.level === undefined || action.level === 'strong') {
      this.#close('FINAL_FAILED');
    }
  }

  #see(value: number, version: number | undefined, rank: number): void {
    const older = version !== undefined && version < this.#version;
    const repeated = rank === this.#rank && !this.#refining;
    if (rank < 2 && (rank < this.#rank || repeated || older)) return;
    const marks = `${this.#value === value ? ' confirms' : ''}${older ? ' regressed' : ''}`;
    this.lines.push(`${value} ${LEVELS[rank]}${marks}`);
    this.#rank = rank;
    this.#value = value;
    if (version !== undefined) this.#version = version;
    if (rank === 2) this.closed = true;
  }

  #close(code: string): void {
    this.closed = true;
    this.lines.push(code);
  }
}

interface Observed {
  readonly c: Correctable<number, typeof LEVELS>;
  readonly sink: Sink<number, Level>;
  readonly lines: string[];
}

function observed(refining: boolean): Observed {
  let sink!: Sink<number, Level>;
  const c = correctable<number, typeof LEVELS>(LEVELS, (given) => void (sink = given), { refining });
  return { c, sink, lines: listen(c) };
}

function listen(c: Correctable<number, typeof LEVELS>): string[] {
  const lines: string[] = [];
  c.subscribe({
    next: (view) => {
      const regressed = view.final && view.regressed === true;
      lines.push(`${view.value} ${view.level}${view.confirms ? ' confirms' : ''}${regressed ? ' regressed' : ''}`);
    },
    error: ({ code }) => lines.push(code),
  });
  return lines;
}

function perform({ c, sink }: Observed, action: Step): void {
  if (action.kind === 'update') {
    const details = action.version === undefined ? undefined : { version: action.version };
    sink.update(action.value, action.level, details);
  } else if (action.kind === 'confirm') sink.confirm(action.level, action.seq);
  else if (action.kind === 'fail') sink.fail(new Error('x'), action.level);
  else c.cancel();
}

test('C1–C7: any history of the sink → what the model says, for every listener', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), fc.boolean(), (history, refining) => {
      const subject = observed(refining);
      const model = new Model(refining);
      for (const action of history) {
        perform(subject, action);
        model.apply(action);
      }
      expect(subject.lines).toEqual(model.lines);
      expect(subject.c.state !== 'updating').toBe(model.closed);
    }),
    { numRuns: 2000 },
  );
});

test('C3, C4: listeners that join at any moment, deliveries at any moment → a suffix, in order, nothing twice', async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), fc.array(step, { maxLength: 8 }), fc.nat(6), async (scheduler, history, joins) => {
      const subject = observed(true);
      const late: string[][] = [];
      for (const action of history) void scheduler.schedule(Promise.resolve()).then(() => perform(subject, action));
      for (let i = 0; i < joins; i++)
        void scheduler.schedule(Promise.resolve()).then(() => late.push(listen(subject.c)));
      await scheduler.waitFor(new Promise<void>((resolve) => setImmediate(resolve)));
      await scheduler.waitIdle();
      await new Promise<void>((resolve) => setImmediate(resolve));
      for (const lines of late) {
        const joinedAt = subject.lines.length - lines.length;
        expect(joinedAt).toBeGreaterThanOrEqual(0);
        // A failure is told to those who join after it without the view before it.
        expect(subject.lines.slice(joinedAt)).toEqual(lines);
      }
    }),
    { numRuns: 300 },
  );
});

test('C8: any source, runs that end in any order → the result of the final input, each refuted run undone once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(fc.record({ level: fc.constantFrom('weak' as const, 'causal' as const), value: fc.nat(3) }), {
        maxLength: 5,
      }),
      fc.nat(3),
      fc.nat(8),
      async (scheduler, preliminaries, last, before) => {
        const { c, sink } = observed(true);
        const started: number[] = [];
        const undone: number[] = [];
        const result = c.speculate(
          (value) => {
            started.push(value);
            return scheduler.schedule(Promise.resolve(`r${value}`));
          },
          (value) => scheduler.schedule(Promise.resolve(undone.push(value))).then(() => undefined),
        );
        for (const { level: at, value } of preliminaries) {
          void scheduler.schedule(Promise.resolve()).then(() => sink.update(value, at));
        }
        for (let i = 0; i < before && scheduler.count() > 0; i++) await scheduler.waitOne();
        sink.update(last, 'strong');
        expect(await scheduler.waitFor(Promise.resolve(result))).toBe(`r${last}`);
        expect(started.at(-1)).toBe(last);
        expect(undone).toEqual(started.slice(0, -1));
      },
    ),
    { numRuns: 300 },
  );
});

test('C7: structural equality → reflexive on copies, symmetric, and false once something changed', () => {
  const value = fc.anything({ withDate: true, withMap: true, withSet: true, withTypedArray: true, withBigInt: true });
  fc.assert(
    fc.property(value, (original) => {
      const copy: unknown = structuredClone(original);
      expect(structurallyEqual(original, copy)).toBe(true);
      expect(structurallyEqual([original, 1], [copy, 2])).toBe(false);
      expect(structurallyEqual({ original }, { original: copy, more: undefined })).toBe(false);
    }),
  );
  fc.assert(fc.property(value, value, (a, b) => structurallyEqual(a, b) === structurallyEqual(b, a)));
});
