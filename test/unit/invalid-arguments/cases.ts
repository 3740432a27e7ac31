/**
 * The mistakes that people make, by the entry and the function that they call: arguments forgotten,
 * swapped or of another kind, options misspelt. `whole` are those that the right call shows;
 * `parts`, those that are about one option.
 */
import { createClient, type Policy } from '../../../src/index.ts';
import { callsOfBindings } from './cases-bindings.ts';
import { callsOfEngines } from './cases-engines.ts';
import { callsOfFrontEnds } from './cases-front-ends.ts';
import { callsOfServer } from './cases-server.ts';
import { binding, contract, method, type Mistakes, type Untyped } from './untyped.ts';

const two = ['weak', 'strong'];
const read = { name: 'get', args: { key: 'k' }, access: 'read', key: 'k' };

/** An executor that brings nothing: what is asked of its Correctable ends by itself. */
function open(): void {}

/** Invokes on a client, which `create` makes. */
const invoke = (create: Untyped, ...args: readonly unknown[]): unknown =>
  method(create(binding()), 'invoke')(...args);

/** Calls a method of a Correctable, which `create` makes. */
const call = (create: Untyped, name: string, ...args: readonly unknown[]): unknown =>
  method(create(two, open), name)(...args);

export const mistakes: Readonly<Record<string, Mistakes>> = {
  '.': {
    createClient: {
      shows: 'createClient(memory())',
      whole: [
        ['no binding', 'binding', (f) => f()],
        ['an address', 'binding', (f) => f('ws://127.0.0.1:7420')],
        ['options without a binding', 'binding', (f) => f({ timeoutMs: 5 })],
        ['a client in the place of its binding', 'binding', (f) => f(f(binding()))],
        ['the function that makes the binding', 'binding', (f) => f(binding)],
      ],
      parts: [
        ['a number for the options', 'options', (f) => f(binding(), 500)],
        ['null for the options', 'options', (f) => f(binding(), null)],
        ['a text for the time', 'timeoutMs', (f) => f(binding(), { timeoutMs: '5' })],
        ['an option that is misspelt', 'timeoutMS', (f) => f(binding(), { timeoutMS: 500 })],
        ['an option of invoke', 'signal', (f) => f(binding(), { signal: AbortSignal.abort() })],
        ['the class of a clock', 'clock', (f) => f(binding(), { clock: Date })],
        ['a list for a callback', 'onEvent', (f) => f(binding(), { onEvent: [] })],
        ['a switch for a callback', 'trace', (f) => f(binding(), { trace: true })],
        ['retries without a policy', 'retry', (f) => f(binding(), { retry: { attempts: 3 } })],
        [
          'shared reads without a policy',
          'dedupeReads',
          (f) => f(binding(), { dedupeReads: true }),
        ],
        ['invoke: retries without a policy', 'retry', (f) => invoke(f, read, { retry: 3 })],
        [
          'invoke: shared reads asked for',
          'dedupeReads',
          (f) => invoke(f, read, { dedupeReads: true }),
        ],
        ['invoke: no operation', 'operation', (f) => invoke(f)],
        ['invoke: the name of an operation', 'operation', (f) => invoke(f, 'get', 'k')],
        ['invoke: a builder that was not called', 'operation', (f) => invoke(f, contract().get)],
        ['invoke: a level', 'options', (f) => invoke(f, read, 'strong')],
        ['invoke: one level without a list', 'levels', (f) => invoke(f, read, { levels: 'weak' })],
        ['invoke: a session of no client', 'session', (f) => invoke(f, read, { session: {} })],
        ['invoke: half a time', 'timeoutMs', (f) => invoke(f, read, { timeoutMs: -1 })],
        ['invoke: an option that is misspelt', 'levles', (f) => invoke(f, read, { levles: two })],
        ['invoke: an option of the client', 'onEvent', (f) => invoke(f, read, { onEvent: open })],
        [
          'invoke: a controller for its signal',
          'signal',
          (f) => invoke(f, read, { signal: new AbortController() }),
        ],
        [
          'invoke: one time for all levels',
          'levelTimeoutsMs',
          (f) => invoke(f, read, { levelTimeoutsMs: 50 }),
        ],
        [
          'invokeWeak: levels',
          'levels',
          (f) => method(f(binding()), 'invokeWeak')(read, { levels: two }),
        ],
        ['invokeWeak: a number', 'options', (f) => method(f(binding()), 'invokeWeak')(read, 500)],
        [
          'invokeStrong: a list',
          'options',
          (f) => method(f(binding()), 'invokeStrong')(read, ['strong']),
        ],
        ['session: a token', 'options', (f) => method(f(binding()), 'session')('token')],
        [
          'session: tokens without their name',
          'options',
          (f) => method(f(binding()), 'session')(['token']),
        ],
        ['session: one token', 'token', (f) => method(f(binding()), 'session')({ token: 'token' })],
      ],
    },
    all: {
      shows: 'all([a, b])',
      whole: [
        ['no parts', 'parts', (f) => f()],
        [
          'parts without a list',
          'parts',
          (f, entry) =>
            f(method(entry, 'correctableFromValue')(1), method(entry, 'correctableFromValue')(2)),
        ],
        ['a promise of parts', 'parts', (f) => f(Promise.all([]))],
        [
          'a set of parts',
          'parts',
          (f, entry) => f(new Set([method(entry, 'correctableFromValue')(1)])),
        ],
      ],
      parts: [
        ['a promise', 'parts[0]', (f) => f([Promise.resolve(1)])],
        ['a promise by name', 'parts.user', (f) => f({ user: Promise.resolve(1) })],
      ],
    },
    correctable: {
      shows: 'give',
      whole: [
        ['nothing', 'levels', (f) => f()],
        ['levels without a list', 'levels', (f) => f('weak', () => {})],
        ['arguments swapped', 'levels', (f) => f(() => {}, two)],
      ],
      parts: [
        ['options without an executor', 'executor', (f) => f(two, undefined, {})],
        ['no executor', 'executor', (f) => (f(two) as typeof f)()],
        ['withSink: a number for the options', 'options', (f) => method(f(two), 'withSink')(500)],
        ['a promise for the executor', 'executor', (f) => f(two, Promise.resolve(1))],
        ['a number for the options', 'options', (f) => f(two, () => {}, 500)],
        ['a text for the time', 'timeoutMs', (f) => f(two, () => {}, { timeoutMs: '5' })],
        ['an option that is misspelt', 'timeout', (f) => f(two, () => {}, { timeout: 5 })],
        ['a name for a comparison', 'equals', (f) => f(two, () => {}, { equals: 'deep' })],
        ['a text for a switch', 'isRefining', (f) => f(two, () => {}, { isRefining: 'yes' })],
        [
          'withSink: an option that is misspelt',
          'timeout',
          (f) => method(f(two), 'withSink')({ timeout: 5 }),
        ],
        [
          'a controller for its signal',
          'signal',
          (f) => f(two, () => {}, { signal: new AbortController() }),
        ],
        ['onUpdate: nothing', 'onUpdate', (f) => call(f, 'onUpdate')],
        ['onFinal: what a function gave', 'onFinal', (f) => call(f, 'onFinal', open())],
        ['onError: a value', 'onError', (f) => call(f, 'onError', 5)],
        ['setCallbacks: nothing', 'callbacks', (f) => call(f, 'setCallbacks')],
        ['setCallbacks: one misspelt', 'onView', (f) => call(f, 'setCallbacks', { onView: open })],
        ['setCallbacks: a value', 'onFinal', (f) => call(f, 'setCallbacks', { onFinal: 5 })],
        [
          'setCallbacks: a signal without its name',
          'options',
          (f) => call(f, 'setCallbacks', { onFinal: open }, null),
        ],
        ['subscribe: nothing', 'observer', (f) => call(f, 'subscribe')],
        [
          'subscribe: the names of callbacks',
          'observer',
          (f) => call(f, 'subscribe', { onUpdate: open }),
        ],
        [
          'subscribe: a value',
          'observer',
          (f) => call(f, 'subscribe', { next: 1, complete: open }),
        ],
        [
          'subscribe: a controller for its signal',
          'signal',
          (f) => call(f, 'subscribe', open, { signal: new AbortController() }),
        ],
        [
          'subscribe: three callbacks, as of old in RxJS',
          'options',
          (f) => call(f, 'subscribe', open, null, open),
        ],
        ['speculate: a value', 'run', (f) => call(f, 'speculate', 5)],
        [
          'speculate: options for the undo',
          'abort',
          (f) => call(f, 'speculate', open, { abort: open }),
        ],
        ['map: nothing', 'transform', (f) => call(f, 'map')],
        ['chain: a Correctable', 'next', (f) => call(f, 'chain', f(two, open))],
        ['settle: a number', 'options', (f) => call(f, 'settle', 500)],
        ['settle: a text for the time', 'withinMs', (f) => call(f, 'settle', { withinMs: 'soon' })],
        ['settle: an option that is misspelt', 'enuf', (f) => call(f, 'settle', { enuf: open })],
        [
          'settle: a level for the condition',
          'enough',
          (f) => call(f, 'settle', { enough: 'weak' }),
        ],
        ['settle: an unknown end', 'afterEarly', (f) => call(f, 'settle', { afterEarly: 'abort' })],
        ['settle: half a time', 'withinMs', (f) => call(f, 'settle', { withinMs: -1 })],
        ['when: no level', 'level', (f) => call(f, 'when'), 'UNKNOWN_LEVEL'],
        ['when: an unknown level', 'level', (f) => call(f, 'when', 'nosuch'), 'UNKNOWN_LEVEL'],
        ['when: a condition', 'level', (f) => call(f, 'when', open), 'UNKNOWN_LEVEL'],
        [
          'when: an option that is misspelt',
          'within',
          (f) => call(f, 'when', 'weak', { within: 5 }),
        ],
        ['when: a number', 'options', (f) => call(f, 'when', 'weak', 500)],
      ],
    },
    correctableFromPromise: {
      shows: 'give one',
      whole: [
        ['a value', 'promise', (f) => f(5)],
        ['nothing', 'promise', (f) => f()],
      ],
      parts: [],
    },
    correctableFromValue: 'takes any value',
    boxCorrectable: 'takes whatever it is given, and gives it back',
    getSnapshot: {
      shows: 'give one',
      whole: [
        ['nothing', 'correctable', (f) => f()],
        ['a promise', 'correctable', (f) => f(Promise.resolve(1))],
      ],
      parts: [],
    },
    isCorrectableError: 'takes anything',
    structurallyEqual: 'takes anything',
    CorrectableError: 'is made by those who write bindings: its code is what they say',
  },
  './operations': {
    get: {
      shows: 'give a string',
      whole: [
        ['nothing', 'key', (f) => f()],
        ['a number', 'key', (f) => f(7)],
        ['an object', 'key', (f) => f({ key: 'k' })],
      ],
      parts: [],
    },
    put: {
      shows: 'give a string',
      whole: [['an object', 'key', (f) => f({ key: 'k', value: 1 })]],
      parts: [
        ['a time that is text', 'ttlMs', (f) => f('k', 1, { ttlMs: '5' })],
        ['a misspelt option', 'ttl', (f) => f('k', 1, { ttl: 5 })],
      ],
    },
    remove: {
      shows: 'give a string',
      whole: [['an object', 'key', (f) => f({ key: 'k' })]],
      parts: [],
    },
    getMany: {
      shows: 'give a list',
      whole: [['keys without a list', 'keys', (f) => f('a', 'b')]],
      parts: [['a list of numbers', 'keys[0]', (f) => f([1])]],
    },
    readVersions: {
      shows: 'give a list',
      whole: [['keys without a list', 'keys', (f) => f('a', 'b')]],
      parts: [['a list of numbers', 'keys[0]', (f) => f([1])]],
    },
    commit: {
      shows: 'give a list of',
      whole: [
        ['nothing', 'reads', (f) => f()],
        ['reads alone', 'writes', (f) => f([])],
      ],
      parts: [
        ['a read without a key', 'reads[0].key', (f) => f([{ version: 1 }], [])],
        ['a write without a key', 'writes[0].key', (f) => f([], [{ value: 1 }])],
      ],
    },
    enqueue: {
      shows: 'give a string',
      whole: [['an object', 'queue', (f) => f({ queue: 'q', item: 1 })]],
      parts: [],
    },
    dequeue: {
      shows: 'give a string',
      whole: [['an object', 'queue', (f) => f({ queue: 'q' })]],
      parts: [],
    },
    peek: { shows: 'give a string', whole: [['nothing', 'queue', (f) => f()]], parts: [] },
    getRemaining: {
      shows: 'getRemaining(view)',
      whole: [
        ['nothing', 'view', (f) => f()],
        ['the value of a view', 'view', (f) => f(null)],
      ],
      parts: [],
    },
    getSafeThreshold: {
      shows: 'getSafeThreshold(view)',
      whole: [
        ['nothing', 'view', (f) => f()],
        ['a number', 'view', (f) => f(20)],
      ],
      parts: [],
    },
  },
  './transactions': {
    transaction: {
      shows: 'transaction(client, async (tx) => { … })',
      whole: [
        ['nothing', 'client', (f) => f()],
        ['the function alone', 'client', (f) => f(open)],
        ['a binding in the place of its client', 'client', (f) => f(binding(), open)],
        ['a client alone', 'run', (f) => f(createClient(binding()))],
      ],
      parts: [
        ['a number for the options', 'options', (f) => f(createClient(binding()), open, 5)],
        [
          'an option that is misspelled',
          'maxAttempt',
          (f) => f(createClient(binding()), open, { maxAttempt: 5 }),
        ],
        ['no attempt', 'maxAttempts', (f) => f(createClient(binding()), open, { maxAttempts: 0 })],
        [
          'a level that is not the strongest',
          'level',
          (f) => f(createClient(binding()), open, { level: 'weak' }),
        ],
        [
          'an idempotency key',
          'idempotencyKey',
          (f) => f(createClient(binding()), open, { idempotencyKey: 'p7' }),
        ],
      ],
    },
  },
  './policies': {
    retryPolicy: {
      shows: 'retryPolicy({ attempts: 3 })',
      whole: [
        ['a number', 'options', (f) => f(3)],
        [
          'not called, given to a client',
          'options',
          (f) => createClient(binding(), { retry: f as unknown as Policy }),
        ],
        ['the name of another library', 'retries', (f) => f({ retries: 3 })],
      ],
      parts: [
        ['no attempt', 'attempts', (f) => f({ attempts: 0 })],
        ['attempts for ever', 'attempts', (f) => f({ attempts: Infinity })],
        ['more attempts than anybody waits for', 'attempts', (f) => f({ attempts: 101 })],
        ['half an attempt', 'attempts', (f) => f({ attempts: 2.5 })],
        ['a text for the attempts', 'attempts', (f) => f({ attempts: '3' })],
        ['milliseconds for the backoff', 'backoff', (f) => f({ backoff: 100 })],
        ['a number for the random', 'random', (f) => f({ random: 0.5 })],
      ],
    },
    dedupeReads: {
      shows: 'write dedupeReads()',
      whole: [
        ['options', 'options', (f) => f({ maxDelayMs: 5 })],
        [
          'not called, given to a client',
          'options',
          (f) => createClient(binding(), { dedupeReads: f as unknown as Policy }),
        ],
      ],
      parts: [],
    },
    exponentialBackoff: 'is that of ./bindings/remote',
  },
  ...callsOfBindings,
  ...callsOfFrontEnds,
  ...callsOfEngines,
  ...callsOfServer,
};
