/**
 * The steps of a schedule for a client of gateways. fast-check draws the steps, so it can shrink a
 * schedule that fails.
 */
import fc from 'fast-check';
import { ANSWERS, type Answer } from './authorization-hook.ts';
import type { UpdateKind } from './deployments.ts';
import { MANNERS } from './store-without-operation-ids.ts';

/**
 * The levels that are requested: only the strongest, all, or only the weakest, after which the
 * update may still fail.
 */
export type Wanted = 'strong' | 'all' | 'weak';

export interface UpdateStep extends UpdateKind {
  readonly do: 'write';
  readonly wants: Wanted;
  readonly timeoutMs: number;
}

export type Step =
  | UpdateStep
  | { readonly do: 'read'; readonly wants: Wanted; readonly timeoutMs: number }
  /** Cancels one of the pending updates. */
  | { readonly do: 'cancel'; readonly which: number }
  | { readonly do: 'wait'; readonly ms: number }
  /** The connection is cut; both ends notice. */
  | { readonly do: 'cut' }
  /** From now on messages in one direction are lost. Neither end notices it. */
  | { readonly do: 'lose'; readonly requests: boolean; readonly answers: boolean }
  | { readonly do: 'slow'; readonly delayMs: number }
  /** Ends all faults of the network. */
  | { readonly do: 'heal' }
  /** A gateway ends and loses the replies that it keeps. It starts again after `afterMs`. */
  | { readonly do: 'restart'; readonly site: number; readonly afterMs: number }
  /** A gateway is closed in order. Another one replaces it after `afterMs`. */
  | { readonly do: 'deploy'; readonly site: number; readonly afterMs: number }
  /**
   * The store ends all pending operations of a site and accepts no more. Its gateway is closed
   * after `afterMs`.
   */
  | { readonly do: 'close-site'; readonly site: number; readonly afterMs: number }
  /** Sets the decision of the authorization hook. */
  | { readonly do: 'door'; readonly answer: Answer }
  /** Sets the user of the application's token. */
  | { readonly do: 'principal'; readonly name: string }
  | { readonly do: 'close' };

const ms = (...choices: number[]): fc.Arbitrary<number> => fc.constantFrom(...choices);

const wants: fc.Arbitrary<Wanted> = fc.constantFrom('strong', 'all', 'all', 'weak');

function updates(timeoutMs: fc.Arbitrary<number>): fc.Arbitrary<UpdateStep> {
  return fc.record({
    do: fc.constant('write' as const),
    isRed: fc.boolean(),
    manner: fc.constantFrom(...MANNERS),
    wants,
    timeoutMs,
  });
}

const often: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: updates(ms(5, 300, 3_000, 60_000)) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('read' as const), wants, timeoutMs: ms(300, 60_000) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel' as const), which: fc.nat(5) }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      ms: ms(0, 1, 2, 3, 5, 20, 50, 500, 5_000, 40_000),
    }),
  },
);

const slow: fc.Arbitrary<Step> = fc.record({
  do: fc.constant('slow' as const),
  delayMs: ms(0, 1, 30, 2_000),
});

const seldom: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Step>({ do: 'cut' }) },
  {
    weight: 4,
    arbitrary: fc.constantFrom<Step>(
      { do: 'lose', requests: true, answers: false },
      { do: 'lose', requests: false, answers: true },
      { do: 'lose', requests: true, answers: true },
    ),
  },
  { weight: 1, arbitrary: slow },
  { weight: 4, arbitrary: fc.constant<Step>({ do: 'heal' }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('restart' as const),
      site: fc.nat(1),
      afterMs: ms(0, 200, 20_000),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('deploy' as const),
      site: fc.nat(1),
      afterMs: ms(0, 200, 20_000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('close-site' as const),
      site: fc.nat(1),
      afterMs: ms(0, 200, 20_000),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('door' as const), answer: fc.constantFrom(...ANSWERS) }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Step>(
      { do: 'principal', name: 'ann' },
      { do: 'principal', name: 'bob' },
    ),
  },
  { weight: 1, arbitrary: fc.constant<Step>({ do: 'close' }) },
);

/**
 * The most dangerous moments: an update or its reply is in flight when the connection, the gateway
 * or the client ends.
 */
const scene: fc.Arbitrary<Step[]> = fc
  .record({
    update: updates(ms(3_000, 60_000)),
    losesAnswers: fc.boolean(),
    underWayMs: ms(0, 1, 2, 3, 4, 6, 10),
    then: seldom,
    after: fc.constantFrom<Step>({ do: 'cut' }, { do: 'wait', ms: 30_000 }, { do: 'heal' }),
    finally: seldom,
  })
  .map(({ update, losesAnswers, underWayMs, then, after, finally: last }) => [
    { do: 'wait', ms: 20 },
    ...(losesAnswers ? [{ do: 'lose', requests: false, answers: true } as const] : []),
    update,
    { do: 'wait', ms: underWayMs },
    then,
    after,
    last,
  ]);

/**
 * The client loses its connection during an update, and reconnects before or after the gateway has
 * forgotten it.
 */
const absence: fc.Arbitrary<Step[]> = fc
  .record({ update: updates(ms(60_000)), underWayMs: ms(0, 2, 10), awayMs: ms(200, 2_000, 40_000) })
  .map(({ update, underWayMs, awayMs }) => [
    { do: 'wait', ms: 20 },
    { do: 'lose', requests: false, answers: true },
    update,
    { do: 'wait', ms: underWayMs },
    { do: 'cut' },
    { do: 'wait', ms: awayMs },
    { do: 'heal' },
    { do: 'wait', ms: 5_000 },
  ]);

/** A site is closed during an update, which may be in flight to another site. */
const closing: fc.Arbitrary<Step[]> = fc
  .record({
    update: updates(ms(60_000)),
    underWayMs: ms(1, 2, 4, 6, 8),
    afterMs: ms(0, 200, 20_000),
  })
  .map(({ update, underWayMs, afterMs }) => [
    { do: 'wait', ms: 20 },
    update,
    { do: 'wait', ms: underWayMs },
    { do: 'close-site', site: 0, afterMs },
    { do: 'wait', ms: 5_000 },
  ]);

const item = (step: fc.Arbitrary<Step>): fc.Arbitrary<Step[]> => step.map((only) => [only]);

/** Draws any schedule. */
export const schedules: fc.Arbitrary<Step[]> = fc
  .array(
    fc.oneof(
      { weight: 5, arbitrary: item(often) },
      { weight: 4, arbitrary: item(seldom) },
      { weight: 2, arbitrary: scene },
      { weight: 1, arbitrary: absence },
      { weight: 1, arbitrary: closing },
    ),
    { minLength: 1, maxLength: 20 },
  )
  .map((steps) => steps.flat());

const HARMLESS: ReadonlySet<Step['do']> = new Set(['write', 'read', 'wait', 'slow', 'heal']);

/** Returns whether nothing happens that can fail an operation, except its own time limit. */
export function isCalm(steps: readonly Step[]): boolean {
  return steps.every((step) => HARMLESS.has(step.do));
}

/** Draws schedules without failures. The network may be slow. */
export const calmSchedules: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 9, arbitrary: often.filter((step) => step.do !== 'cancel') },
    { weight: 1, arbitrary: slow },
    { weight: 1, arbitrary: fc.constant<Step>({ do: 'heal' }) },
  ),
  { minLength: 1, maxLength: 30 },
);
