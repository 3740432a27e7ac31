/** Two runs of one seed go the same way, unless the service knows something that its tables do not hold. */
import { Random } from '../server/collections/random.ts';
import { shown } from '../server/label/values/shown.ts';
import { ALONE } from './simulator/checkers/oracle.ts';
import type { ClientOperation } from './simulator/history.ts';
import { isSameSent } from './simulator/oracle/sent.ts';
import type { DrawFrom, Drawn, World } from './simulator/world.ts';

/** What was drawn for one operation, and how much randomness that took. */
interface Kept {
  readonly drawn: Drawn;
  readonly count: number;
}

/** What clients ask for in one run: the same again where it is repeated, whatever their `draw` would say by then. */
export class RepeatableDraws {
  readonly #draw: World['draw'];
  readonly #kept = new Map<string, Kept>();

  constructor(draw: World['draw']) {
    this.#draw = draw;
  }

  /** Of the run that will be repeated. */
  readonly first = (from: DrawFrom): Drawn => {
    const random = new CountedRandom(from.random);
    const drawn = this.#draw({ ...from, random });
    this.#kept.set(from.own, { drawn, count: random.count });
    return drawn;
  };

  /** Of the same run when it is repeated: anew what only that asks for. */
  readonly again = (from: DrawFrom): Drawn => {
    const kept = this.#kept.get(from.own);
    if (kept === undefined) return this.#draw(from);
    for (let count = 0; count < kept.count; count += 1) from.random.bits();
    return kept.drawn;
  };
}

class CountedRandom extends Random {
  count = 0;
  readonly #source: Random;

  constructor(source: Random) {
    super(0);
    this.#source = source;
  }

  override bits(): number {
    this.count += 1;
    return this.#source.bits();
  }
}

/** The first call that ended otherwise the second time, in words; none where all went the same way. */
export function unlike(first: readonly ClientOperation[], again: readonly ClientOperation[]): string | undefined {
  const calls = new Map(again.map((call) => [call.id, call]));
  for (const before of first) {
    const after = calls.get(before.id);
    if (after !== undefined && isSameSent(endOf(before), endOf(after))) continue;
    const [one, other] = [told(before), after === undefined ? 'not asked for' : told(after)];
    const call = `${before.operation}(${shown(before.args)})`;
    const otherwise = one === other ? 'otherwise, or at another time,' : other;
    return `${call} was ${one}, and ${otherwise} when the same run was repeated: ${ALONE}`;
  }
  return undefined;
}

function endOf({ answers, failures, shownAs, isChange, error }: ClientOperation): unknown {
  return { answers, failures, shownAs, isChange, error };
}

function told({ answers: [first], failures, shownAs, error }: ClientOperation): string {
  if (first === undefined) return `told ${error ?? failures.at(-1) ?? 'nothing'}`;
  const colour = shownAs === undefined || shownAs === 'none' ? '' : ` (${shownAs})`;
  return `answered ${shown(first.value)}${colour}`;
}
