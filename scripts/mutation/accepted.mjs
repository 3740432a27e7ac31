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
    ['onError && audience.onError', '(onError) || (audience.onError)'],
  ),
  ...stay(
    'src/correctable/audience.ts',
    'Only whether the first to listen has a seat: those with one are told the same, in the same order.',
    'if (isTaken || audience.accepted > 0 || audience.seats) listen(audience, { onUpdate, onFinal, onError });',
    ['isTaken || audience.accepted > 0 || audience.seats', 'true'],
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
    'src/transport/connection-timer.ts',
    'Asked for in `open` alone, where there is a line.',
    'const NOTHING: Awaiting = { awaited: 0, awaitedBytes: 0, frameBytesMax: 0 };',
    ['0', '1'],
  ),
  ...stay(
    'src/transport/connection-timer.ts',
    'What is large was submitted just before: that it is on its way is said twice.',
    "if (from !== 'probing' && this.#awaiting().awaited > 0) this.expectAnswer(false);",
    ['false', 'true'],
  ),
  ...stay(
    'src/transport/connection-timer.ts',
    'A millisecond less, of a time that is a guess.',
    'if (leftMs > 0) this.#set(() => this.#check(), Math.min(leftMs, this.#silence.limitMs));',
    ['0', '1'],
  ),
  ...stay('src/transport/connection.ts', 'The first attempt sets it, as the connection is made.', '#gaveUp = false;', [
    'false',
    'true',
  ]),
  ...stay(
    'src/transport/connection.ts',
    'It is asked for once a line has gone, which sets it.',
    '#siteIsBlameless = false;',
    ['false', 'true'],
  ),
  ...stay(
    'src/transport/connection.ts',
    'How long to wait counts in `waiting` alone.',
    'this.#timer.arm(this.#state, 0);',
    ['0', '1'],
  ),
  ...stay(
    'src/transport/connection.ts',
    'How long to wait counts in `waiting` alone.',
    "const delayMs = state === 'waiting' ? this.#delayMs(event, from) : 0;",
    ['0', '1'],
  ),
  ...stay(
    'src/transport/connection.ts',
    'A token that is asked for early is as good: for whom it is stands beside it.',
    'if (this.#settings.principal === undefined) this.#greeting.askAhead();',
    ['this.#settings.principal === undefined', 'true'],
  ),
  ...stay(
    'src/transport/connection.ts',
    'In all other states to be heard changes nothing.',
    "if (this.#state === 'probing') this.#dispatch('heard');",
    ["this.#state === 'probing'", 'true'],
  ),
  ...stay('src/transport/line/greeting.ts', 'Rounds are only compared for being the same.', '#round = 0;', ['0', '1']),
  ...stay('src/transport/line/greeting.ts', 'Rounds are only compared for being the same.', 'this.#round++;', [
    'this.#round++',
    'this.#round--',
  ]),
  ...stay('src/transport/line/line.ts', 'One byte of a slow link, of a time that is a guess.', 'awaitedBytes = 0;', [
    '0',
    '1',
  ]),
  ...stay('src/transport/line/line.ts', 'A millisecond more, of a time that is a guess.', 'drainMs = 0;', ['0', '1']),
  ...stay(
    'src/transport/line/line.ts',
    'The first acknowledgement comes one submission earlier: how often there is one is a guess.',
    '#unacknowledged = 0;',
    ['0', '1'],
  ),
  ...stay(
    'src/transport/line/token-renewal.ts',
    'A millisecond more, of a time that is a guess.',
    'const RENEW_AFTER_MS_MIN = 50;',
    ['50', '(50 + 1)'],
  ),
  ...stay('src/transport/line/token-renewal.ts', 'Rounds are only compared for being the same.', '#round = 0;', [
    '0',
    '1',
  ]),
  ...stay('src/transport/line/token-renewal.ts', 'Rounds are only compared for being the same.', 'this.#round++;', [
    'this.#round++',
    'this.#round--',
  ]),
  ...stay('src/transport/line/token-renewal.ts', 'It is set before it is asked for.', '#failures = 0;', ['0', '1']),
  ...stay('src/transport/line/token-renewal.ts', 'It is set before it is asked for.', '#endsAt = 0;', ['0', '1']),
  ...stay(
    'src/transport/line/token-renewal.ts',
    'To cancel a timer twice is to cancel it.',
    'this.#cancel = undefined;',
    ['this.#cancel = undefined;', ';'],
  ),
  ...stay(
    'src/transport/line/token-renewal.ts',
    'At the very end of a token the server closes the connection all the same.',
    'if (this.#settings.scheduling.now() + delayMs < this.#endsAt) this.#renewIn(delayMs);',
    [
      'this.#settings.scheduling.now() + delayMs < this.#endsAt',
      'this.#settings.scheduling.now() + delayMs <= this.#endsAt',
    ],
  ),
  ...stay('src/transport/operations/cancellation.ts', 'It is set before it is asked for.', '#olderThan = 0;', [
    '0',
    '1',
  ]),
  ...stay(
    'src/transport/operations/cancellation.ts',
    'A signal aborts once.',
    "signal.addEventListener('abort', cancel, { once: true });",
    ['true', 'false'],
  ),
  ...stay(
    'src/transport/operations/in-flight-operation.ts',
    'Which message is large is a guess.',
    'return length < ANNOUNCED_BYTES_MIN ? 0 : length;',
    ['length < ANNOUNCED_BYTES_MIN', 'length <= ANNOUNCED_BYTES_MIN'],
  ),
  ...stay(
    'src/transport/operations/in-flight.ts',
    'Of what has ended no view is confirmed any more.',
    'if (!last) operation.saw(row[at.seq], given);',
    ['!last', 'true'],
  ),
  ...stay(
    'src/transport/operations/in-flight.ts',
    'It saves the making of an empty list.',
    'return this.#refused.length === 0 ? NONE : this.#refused.splice(0);',
    ['this.#refused.length === 0', 'false'],
  ),
  ...stay(
    'src/transport/operations/wire-session.ts',
    'The tokens of servers have a dot.',
    "this.#tokens.set(token.slice(0, Math.max(0, token.indexOf('.'))), token);",
    ['0', '1'],
  ),
  ...stay(
    'src/transport/sender.ts',
    'What has ended is passed over when its turn comes, and what waits is set again.',
    'this.#waiting.clear();',
    ['this.#waiting.clear();', ';'],
  ),
  ...stay(
    'src/transport/sender.ts',
    'What is true of this one is true of all after it: none is sent.',
    'if (line === undefined || this.#line !== line || !line.hasRoom) return false;',
    ['false', 'true'],
  ),
  ...stay(
    'src/transport/sender.ts',
    'What waits for a line is gathered once there is one.',
    'if (line !== undefined) this.#waiting.set(operation.id, operation);',
    ['line !== undefined', 'true'],
  ),
  ...stay(
    'src/transport/sender.ts',
    'What is large has more than one byte.',
    'this.#events.expectAnswer(operation.largeBytes > 0);',
    ['0', '1'],
  ),
  ...stay(
    'src/transport/sender.ts',
    'What was given up is passed over when its turn comes.',
    'this.#waiting.delete(id);',
    ['this.#waiting.delete(id);', ';'],
  ),
  ...stay(
    'src/transport/settings/callbacks.ts',
    'One more or less, of a number that is a guess.',
    'const ASKS_MAX = 8;',
    ['8', '(8 + 1)'],
  ),
  ...stay(
    'src/transport/settings/callbacks.ts',
    'One more or less, of a number that is a guess.',
    'for (let asks = 0; asks < ASKS_MAX; asks++) {',
    ['0', '1'],
    ['asks < ASKS_MAX', 'asks <= ASKS_MAX'],
  ),
  ...stay('src/transport/settings/callbacks.ts', 'It is undefined there.', 'if (given === undefined) return given;', [
    'given',
    'undefined',
  ]),
  ...stay(
    'src/transport/settings/callbacks.ts',
    'Any number will do: the source of them is broken.',
    'return Math.random();',
    ['Math.random()', '0'],
  ),
  ...stay(
    'src/transport/silence.ts',
    'What begins it, and the welcome that is heard, sets it before it is asked for.',
    '#since = 0;',
    ['0', '1'],
  ),
  ...stay('src/transport/silence.ts', 'Either was long ago: of messages that have been taken.', '#takenAt = 0;', [
    '0',
    '1',
  ]),
  ...stay('src/transport/silence.ts', 'The welcome that is heard sets it before it is asked for.', '#sentBytes = 0;', [
    '0',
    '1',
  ]),
  ...stay(
    'src/transport/silence.ts',
    'The welcome that is heard sets it before it is asked for.',
    '#isAsked = false;',
    ['false', 'true'],
  ),
];

/** Mutants of one line. */
function stay(file, reason, text, ...mutants) {
  return mutants.map(([from, to]) => ({ file, text, from, to, reason }));
}

/** Mutants of lines of `equal.ts`. */
function ofEqual(reason, ...lines) {
  return lines.flatMap(([text, ...mutants]) => stay('src/correctable/equal.ts', reason, text, ...mutants));
}
