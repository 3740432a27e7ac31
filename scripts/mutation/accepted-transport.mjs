/** Those of `src/transport` among the mutants that stay. */
import { stay } from './stay.mjs';

export const OF_TRANSPORT = [
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
    'if (last) return void operation.sink.update(value, name, given);',
    ['last', 'false'],
  ),
  ...stay(
    'src/transport/operations/in-flight.ts',
    'What has a name is a number.',
    'if (name !== undefined && (level ?? 0) < operation.strongest) {',
    ['0', '1'],
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
