/**
 * Random histories of a sink, against a small reference model of the delivery rules (COR-1–COR-4,
 * COR-6–COR-8).
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { correctable } from '../../src/index.ts';
import type { Correctable, Sink } from '../../src/index.ts';
import type { Note } from '../support/property-shares.ts';
import { sharesOf, testShares, unnoted } from '../support/property-shares.ts';
import { scaleRuns } from '../support/lane.ts';

const LEVELS = ['weak', 'causal', 'strong'] as const;
type Level = (typeof LEVELS)[number];

/** What the binding does, or a caller that cancels. */
type Step =
  | {
      readonly kind: 'write';
      readonly level: Level;
      readonly value: number;
      readonly version: number | undefined;
    }
  | { readonly kind: 'confirm'; readonly level: Level; readonly seq: number }
  | { readonly kind: 'fail'; readonly level: Level | undefined }
  | { readonly kind: 'cancel' };

/** What consumers do, and time. */
type Move =
  | Step
  | { readonly kind: 'join'; readonly how: How }
  | { readonly kind: 'leave'; readonly which: number }
  /** What is due without time passing has its turn. */
  | { readonly kind: 'turn' }
  /** The moves are made inside the next delivery. */
  | { readonly kind: 'inside'; readonly moves: readonly Move[] };

const HOWS = ['subscribe', 'callbacks', 'callbacks with a signal'] as const;
type How = (typeof HOWS)[number];

// Histories that are over at once say little.
const early = fc.oneof(
  { weight: 8, arbitrary: fc.constant<Level>('weak') },
  { weight: 5, arbitrary: fc.constant<Level>('causal') },
  { weight: 1, arbitrary: fc.constant<Level>('strong') },
);
const how = fc.constantFrom(...HOWS);
// What was given first there always is.
const seq = fc.constantFrom(0, 0, 0, 1, 2);
const update = fc.record({
  kind: fc.constant('write' as const),
  level: early,
  value: fc.nat(1),
  version: fc.option(fc.nat(3), { nil: undefined }),
});
const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 18, arbitrary: update },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('confirm' as const), level: early, seq }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('fail' as const),
      level: fc.option(early, { nil: undefined }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'cancel' as const }) },
  { weight: 12, arbitrary: fc.record({ kind: fc.constant('join' as const), how }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('leave' as const), which: fc.nat(3) }) },
  { weight: 5, arbitrary: fc.constant({ kind: 'turn' as const }) },
);
const inside = fc.record({
  kind: fc.constant('inside' as const),
  moves: fc.array(move, { minLength: 1, maxLength: 3 }),
});
const history = fc.tuple(
  update,
  fc.array(fc.oneof({ weight: 6, arbitrary: move }, { weight: 1, arbitrary: inside }), {
    minLength: 10,
    maxLength: 20,
  }),
);

/** The delivery rules, in their simplest form. */
class Model {
  readonly lines: string[] = [];
  readonly #refining: boolean;
  readonly #given: { value: number; version: number | undefined }[] = [];
  #rank = -1;
  #version = -1;
  #value: number | undefined;
  state: 'pending' | 'final' | 'error' = 'pending';

  constructor(refining: boolean) {
    this.#refining = refining;
  }

  apply(step: Step): void {
    const isClosed = this.state !== 'pending';
    if (step.kind === 'write') {
      this.#given.push(step);
      if (!isClosed) this.#see(step.value, step.version, LEVELS.indexOf(step.level));
    } else if (isClosed) {
      return;
    } else if (step.kind === 'confirm') {
      const known = this.#given[step.seq];
      if (known === undefined) this.#fail('PROTOCOL');
      else this.#see(known.value, known.version, LEVELS.indexOf(step.level));
    } else if (step.kind === 'cancel') {
      this.#fail('ABORTED');
    } else if (step.level === undefined || step.level === 'strong') {
      this.#fail('FINAL_FAILED');
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
    if (rank === 2) this.state = 'final';
  }

  #fail(code: string): void {
    this.state = 'error';
    this.lines.push(code);
  }
}

type Three = Correctable<number, typeof LEVELS>;
type ToldView = NonNullable<Three['latest']>;

interface Made {
  readonly c: Three;
  readonly sink: Sink<number, Level>;
}

function made(isRefining: boolean): Made {
  let sink!: Sink<number, Level>;
  const c = correctable<number, typeof LEVELS>(LEVELS, (value) => void (sink = value), {
    isRefining,
  });
  return { c, sink };
}

function lineOf(view: ToldView): string {
  const regressed = view.final && view.regressed === true;
  return `${view.value} ${view.level}${view.confirms ? ' confirms' : ''}${regressed ? ' regressed' : ''}`;
}

/** A listener, and the lines that it got. */
interface Listener {
  readonly lines: string[];
  /** How many views and failures there were when he came. */
  readonly cameAt: number;
  readonly leave: (() => void) | undefined;
  /** How many lines it had when it left. */
  countWhenLeft: number | undefined;
}

/** A Correctable, its listeners and its model, moved together. */
class Play {
  readonly model: Model;
  readonly listeners: Listener[] = [];
  readonly made: Made;
  readonly joins = { afterView: false, afterEnd: false, inside: false };
  #inside: readonly Move[] = [];
  #isInside = false;

  constructor(refining: boolean, first: How) {
    this.model = new Model(refining);
    this.made = made(refining);
    this.#join(first);
  }

  async make(moves: readonly Move[]): Promise<void> {
    for (const item of moves) {
      if (item.kind === 'turn') await Promise.resolve();
      else this.#move(item);
    }
    await new Promise<void>((resolve) => setImmediate(resolve));
  }

  #move(value: Move): void {
    if (value.kind === 'join') this.#join(value.how);
    else if (value.kind === 'leave') this.#leave(this.listeners[value.which]);
    else if (value.kind === 'inside') this.#inside = value.moves;
    else if (value.kind !== 'turn') {
      // Before, for what is done inside the delivery comes after it.
      this.model.apply(value);
      perform(this.made, value);
    }
  }

  #join(how: How): void {
    const cameAt = this.model.lines.length;
    this.joins.inside ||= this.#isInside;
    this.joins.afterView ||= cameAt > 0 && this.model.state === 'pending';
    this.joins.afterEnd ||= this.model.state !== 'pending';
    const lines: string[] = [];
    let isReturned = false;
    const tell = (line: string): void => {
      if (!isReturned) lines.push('called inside the call that attached it');
      lines.push(line);
      this.#playInside();
    };
    const leave = listenBy(how, this.made.c, tell);
    isReturned = true;
    this.listeners.push({ lines, cameAt, leave, countWhenLeft: undefined });
  }

  #leave(listener: Listener | undefined): void {
    if (listener?.leave === undefined || listener.countWhenLeft !== undefined) return;
    listener.leave();
    listener.countWhenLeft = listener.lines.length;
  }

  #playInside(): void {
    const moves = this.#inside;
    this.#inside = [];
    this.#isInside = true;
    for (const item of moves) this.#move(item);
    this.#isInside = false;
  }
}

/** Attaches `tell`; returns what ends that, where something does. */
function listenBy(how: How, c: Three, tell: (line: string) => void): (() => void) | undefined {
  if (how === 'subscribe') {
    const subscription = c.subscribe({
      next: (view) => tell(lineOf(view)),
      error: ({ code }) => tell(code),
    });
    return () => subscription.unsubscribe();
  }
  const onView = (_value: number, view: ToldView): void => tell(lineOf(view));
  const callbacks = {
    onUpdate: onView,
    onFinal: onView,
    onError: ({ code }: { code: string }) => tell(code),
  };
  if (how === 'callbacks') {
    c.setCallbacks(callbacks);
    return undefined;
  }
  const leaving = new AbortController();
  c.setCallbacks(callbacks, { signal: leaving.signal });
  return () => leaving.abort();
}

function perform({ c, sink }: Made, step: Step): void {
  if (step.kind === 'write') {
    const details = step.version === undefined ? undefined : { version: step.version };
    sink.view(step.value, step.level, details);
  } else if (step.kind === 'confirm') sink.confirm(step.level, step.seq);
  else if (step.kind === 'fail') sink.fail(new Error('x'), step.level);
  else c.cancel();
}

const deliveries = (note: Note): fc.IRawProperty<unknown> =>
  fc.asyncProperty(history, fc.boolean(), how, async ([first, moves], refining, firstHow) => {
    const play = new Play(refining, firstHow);
    await play.make([first, ...moves]);
    const { model, listeners, made: subject, joins } = play;
    for (const { lines, cameAt, countWhenLeft } of listeners) {
      // Who comes late hears first what was the latest then.
      const due = model.lines.slice(Math.max(cameAt - 1, 0));
      expect(lines).toEqual(due.slice(0, countWhenLeft));
    }
    expect(subject.c.state).toBe(model.state);
    const views = model.lines.filter((line) => line.includes(' '));
    expect(subject.c.latest && lineOf(subject.c.latest)).toBe(views.at(-1));
    if (joins.afterView) note('a listener comes after a view');
    if (joins.afterEnd) note('a listener comes after the end');
    if (joins.inside) note('a listener comes inside a delivery');
    const heardOn = listeners.some(({ cameAt, lines }) => cameAt > 0 && lines.length > 1);
    if (heardOn) note('a late listener gets more than what it has missed');
    if (views.length > 1) note('several views');
    if (views.some((line) => line.includes('confirms'))) note('a view confirms');
    if (model.state !== 'pending') note('an end');
    if (model.state === 'error') note('a failure');
    if (views.some((line) => line.includes('regressed'))) note('a final that is older');
  });

test('C1–C4, C6, C7: any history → every listener gets the lines of the model, from the latest view when it came', async () => {
  await fc.assert(deliveries(unnoted), { numRuns: scaleRuns(2000) });
});

testShares('C1–C4, C6, C7: the histories → most meet what matters', async () => {
  const shares = await sharesOf(deliveries);
  for (const description of [
    'a listener comes after a view',
    'a listener comes after the end',
    'a late listener gets more than what it has missed',
    'several views',
    'an end',
  ]) {
    expect(shares[description], description).toBeGreaterThan(0.5);
  }
  for (const subject of ['a view confirms', 'a listener comes inside a delivery', 'a failure']) {
    expect(shares[subject], subject).toBeGreaterThan(0.2);
  }
  expect(shares['a final that is older']).toBeGreaterThan(0.05);
});

const speculations = (note: Note): fc.IRawProperty<unknown> =>
  fc.asyncProperty(
    fc.scheduler(),
    fc.array(
      fc.record({ level: fc.constantFrom('weak' as const, 'causal' as const), value: fc.nat(2) }),
      {
        minLength: 1,
        maxLength: 5,
      },
    ),
    fc.nat(2),
    fc.nat(8),
    async (scheduler, preliminaries, last, before) => {
      const { c, sink } = made(true);
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
        void scheduler.schedule(Promise.resolve()).then(() => sink.view(value, at));
      }
      for (let i = 0; i < before && scheduler.count() > 0; i++) await scheduler.waitOne();
      const begunBefore = started.length;
      sink.view(last, 'strong');
      expect(await scheduler.waitFor(Promise.resolve(result))).toBe(`r${last}`);
      expect(started.at(-1)).toBe(last);
      expect(undone).toEqual(started.slice(0, -1));
      if (begunBefore > 0) note('a run begins before the final');
      if (undone.length > 0) note('a run is refuted');
      if (begunBefore > 0 && begunBefore === started.length)
        note('the final confirms the live run');
    },
  );

test('COR-8: any source, runs that end in any order → the result of the final input, each refuted run undone once', async () => {
  await fc.assert(speculations(unnoted), { numRuns: scaleRuns(300) });
});

testShares(
  'C8: the sources → most begin a run early; some runs are refuted, some confirmed',
  async () => {
    const shares = await sharesOf(speculations);
    expect(shares['a run begins before the final']).toBeGreaterThan(0.7);
    expect(shares['a run is refuted']).toBeGreaterThan(0.5);
    expect(shares['the final confirms the live run']).toBeGreaterThan(0.1);
  },
);
