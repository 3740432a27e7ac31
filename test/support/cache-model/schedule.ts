/**
 * The steps of a schedule for pages with a cache. fast-check draws the steps, so it can shrink a
 * schedule that fails.
 */
import fc from 'fast-check';
import type { DiskMode, Landing } from './disk.ts';
import { READS, UPDATES, type ObjectName, type UpdateName } from './operations.ts';

/** The levels that are requested. `look`: only the cache is asked. */
export type Wanted = 'all' | 'strong' | 'weak' | 'cache and weak' | 'look';

export interface ReadStep {
  readonly do: 'read';
  readonly tab: number;
  readonly read: number;
  readonly wants: Wanted;
  readonly inSession: boolean;
  /** Whether the store executes and answers the operation at once. */
  readonly isInstant: boolean;
  /** How many writes the replica is behind, if any replica may answer. */
  readonly lag: number;
}

export interface UpdateStep {
  readonly do: 'write';
  readonly tab: number;
  readonly update: UpdateName;
  readonly wants: 'all' | 'strong' | 'weak';
  readonly inSession: boolean;
  readonly isInstant: boolean;
  /**
   * Whether the update has an idempotency key. `repeated`: the last update of the user is sent
   * again with its key.
   */
  readonly key: 'none' | 'new' | 'repeated';
}

export type Step =
  | ReadStep
  | UpdateStep
  /** Executes the next step, or all steps, of one of the pending operations. */
  | { readonly do: 'go'; readonly which: number; readonly all: boolean; readonly lag: number }
  | { readonly do: 'fail'; readonly which: number; readonly hasEffect: boolean }
  /** The following step happens in the same tick. */
  | { readonly do: 'hurry' }
  /** Another client writes to the store. */
  | { readonly do: 'foreign'; readonly objects: readonly ObjectName[] }
  | { readonly do: 'replicate'; readonly all: boolean }
  /** The store behind is lost, and restored from a backup with lower versions. */
  | { readonly do: 'restore backup' }
  | { readonly do: 'disk'; readonly tab: number; readonly mode: DiskMode }
  | { readonly do: 'land'; readonly which: number; readonly landing: Landing }
  | { readonly do: 'hold notices'; readonly hold: boolean }
  | { readonly do: 'deliver'; readonly tab: number; readonly all: boolean }
  /**
   * The page is closed and opens again. Of its pending writes the first `landed` ones take effect.
   */
  | { readonly do: 'reload'; readonly tab: number; readonly landed: number }
  /** The page closes its client, and opens again. */
  | { readonly do: 'close'; readonly tab: number; readonly clears: boolean }
  | { readonly do: 'clear'; readonly tab: number; readonly whose: 'own' | 'all' }
  | { readonly do: 'invalidate'; readonly tab: number; readonly object: ObjectName }
  /** `unknown`: the function that returns the principal throws. */
  | { readonly do: 'sign in'; readonly tab: number; readonly name: 'ada' | 'bob' | 'unknown' }
  /** Opens a session, or continues the session whose tokens were taken last. */
  | { readonly do: 'session'; readonly tab: number; readonly shouldContinue: boolean }
  | { readonly do: 'take tokens'; readonly tab: number }
  | { readonly do: 'wait'; readonly ms: number }
  /** The machine's clock is set. */
  | { readonly do: 'set clock'; readonly byMs: number };

const tab = fc.nat(2);
const which = fc.nat(5);
const lag = fc.nat(3);
const item = (step: fc.Arbitrary<Step>): fc.Arbitrary<Step[]> => step.map((only) => [only]);
const exactly = <S extends Step>(step: S): fc.Arbitrary<Step> => fc.constant(step);

function reads(
  wants: fc.Arbitrary<Wanted>,
  isInstant: fc.Arbitrary<boolean>,
): fc.Arbitrary<ReadStep> {
  // Draw the first read most often, because most faults need several operations on one view.
  const read = fc.oneof(
    { weight: 2, arbitrary: fc.constant(0) },
    { weight: 5, arbitrary: fc.nat(READS.length - 1) },
  );
  return fc.record({
    do: fc.constant('read' as const),
    tab,
    read,
    wants,
    inSession: fc.boolean(),
    isInstant,
    lag,
  });
}

const anyWanted = fc.constantFrom<Wanted[]>('all', 'strong', 'weak', 'weak', 'cache and weak');
const anyRead = reads(anyWanted, fc.boolean());
const look = reads(fc.constant('look'), fc.constant(true));

function updates(isInstant: fc.Arbitrary<boolean>): fc.Arbitrary<UpdateStep> {
  return fc.record({
    do: fc.constant('write' as const),
    tab,
    update: fc.oneof(
      { weight: 3, arbitrary: fc.constant<UpdateName>('put a') },
      { weight: 5, arbitrary: fc.constantFrom(...UPDATES) },
    ),
    wants: fc.constantFrom('all' as const, 'strong' as const, 'strong' as const, 'weak' as const),
    inSession: fc.boolean(),
    isInstant,
    key: fc.oneof(
      { weight: 8, arbitrary: fc.constant('none' as const) },
      { weight: 1, arbitrary: fc.constantFrom('new' as const, 'repeated' as const) },
    ),
  });
}

const anyUpdate = updates(fc.boolean());
const foreign = fc.constantFrom<Step[]>(
  { do: 'foreign', objects: ['a'] },
  { do: 'foreign', objects: ['a'] },
  { do: 'foreign', objects: ['b'] },
  { do: 'foreign', objects: ['a', 'b'] },
);
const go: fc.Arbitrary<Step> = fc.record({
  do: fc.constant('go' as const),
  which,
  all: fc.boolean(),
  lag,
});
const replicate: fc.Arbitrary<Step> = fc.record({
  do: fc.constant('replicate' as const),
  all: fc.boolean(),
});

const often: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: anyRead },
  { weight: 5, arbitrary: look },
  { weight: 3, arbitrary: anyUpdate },
  { weight: 5, arbitrary: go },
  { weight: 3, arbitrary: foreign },
  { weight: 2, arbitrary: replicate },
);

const clockSteps = fc.constantFrom(-100_000, -3_000, 3_000, 100_000);
const wait: fc.Arbitrary<Step> = fc
  .constantFrom(1, 500, 1_000, 4_000, 6_000, 40_000)
  .map((ms) => ({ do: 'wait', ms }));
const disk: fc.Arbitrary<Step> = fc.record({
  do: fc.constant('disk' as const),
  tab,
  mode: fc.constantFrom<DiskMode[]>('prompt', 'by-hand', 'by-hand', 'failing', 'throwing'),
});
const land: fc.Arbitrary<Step> = fc.record({
  do: fc.constant('land' as const),
  which,
  landing: fc.constantFrom<Landing[]>(
    'apply',
    'finish',
    'finish',
    'finish',
    'fail',
    'fail after all',
  ),
});
const deliver: fc.Arbitrary<Step> = fc.record({
  do: fc.constant('deliver' as const),
  tab,
  all: fc.boolean(),
});
const reload: fc.Arbitrary<Step> = fc.record({
  do: fc.constant('reload' as const),
  tab,
  landed: fc.nat(2),
});
const session: fc.Arbitrary<Step> = fc.record({
  do: fc.constant('session' as const),
  tab,
  shouldContinue: fc.boolean(),
});

const anyUser = fc.constantFrom('ada' as const, 'bob' as const, 'bob' as const, 'unknown' as const);

const seldom: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('fail' as const), which, hasEffect: fc.boolean() }),
  },
  { weight: 2, arbitrary: exactly({ do: 'hurry' }) },
  { weight: 1, arbitrary: exactly({ do: 'restore backup' }) },
  { weight: 3, arbitrary: disk },
  { weight: 5, arbitrary: land },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('hold notices' as const), hold: fc.boolean() }),
  },
  { weight: 2, arbitrary: deliver },
  { weight: 4, arbitrary: reload },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('close' as const), tab, clears: fc.boolean() }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('clear' as const),
      tab,
      whose: fc.constantFrom('own' as const, 'all' as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('invalidate' as const),
      tab,
      object: fc.constantFrom<ObjectName[]>('a', 'b'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('sign in' as const), tab, name: anyUser }),
  },
  { weight: 2, arbitrary: session },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('take tokens' as const), tab }) },
  { weight: 2, arbitrary: wait },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('set clock' as const), byMs: clockSteps }) },
);

const requested = reads(anyWanted, fc.constant(true));

/** A view is kept, then the store changes, then the page opens again. */
const visit: fc.Arbitrary<Step[]> = fc
  .record({
    first: requested,
    foreign,
    then: fc.oneof(requested, updates(fc.constant(true))),
    disk,
    reload,
    last: look,
  })
  .map(({ first, foreign: moved, then, disk: ill, reload: again, last }) => [
    first,
    ill,
    moved,
    then,
    again,
    last,
  ]);

/** Two operations are pending at the same time, and end in any order. */
const overlap: fc.Arbitrary<Step[]> = fc
  .record({
    first: fc.oneof(reads(anyWanted, fc.constant(false)), updates(fc.constant(false))),
    second: fc.oneof(reads(anyWanted, fc.constant(false)), updates(fc.constant(false))),
    foreign,
    gone: fc.array(go, { minLength: 2, maxLength: 6 }),
    last: look,
  })
  .map(({ first, second, foreign: moved, gone, last }) => [
    first,
    ...gone.slice(0, 1),
    moved,
    second,
    ...gone,
    last,
  ]);

/** Two tabs, one of which receives the notices of the other late. */
const tabs: fc.Arbitrary<Step[]> = fc
  .record({
    first: requested,
    second: fc.oneof(requested, updates(fc.constant(true))),
    disk,
    land,
    seldom,
    last: look,
  })
  .map(({ first, second, disk: ill, land: landed, seldom: other, last }) => [
    { do: 'hold notices', hold: true },
    ill,
    first,
    second,
    other,
    landed,
    last,
  ]);

/**
 * The store is slow while the page opens again. Reads meanwhile are answered first, perhaps for
 * another user.
 */
const early: fc.Arbitrary<Step[]> = fc
  .record({
    first: requested,
    foreign,
    whose: tab,
    then: reads(fc.constantFrom<Wanted[]>('weak', 'all', 'look'), fc.constant(true)),
    name: anyUser,
    last: look,
  })
  .map(({ first, foreign: written, whose, then, name, last }) => [
    written,
    { ...first, tab: whose },
    { do: 'disk', tab: whose, mode: 'by-hand' },
    { do: 'reload', tab: whose, landed: 2 },
    { ...then, tab: whose, inSession: false },
    { do: 'sign in', tab: whose, name },
    { do: 'land', which: 0, landing: 'finish' },
    { do: 'go', which: 0, all: true, lag: 1 },
    { ...last, tab: whose },
  ]);

/** A session continues in another tab whose cache has content. */
const moved: fc.Arbitrary<Step[]> = fc
  .record({
    before: requested,
    foreign,
    from: tab,
    to: tab,
    then: fc.oneof(requested, updates(fc.constant(true))),
    last: look,
  })
  .map(({ before, foreign: written, from, to, then, last }) => [
    { do: 'session', tab: from, shouldContinue: false },
    { ...before, tab: to },
    written,
    { ...then, tab: from, inSession: true },
    { do: 'take tokens', tab: from },
    { do: 'session', tab: to, shouldContinue: true },
    { ...last, tab: to, read: before.read, inSession: true },
  ]);

/** The store behind is lost between two reads of one view, and counts from lower versions again. */
const backup: fc.Arbitrary<Step[]> = fc
  .record({ first: requested, last: look, whose: tab })
  .map(({ first, last, whose }) => [
    { ...first, wants: 'strong', tab: whose },
    { do: 'restore backup' },
    { ...first, wants: 'strong', tab: whose },
    { ...last, tab: whose, read: first.read },
  ]);

/**
 * An update is repeated with its key after other updates, by a page that has cleared its cache, by
 * a new page, or in another tab.
 */
const repeated: fc.Arbitrary<Step[]> = fc
  .record({
    first: updates(fc.constant(true)),
    then: fc.oneof(requested, updates(fc.constant(true))),
    between: fc.oneof(seldom, reload, requested, foreign),
    by: tab,
    inSession: fc.boolean(),
    last: look,
  })
  .map(({ first, then, between, by, inSession, last }) => [
    { ...first, key: 'new' },
    then,
    between,
    { ...first, key: 'repeated', tab: by, inSession },
    { ...last, tab: by, inSession },
  ]);

/** Draws any schedule. */
export const schedules: fc.Arbitrary<Step[]> = fc
  .array(
    fc.oneof(
      { weight: 8, arbitrary: item(often) },
      { weight: 4, arbitrary: item(seldom) },
      { weight: 1, arbitrary: visit },
      { weight: 2, arbitrary: overlap },
      { weight: 1, arbitrary: tabs },
      { weight: 1, arbitrary: early },
      { weight: 1, arbitrary: moved },
      { weight: 1, arbitrary: backup },
      { weight: 1, arbitrary: repeated },
    ),
    { minLength: 1, maxLength: 24, size: 'max' },
  )
  .map((steps) => steps.flat());
