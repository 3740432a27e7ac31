/** Several Correctables as one (C11). */
import type { Correctable } from './correctable.ts';
import type { CorrectableError } from './errors.ts';
import { CorrectableError as InvalidArgument } from './errors.ts';
import { Handle } from './handle.ts';
import { defaultEnvironment } from './environment.ts';
import type { Ladder } from './ladder.ts';
import { declareLevels } from './ladder.ts';
import type { Levels, Strongest } from './level.ts';
import { Listener } from './listener.ts';
import { Source } from './source.ts';
import { sourceOf } from './source-of.ts';
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
export function all<const P extends readonly Part[]>(
  parts: P,
): Correctable<ValuesOf<P>, LevelsOf<P>, Strongest<LevelsOf<P>>> {
  const sources = parts.map((part, at) => sourceOf(part) ?? refusePart(at));
  const ladder = sharedLadder(sources) ?? JOINED;
  const joined = new Source<unknown[]>(ladder, sources[0]?.environment ?? defaultEnvironment, { refining: true });
  const join = new Join(joined, sources);
  join.start();
  return new Handle(joined) as unknown as Correctable<ValuesOf<P>, LevelsOf<P>, Strongest<LevelsOf<P>>>;
}

const JOINED: Ladder = /* @__PURE__ */ declareLevels(['preliminary', 'final']);

function refusePart(at: number): never {
  throw new InvalidArgument(
    'INVALID_ARGUMENT',
    `parts[${at}]: give a Correctable; wrap others with Correctable.of/from`,
    {
      field: `parts[${at}]`,
    },
  );
}

function sharedLadder(sources: readonly Source<unknown>[]): Ladder | undefined {
  const ladder = sources[0]?.ladder;
  return ladder !== undefined && sources.every((source) => source.ladder.hasSameLevels(ladder)) ? ladder : undefined;
}

class Join {
  readonly #joined: Source<unknown[]>;
  readonly #sources: readonly Source<unknown>[];
  readonly #views: (AnyView | undefined)[];
  #missing: number;

  constructor(joined: Source<unknown[]>, sources: readonly Source<unknown>[]) {
    this.#joined = joined;
    this.#sources = sources;
    this.#views = sources.map(() => undefined);
    this.#missing = sources.length;
  }

  start(): void {
    if (this.#sources.length === 0) this.#joined.update([], 'final');
    this.#sources.forEach((source, at) => {
      const listener = new PartListener(this, at);
      source.observed = true;
      source.join(listener);
      this.#joined.onClose(() => source.leave(listener));
    });
  }

  take(at: number, view: AnyView): void {
    if (this.#views[at] === undefined) this.#missing--;
    this.#views[at] = view;
    if (this.#missing > 0) return;
    const values = this.#views.map((part) => part!.value);
    const level = this.#level();
    if (level !== undefined) this.#joined.update(values, level);
  }

  fail(error: CorrectableError): void {
    this.#joined.failWith(error);
  }

  /** The level of the weakest part; `undefined` for a preliminary below all that the join can show. */
  #level(): string | undefined {
    const { ladder } = this.#joined;
    const pending = this.#views.filter((view) => !view!.final);
    if (ladder === JOINED) return pending.length === 0 ? 'final' : 'preliminary';
    const weakest = (pending.length === 0 ? this.#views : pending).reduce((a, b) =>
      ladder.rankOf(b!.level) < ladder.rankOf(a!.level) ? b : a,
    );
    return weakest!.level;
  }
}

class PartListener extends Listener<unknown> {
  readonly #join: Join;
  readonly #at: number;

  constructor(join: Join, at: number) {
    super();
    this.#join = join;
    this.#at = at;
  }

  override onView(view: AnyView): void {
    this.#join.take(this.#at, view);
  }

  override onFailure(error: CorrectableError): void {
    this.#join.fail(error);
  }
}
