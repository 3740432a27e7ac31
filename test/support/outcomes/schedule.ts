/** What happens to a client of gateways, step by step: drawn by fast-check, so that it can be made smaller. */
import fc from 'fast-check';

export type Step =
  | { readonly do: 'update'; readonly isRed: boolean; readonly timeoutMs: number }
  | { readonly do: 'read'; readonly timeoutMs: number }
  /** Cancels the update number `which` of those under way. */
  | { readonly do: 'cancel'; readonly which: number }
  | { readonly do: 'wait'; readonly ms: number }
  /** The connection is cut; both ends notice. */
  | { readonly do: 'cut' }
  /** What is said in a direction vanishes from now on; neither end notices. */
  | { readonly do: 'lose'; readonly requests: boolean; readonly answers: boolean }
  | { readonly do: 'slow'; readonly delayMs: number }
  /** The network is as it should be. */
  | { readonly do: 'heal' }
  /** A gateway ends, with its memory of replies; it is back after `afterMs`. */
  | { readonly do: 'restart'; readonly site: number; readonly afterMs: number }
  /** A gateway is shut down in order; another takes its place after `afterMs`. */
  | { readonly do: 'deploy'; readonly site: number; readonly afterMs: number }
  /** The application's token is of somebody else from now on. */
  | { readonly do: 'principal'; readonly name: string }
  | { readonly do: 'close' };

const ms = (...choices: number[]): fc.Arbitrary<number> => fc.constantFrom(...choices);

const often: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('update' as const),
      isRed: fc.boolean(),
      timeoutMs: ms(5, 300, 3_000, 60_000),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('read' as const), timeoutMs: ms(300, 60_000) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel' as const), which: fc.nat(5) }) },
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: ms(0, 1, 2, 3, 5, 20, 50, 500, 5_000, 40_000) }),
  },
);

const slow: fc.Arbitrary<Step> = fc.record({ do: fc.constant('slow' as const), delayMs: ms(0, 1, 30, 2_000) });

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
    arbitrary: fc.record({ do: fc.constant('restart' as const), site: fc.nat(1), afterMs: ms(0, 200, 20_000) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('deploy' as const), site: fc.nat(1), afterMs: ms(0, 200, 20_000) }),
  },
  { weight: 1, arbitrary: fc.constantFrom<Step>({ do: 'principal', name: 'ann' }, { do: 'principal', name: 'bob' }) },
  { weight: 1, arbitrary: fc.constant<Step>({ do: 'close' }) },
);

/** What hurts most: an update is on its way, or its answer is, and the connection, the gateway or the client goes. */
const scene: fc.Arbitrary<Step[]> = fc
  .record({
    isRed: fc.boolean(),
    timeoutMs: ms(3_000, 60_000),
    losesAnswers: fc.boolean(),
    underWayMs: ms(0, 1, 2, 3, 4, 10),
    then: seldom,
    after: fc.constantFrom<Step>({ do: 'cut' }, { do: 'wait', ms: 30_000 }, { do: 'heal' }),
    finally: seldom,
  })
  .map(({ isRed, timeoutMs, losesAnswers, underWayMs, then, after, finally: last }) => [
    { do: 'wait', ms: 20 },
    ...(losesAnswers ? [{ do: 'lose', requests: false, answers: true } as const] : []),
    { do: 'update', isRed, timeoutMs },
    { do: 'wait', ms: underWayMs },
    then,
    after,
    last,
  ]);

const one = (step: fc.Arbitrary<Step>): fc.Arbitrary<Step[]> => step.map((only) => [only]);

/** Any schedule. */
export const schedules: fc.Arbitrary<Step[]> = fc
  .array(
    fc.oneof(
      { weight: 5, arbitrary: one(often) },
      { weight: 4, arbitrary: one(seldom) },
      { weight: 2, arbitrary: scene },
    ),
    { minLength: 1, maxLength: 20 },
  )
  .map((steps) => steps.flat());

const HARMLESS: ReadonlySet<Step['do']> = new Set(['update', 'read', 'wait', 'slow', 'heal']);

/** Whether nothing happens that an operation may fail of, but for its own time limit. */
export function isCalm(steps: readonly Step[]): boolean {
  return steps.every((step) => HARMLESS.has(step.do));
}

/** A schedule in which nothing goes wrong; the network may be slow. */
export const calmSchedules: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 9, arbitrary: often.filter((step) => step.do !== 'cancel') },
    { weight: 1, arbitrary: slow },
    { weight: 1, arbitrary: fc.constant<Step>({ do: 'heal' }) },
  ),
  { minLength: 1, maxLength: 30 },
);
