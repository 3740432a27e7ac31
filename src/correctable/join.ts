/** Several Correctables as one (C11). */
import type { Correctable } from './correctable.ts';
import { observe } from './derive.ts';
import { check } from './errors.ts';
import { Handle } from './handle.ts';
import { defaultEnvironment } from './environment.ts';
import type { Ladder } from './ladder.ts';
import { declareLevels, rankOf, sameNames } from './ladder.ts';
import type { Levels } from './level.ts';
import { failByPart, Source, sourceOf } from './source.ts';
import type { AnyView } from './view.ts';

/** The levels of a join over several bindings, whose own levels do not compare. */
export type JoinedLevels = readonly ['preliminary', 'final'];

type Part = Correctable<unknown, Levels, string>;

/** The values of the parts, in their order. */
export type ValuesOf<P extends readonly Part[]> = {
  -readonly [I in keyof P]: P[I] extends Correctable<infer T, infer _L, infer _F> ? T : never;
};

/** The levels of the parts where all have the same; otherwise, and where they come from several bindings, two. */
export type LevelsOf<P extends readonly Part[]> =
  P[number] extends Correctable<infer _T, infer L, infer _F> ? L | JoinedLevels : JoinedLevels;

/**
 * All of `parts` as one Correctable of their values. Parts of one binding count at every level that they have reached,
 * so the join has the level of its weakest part; over several bindings there is `preliminary`, then `final`.
 * Fails as soon as one part fails.
 *
 * @example
 * const page = all([store.invoke(get('user:7')), store.invoke(get('cart:7'))]);
 * page.onUpdate(([user, cart]) => sketch(user, cart)).onFinal(([user, cart]) => render(user, cart));
 */
export function all<const P extends readonly Part[]>(parts: P): Correctable<ValuesOf<P>, LevelsOf<P>> {
  check(Array.isArray(parts), 'parts', 'give a list, as all([a, b])');
  const sources = parts.map((part, at) => {
    const source = sourceOf(part);
    check(source, `parts[${at}]`, 'wrap others with correctableOf or correctableFrom');
    return source;
  });
  return new Handle(join(sources)) as unknown as Correctable<ValuesOf<P>, LevelsOf<P>>;
}

const JOINED: Ladder = /* @__PURE__ */ declareLevels(['preliminary', 'final']);

function join(sources: readonly Source<unknown>[]): Source<unknown[]> {
  const shared = sharedLadder(sources);
  const ladder = shared ?? JOINED;
  const joined = new Source<unknown[]>(ladder, sources[0]?.environment ?? defaultEnvironment, { refining: true });
  const views: AnyView[] = [];
  // Levels of several bindings do not compare: there, a view is final or it is not.
  const strength = ({ level, final }: AnyView): number => (shared ? rankOf(shared, level) : Number(final));
  let missing = sources.length;
  if (missing === 0) joined.update([], 'final');
  for (const [at, source] of sources.entries()) {
    const take = (_value: unknown, view: AnyView): void => {
      if (!views[at]) missing--;
      views[at] = view;
      if (missing > 0) return;
      // One whose level is weaker than was asked for keeps the join there too, final or not.
      joined.update(
        views.map(({ value }) => value),
        ladder.all[Math.min(...views.map(strength))]!,
        { final: views.every(({ final }) => final) },
      );
    };
    observe(source, joined, take, (error) => failByPart(joined, error));
  }
  return joined;
}

/** The ladder of the sources where they have one binding and one request. */
function sharedLadder([first, ...others]: readonly Source<unknown>[]): Ladder | undefined {
  if (first === undefined) return undefined;
  const { all, requested, owner } = first.ladder;
  const isSame = ({ ladder }: Source<unknown>): boolean =>
    ladder.owner === owner && sameNames(ladder.all, all) && sameNames(ladder.requested, requested);
  return others.every(isSame) ? first.ladder : undefined;
}
