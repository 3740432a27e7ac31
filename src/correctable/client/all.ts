/** Joins several Correctables into one (COR-11). */
import { adoptSource } from '../copies/adopt-source.ts';
import type { Correctable } from '../correctable.ts';
import { observeSource } from '../derived-source.ts';
import { check } from '../errors.ts';
import { defaultEnvironment } from '../environment.ts';
import { isThenable } from '../validate.ts';
import { CorrectableHandle } from './correctable-handle.ts';
import type { LevelOrder } from '../level-order.ts';
import { createLevelOrder, getRank, areSameNames } from '../level-order.ts';
import type { IsUnion, Levels } from '../level-types.ts';
import { failFromPart, Source } from '../source.ts';
import type { AnyView } from '../view.ts';

/**
 * The levels of a join of parts with different levels. Levels of different lists cannot be
 * compared.
 */
export type JoinedLevels = readonly ['preliminary', 'final'];

type AnyCorrectable = Correctable<unknown, Levels, string>;

/** The input of `all`: an array, or an object of parts by name. */
export type Parts<P = readonly AnyCorrectable[]> = {
  readonly [I in keyof P]: AnyCorrectable;
};

/**
 * The values of the parts, in their order or by their names. If a part may be missing, so may its
 * value.
 */
export type ValuesOf<P> = {
  -readonly [I in keyof P]: NonNullable<P[I]> extends Correctable<infer T, infer _L, infer _F>
    ? T
    : never;
};

/**
 * The levels of the parts if all have the same, otherwise `JoinedLevels`. Both are possible if the
 * types do not show whether all parts are of one store, or whether the input is empty. An empty
 * join is final at once.
 */
export type LevelsOf<P> =
  | JoinOf<ElementOf<P>>
  | (true extends CanBeEmpty<P> ? JoinedLevels : never);

/** The levels that the final can have. A part may be final at a weaker level than was requested. */
export type FinalOf<P> = [LevelsOf<P>] extends [JoinedLevels]
  ? JoinedLevels[number]
  : LevelsOf<P>[number] | FinalsOf<ElementOf<P>>[0];

type ElementOf<P> = NonNullable<
  P extends readonly (AnyCorrectable | undefined)[] ? P[number] : P[keyof P]
>;

/** Whether the input may be empty. A union of inputs may be empty if one of its members may be. */
type CanBeEmpty<P> = P extends readonly [unknown, ...unknown[]]
  ? false
  : P extends readonly unknown[]
    ? number extends P['length']
      ? true
      : 0 extends P['length']
        ? true
        : false
    : {} extends P
      ? true
      : false;

type JoinOf<C> = [C] extends [never]
  ? JoinedLevels
  : [C] extends [Correctable<unknown, infer L, string>]
    ? IsUnion<L> extends false
      ? IsUnion<FinalsOf<C>> extends false
        ? L
        : L | JoinedLevels
      : false extends HasOneLevelList<C>
        ? L | JoinedLevels
        : JoinedLevels
    : JoinedLevels;

/**
 * The final levels of each part. Parts of different stores may have been requested at the same
 * levels and still differ here.
 */
type FinalsOf<C> = C extends Correctable<unknown, infer _L, infer F> ? [F] : never;

/** Whether it is known which levels a part has, for each member of a union. */
type HasOneLevelList<C> =
  C extends Correctable<unknown, infer L, string>
    ? IsUnion<L> extends false
      ? true
      : false
    : never;

/**
 * Joins `parts`, an array or an object, into one Correctable of their values. If all parts have the
 * same levels, a view of the join has the level of its weakest part. Otherwise the join has two
 * levels: `preliminary`, then `final`. Fails as soon as one part fails.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if `parts` is neither an array nor an object, or if a
 * part is no Correctable
 * @example
 * const page = all({
 *   user: store.invoke(get('user:7')),
 *   cart: store.invoke(get('cart:7')),
 * });
 * page
 *   .onUpdate(({ user, cart }) => sketch(user, cart))
 *   .onFinal(({ user, cart }) => render(user, cart));
 */
export function all<const P extends Parts<P>>(
  parts: P,
): Correctable<ValuesOf<P>, LevelsOf<P>, FinalOf<P>> {
  const isList = Array.isArray(parts);
  // A set, a map or an iterator has no parts by name, so it is rejected.
  const isGiven =
    isList ||
    (parts && typeof parts === 'object' && !isThenable(parts) && !(Symbol.iterator in parts));
  check(isGiven, 'parts', 'give all([a, b]) or all({ a, b })');
  const names = Object.keys(parts);
  const sources = Object.values<unknown>(parts).map((part, at) => {
    const source = adoptSource(part);
    const field = isList ? `parts[${at}]` : `parts.${names[at]}`;
    check(source, field, 'use correctableFromValue or correctableFromPromise');
    return source;
  });
  const named = (values: unknown[]): object =>
    Object.fromEntries(values.map((value, at) => [names[at], value]));
  return new CorrectableHandle(
    joinSources(sources, isList ? (values) => values : named),
  ) as unknown as Correctable<ValuesOf<P>, LevelsOf<P>, FinalOf<P>>;
}

const JOINED_LEVEL_ORDER: LevelOrder = /* @__PURE__ */ createLevelOrder(['preliminary', 'final']);

function joinSources(
  sources: readonly Source<unknown>[],
  toValues: (values: unknown[]) => unknown,
): Source<unknown> {
  const shared = getSharedLevelOrder(sources);
  const levelOrder = shared ?? JOINED_LEVEL_ORDER;
  const joined = new Source<unknown>(levelOrder, sources[0]?.environment ?? defaultEnvironment, {
    isRefining: true,
  });
  const views: AnyView[] = [];
  // Levels of different lists cannot be compared. Then a view only counts as final or not.
  const strength = ({ level, final }: AnyView): number =>
    shared ? getRank(shared, level) : Number(final);
  let missing = sources.length;
  if (!missing) joined.view(toValues([]), 'final');
  for (const [at, source] of sources.entries()) {
    const take = (_value: unknown, view: AnyView): void => {
      if (!views[at]) missing--;
      views[at] = view;
      if (missing) return;
      // A part whose final is weaker than was requested keeps the whole join at that weaker level,
      // final or not.
      joined.view(
        toValues(views.map(({ value }) => value)),
        levelOrder.all[Math.min(...views.map(strength))]!,
        {
          final: views.every(({ final }) => final),
        },
      );
    };
    observeSource(source, joined, take, (error) => failFromPart(joined, error));
  }
  return joined;
}

/**
 * Returns the level order of the sources if all have the same levels and the same ones were
 * requested.
 */
function getSharedLevelOrder([first, ...others]: readonly Source<unknown>[]):
  | LevelOrder
  | undefined {
  if (first === undefined) return undefined;
  const { all, requested } = first.levelOrder;
  const isSame = ({ levelOrder }: Source<unknown>): boolean =>
    areSameNames(levelOrder.all, all) && areSameNames(levelOrder.requested, requested);
  return others.every(isSame) ? first.levelOrder : undefined;
}
