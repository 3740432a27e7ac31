import { OF_TRANSPORT } from './accepted-transport.mjs';
import { stay } from './stay.mjs';

/**
 * Mutants that no test notices and that stay, each with the reason. One is found by its file, the line where it begins,
 * and what is replaced by what; a test holds each to be still there.
 *
 * @type {readonly { file: string, text: string, from: string, to: string, reason: string }[]}
 */
export const ACCEPTED = [
  ...stay(
    'src/correctable/effects.ts',
    'Only how often the parts are looked through: what they come to is the same.',
    'if (count < 8 || count & (count - 1)) return;',
    ['count < 8 || count & (count - 1)', 'false'],
    ['count < 8 || count & (count - 1)', '(count < 8) && (count & (count - 1))'],
    ['1', '(1 + 1)'],
  ),
  ...stay(
    'src/correctable/effects.ts',
    'The first part stays in the list for another round, and counts by itself meanwhile.',
    'for (const other of new Set(parts.splice(0))) {',
    ['0', '1'],
  ),
  ...stay(
    'src/correctable/effects.ts',
    'It is compared with itself and with what is below it: any number above those will do.',
    'export const UPDATE = 2;',
    ['2', '(2 + 1)'],
  ),
  ...stay(
    'src/correctable/audience.ts',
    'Only whether the first to listen has a seat: those with one are told the same, in the same order.',
    'const isTaken = (onUpdate && audience.onUpdate) || (onFinal && audience.onFinal) || (onError && audience.onError);',
    ['onUpdate && audience.onUpdate', '(onUpdate) || (audience.onUpdate)'],
    ['onFinal && audience.onFinal', '(onFinal) || (audience.onFinal)'],
    ['onError && audience.onError', '(onError) || (audience.onError)'],
  ),
  ...stay(
    'src/correctable/audience.ts',
    'Only whether the first to listen has a seat: those with one are told the same, in the same order.',
    'if (isTaken || audience.accepted > 0 || audience.seats) listen(audience, { onUpdate, onFinal, onError });',
    ['isTaken || audience.accepted > 0 || audience.seats', 'true'],
    ['audience.accepted > 0', 'audience.accepted >= 0'],
  ),
  ...stay(
    'src/correctable/audience.ts',
    'After the end nobody goes through the list of seats again: who comes late is told by itself.',
    "else if (state === 'updating') audience.seats = [seat];",
    ["state === 'updating'", 'true'],
  ),
  ...stay(
    'src/correctable/audience.ts',
    'After the end only the room is saved that empty seats take.',
    "if (audience.state !== 'updating') return;",
    ["audience.state !== 'updating'", 'false'],
  ),
  ...stay(
    'src/correctable/audience.ts',
    'Only when empty seats are taken away: they are passed over until then.',
    'extras.emptySeats = (extras.emptySeats ?? 0) + 1;',
    ['0', '1'],
  ),
  ...stay(
    'src/correctable/audience.ts',
    'Only when empty seats are taken away: they are passed over until then.',
    'if (extras.emptySeats * 2 <= audience.seats.length) return;',
    ['extras.emptySeats * 2 <= audience.seats.length', 'false'],
    ['extras.emptySeats * 2 <= audience.seats.length', 'extras.emptySeats * 2 < audience.seats.length'],
    ['2', '(2 + 1)'],
  ),
  ...stay(
    'src/correctable/audience.ts',
    'Only when empty seats are taken away: they are passed over until then.',
    'extras.emptySeats = 0;',
    ['0', '1'],
  ),
  ...stay(
    'src/correctable/audience.ts',
    'To go through no seats tells nobody.',
    'if (audience.seats) tellSeats(audience, next, number);',
    ['audience.seats', 'true'],
  ),
  ...stay(
    'src/correctable/binding.ts',
    'A millisecond more or less, of a time that is a guess.',
    'export function isLetGo(waiting: { readonly signal: AbortSignal }, sinceMs = 0): boolean {',
    ['0', '1'],
  ),
  ...stay(
    'src/correctable/binding.ts',
    'Exactly so long after it began is never seen: the clock has fractions of milliseconds.',
    'return performance.now() - sinceMs > LOOK_AFTER_MS && waiting.signal.aborted;',
    ['performance.now() - sinceMs > LOOK_AFTER_MS', 'performance.now() - sinceMs >= LOOK_AFTER_MS'],
  ),
  ...stay(
    'src/correctable/binding.ts',
    'A signal aborts once.',
    "late?.addEventListener('abort', () => resolve(), { once: true });",
    ['true', 'false'],
  ),
  ...stay(
    'src/correctable/clock.ts',
    'A long delay is waited for in one step more, or one less, of the same sum.',
    'const DELAY_MS_MAX = 2 ** 31 - 1;',
    ['1', '(1 + 1)'],
  ),
  ...stay(
    'src/correctable/made/client.ts',
    'What sharing reads knows of a client is the same however often it is applied.',
    "if (effect === 'update') return own === retried ? shared : applied('shareReads', shareAll, own);",
    ['own === retried', 'false'],
  ),
  ...stay(
    'src/correctable/settle.ts',
    'Of what has ended nothing is left to relax, and nobody asks how early it was answered.',
    "if (source.state !== 'updating') return;",
    ["source.state !== 'updating'", 'false'],
  ),
  ...stay(
    'src/correctable/deadlines.ts',
    'Only when those that have closed are taken away: they are passed over until then.',
    'if (this.#all.length > 2 * this.#open) this.#tidy();',
    ['this.#all.length > 2 * this.#open', 'this.#all.length >= 2 * this.#open'],
    ['2', '(2 + 1)'],
  ),
  ...stay(
    'src/correctable/environment.ts',
    'The clock is read before anything is added to what it says.',
    '#wallAheadMs = 0;',
    ['0', '1'],
  ),
  ...stay('src/correctable/environment.ts', 'For timers 0 and 1 are the same.', '}, 0);', ['0', '1']),
  ...stay(
    'src/correctable/source.ts',
    'For timers 0 and 1 are the same.',
    'else if (!source.observed) setTimeout(() => source.observed || void Promise.reject(error), 0);',
    ['0', '1'],
  ),
  ...stay(
    'src/correctable/source.ts',
    'A source closes once, and what comes after that is not put there.',
    'source.cleanUps = undefined;',
    ['source.cleanUps = undefined;', ';'],
  ),
  ...stay(
    'src/correctable/ladder.ts',
    'Past their ends both have undefined, and both ends are at the same place.',
    'for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false;',
    ['at < a.length', 'at <= a.length'],
  ),
  ...stay(
    'src/correctable/ladder.ts',
    'Any number below 0 is below all ranks: it is compared with ranks and with itself, and nothing counts from it.',
    'export const NO_RANK = -1;',
    ['1', '(1 + 1)'],
  ),
  ...stay(
    'src/correctable/speculate.ts',
    'After an undoing a run lives or the result has ended: until the next one, nobody asks whether one is under way.',
    'speculation.undoing = undefined;',
    ['speculation.undoing = undefined;', ';'],
  ),
  ...ofEqual(
    'Only when assumptions begin to be kept, which saves looks: what is equal is the same without them.',
    ['const FREE_LOOKS_MAX = 100_000;', ['100_000', '(100_000 + 1)']],
    ['const FREE_DEPTH_MAX = 32;', ['32', '(32 + 1)']],
    ['return a === b || proven(a, b, 0, { looks: 0, later: [], assumptions: undefined });', ['0', '1']],
    [
      'comparison.looks += depth > FREE_DEPTH_MAX ? FREE_LOOKS_MAX : 1;',
      ['depth > FREE_DEPTH_MAX', 'true'],
      ['depth > FREE_DEPTH_MAX', 'depth >= FREE_DEPTH_MAX'],
      ['1', '(1 + 1)'],
    ],
    [
      'if (comparison.looks > FREE_LOOKS_MAX && isAssumed(a, b, comparison)) return true;',
      ['comparison.looks > FREE_LOOKS_MAX', 'comparison.looks >= FREE_LOOKS_MAX'],
    ],
  ),
  ...ofEqual(
    'Only how deep the stack is when pairs begin to be compared later: half as deep, they all are compared too.',
    ['const DEPTH_MAX = 256;', ['256', '(256 + 1)']],
    [
      'if (Array.isArray(a)) return isList(a) && isList(b) && equalArrays(a, b, depth + 1, comparison);',
      ['1', '(1 + 1)'],
    ],
    [
      'return prototype === other && equalProperties(a as Properties, b as Properties, depth + 1, comparison);',
      ['1', '(1 + 1)'],
    ],
    ['return isSameKind && isBuiltIn(prototype) && equalBuiltIns(a, b, depth + 1, comparison);', ['1', '(1 + 1)']],
  ),
  ...ofEqual(
    'An assumption that is taken back without need is made again, after another look.',
    [
      'const linkedFrom = comparison.assumptions?.linked.length ?? 0;',
      ['comparison.assumptions?.linked.length ?? 0', '0'],
    ],
    ['if (!isEqual) {', ['!isEqual', 'true']],
  ),
  ...ofEqual('What is no object is told from one later too.', [
    'if (!isObject(a) || !isObject(b)) return Object.is(a, b);',
    ['!isObject(a) || !isObject(b)', '(!isObject(a)) && (!isObject(b))'],
  ]),
  ...ofEqual('A list that something was pushed to has a length above 0.', [
    'if (depth > DEPTH_MAX) return comparison.later.push([a, b]) > 0;',
    ['comparison.later.push([a, b]) > 0', 'comparison.later.push([a, b]) >= 0'],
  ]),
  ...ofEqual(
    'Nothing global is called undefined but that itself, which has no prototype: it is no built-in either way.',
    [
      "const name = (prototype as Partial<object>).constructor?.name ?? '';",
      ["(prototype as Partial<object>).constructor?.name ?? ''", '(prototype as Partial<object>).constructor?.name'],
    ],
  ),
  ...ofEqual(
    'Only how long the ways to the end of links are: they lead to the same end.',
    ['const leftWeight = weights.get(left) ?? 1;', ['weights.get(left) ?? 1', '1'], ['1', '(1 + 1)']],
    ['const rightWeight = weights.get(right) ?? 1;', ['weights.get(right) ?? 1', '1'], ['1', '(1 + 1)']],
    [
      'const [light, heavy] = leftWeight < rightWeight ? [left, right] : [right, left];',
      ['leftWeight < rightWeight', 'false'],
      ['leftWeight < rightWeight', 'true'],
      ['leftWeight < rightWeight', 'leftWeight <= rightWeight'],
    ],
    [
      'weights.set(heavy, leftWeight + rightWeight);',
      ['weights.set(heavy, leftWeight + rightWeight);', ';'],
      ['leftWeight + rightWeight', 'leftWeight - rightWeight'],
    ],
  ),
  ...ofEqual('Past their ends both have undefined, and both ends are at the same place.', [
    'for (let i = 0; i < a.length; i++) if (!equal(a[i], b[i], depth, comparison)) return false;',
    ['i < a.length', 'i <= a.length'],
  ]),
  ...ofEqual('An entry of a set has the item twice.', [
    'for (const entry of b.entries()) if (!a.has(entry[0])) alikeOf(entry[0]).push(isMap ? entry : entry[0]);',
    ['0', '1'],
  ]),
  ...ofEqual(
    'Only how much of an item its sketch looks at: it is the same for all that are equal, and few others look like it.',
    ['function sketchOf(key: unknown, depth = 3): string {', ['3', '(3 + 1)']],
    ["if (depth === 0) return '';", ['0', '1']],
    ['const partsMax = 4 ** depth;', ['4', '(4 + 1)']],
    [
      'const endMax = bytes ? 128 : partsMax / 2;',
      ['bytes', 'true'],
      ['128', '(128 + 1)'],
      ['partsMax / 2', 'partsMax * 2'],
      ['2', '(2 + 1)'],
    ],
    ['return [list.length, ...list.slice(0, endMax), ...list.slice(-endMax)].map(next).join();', ['0', '1']],
    [
      'if (isCollection && key.size > partsMax) return String(key.size);',
      ['key.size > partsMax', 'key.size >= partsMax'],
      ['String(key.size)', "''"],
    ],
  ),
  ...stay(
    'src/correctable/pace/agreement-time.ts',
    'Before the first update has been ordered nothing is there to fade.',
    '#seenAtMs = 0;',
    ['0', '1'],
  ),
  ...stay(
    'src/correctable/pace/places.ts',
    'Of places that are free at the same time, none comes before the other.',
    'const after = this.#resting.findIndex((each) => each > freeAtMs);',
    ['each > freeAtMs', 'each >= freeAtMs'],
  ),
  ...stay(
    'src/correctable/pace/places.ts',
    'One at the latest time is set to what it is, and none is there past the first.',
    'for (let at = this.#resting.length - 1; (this.#resting[at] ?? 0) > latestMs; at -= 1) this.#resting[at] = latestMs;',
    ['(this.#resting[at] ?? 0) > latestMs', '(this.#resting[at] ?? 0) >= latestMs'],
    ['0', '1'],
  ),
  ...stay(
    'src/correctable/audience.ts',
    'Who came in time has missed nothing: catching up tells nothing.',
    'if (isLate) queueMicrotask(() => catchUp(audience, seat));',
    ['isLate', 'true'],
  ),
  ...stay(
    'src/correctable/audience.ts',
    'Only when empty seats are taken away: they are passed over until then.',
    'extras.emptySeats = (extras.emptySeats ?? 0) + 1;',
    ['1', '(1 + 1)'],
  ),
  ...stay(
    'src/correctable/audience.ts',
    'Only when empty seats are taken away: they are passed over until then.',
    'extras.emptySeats = 0;',
    ['extras.emptySeats = 0;', ';'],
  ),
  ...stay(
    'src/correctable/binding.ts',
    'A millisecond more, of a time that is a guess.',
    'export const LOOK_AFTER_MS = 20;',
    ['20', '(20 + 1)'],
  ),
  ...stay(
    'src/correctable/deadlines.ts',
    'The timer is there as long as one is open; beside that, only when those that have closed are taken away.',
    'if (this.#open++ === 0) this.#arm(one, limitMs);',
    ['this.#open++', 'this.#open--'],
  ),
  ...stay(
    'src/correctable/deadlines.ts',
    'Only when those that have closed are taken away: they are passed over until then.',
    'if (this.#all.length > 2 * this.#open) this.#tidy();',
    ['this.#all.length > 2 * this.#open', 'true'],
  ),
  ...stay('src/correctable/deadlines.ts', 'It is only compared with 0.', 'this.#held += isHeld ? 1 : -1;', [
    'this.#held += isHeld ? 1 : -1',
    'this.#held -= isHeld ? 1 : -1',
  ]),
  ...stay(
    'src/correctable/made/handle.ts',
    'The Node that runs the tests has the symbol.',
    "const DISPOSE: typeof Symbol.dispose = Symbol.dispose ?? (Symbol.for('Symbol.dispose') as typeof Symbol.dispose);",
    ["Symbol.dispose ?? (Symbol.for('Symbol.dispose') as typeof Symbol.dispose)", 'Symbol.dispose'],
  ),
  ...stay(
    'src/correctable/made/handle.ts',
    'Where there is no such symbol, a method of that name stands beside it.',
    'const OBSERVABLE: unique symbol = ((Symbol as { observable?: symbol }).observable ?? OBSERVABLE_NAME) as never;',
    [
      '(Symbol as { observable?: symbol }).observable ?? OBSERVABLE_NAME',
      '(Symbol as { observable?: symbol }).observable',
    ],
  ),
  ...stay(
    'src/correctable/made/handle.ts',
    'It saves a seat: who is told, and in which order, is the same.',
    'if (signal === undefined) attach(source, onUpdate, onFinal, onError);',
    ['signal === undefined', 'false'],
  ),
  ...stay(
    'src/correctable/made/handle.ts',
    'Line ends are taken out all the same.',
    'const oneLine = { ...options, depth, compact: true, breakLength: Infinity };',
    ['true', 'false'],
  ),
  ...stay(
    'src/correctable/made/make.ts',
    'It saves an environment, which does the same.',
    'return (options.clock ?? options.onUncaught ?? options.onEvent) ? new Environment(options) : defaultEnvironment;',
    ['(options.clock ?? options.onUncaught ?? options.onEvent)', 'true'],
  ),
  ...stay('src/correctable/run.ts', 'It is only compared with 0.', 'done++;', ['done++', 'done--']),
  ...stay(
    'src/correctable/source.ts',
    'It is asked again when the timer fires.',
    'else if (!source.observed) setTimeout(() => source.observed || void Promise.reject(error), 0);',
    ['!source.observed', 'true'],
  ),
  ...stay(
    'src/correctable/source.ts',
    'Who listens after the end is told by itself.',
    "else if (source.state === 'error') onError(source.extras?.error);",
    ["source.state === 'error'", 'false'],
  ),
  ...stay('src/correctable/source.ts', 'It is for engines: what is made there is thrown away.', 'draft();', [
    'draft();',
    ';',
  ]),
  ...stay(
    'src/correctable/source.ts',
    'To tidy up where there is nothing does nothing.',
    'if (source.extras || source.cleanUps || source.deadlines) tidyUp(source);',
    ['source.extras || source.cleanUps || source.deadlines', 'true'],
  ),
  ...stay(
    'src/correctable/speculate.ts',
    'What has closed begins no run, and is told nothing.',
    'speculation.waiting = speculation.live = undefined;',
    ['speculation.waiting = speculation.live = undefined;', ';'],
  ),
  ...stay(
    'src/correctable/speculate.ts',
    'As a run begins only: what waits is set anew, or taken back, before the next one does.',
    'speculation.waiting = undefined;',
    ['speculation.waiting = undefined;', ';'],
  ),
  ...stay(
    'src/correctable/speculate.ts',
    'What somebody waits for is not relaxed.',
    'if (result.extras?.onListener) relax(inner);',
    ['result.extras?.onListener', 'true'],
  ),
  ...stay(
    'src/correctable/speculate.ts',
    'A millisecond more, of a limit that has passed.',
    'limit(result, Math.max(dueAt - environment.tickAt(), 0));',
    ['0', '1'],
  ),
  ...OF_TRANSPORT,
];

/** Mutants of lines of `equal.ts`. */
function ofEqual(reason, ...lines) {
  return lines.flatMap(([text, ...mutants]) => stay('src/correctable/equal.ts', reason, text, ...mutants));
}
