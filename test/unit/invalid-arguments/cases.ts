/**
 * The mistakes that people make, by the entry and the function that they call: arguments forgotten, swapped or of another
 * kind, options misspelt. `whole` are those that the right call shows; `parts`, those that are about one option.
 */
import { createClient, type Policy } from '../../../src/index.ts';
import { callsOfBindings } from './cases-bindings.ts';
import { callsOfEngines } from './cases-engines.ts';
import { callsOfFrontEnds } from './cases-front-ends.ts';
import { callsOfServer } from './cases-server.ts';
import { binding, contract, method, type Mistakes } from './untyped.ts';

const two = ['weak', 'strong'];

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
        ['null', 'binding', (f) => f(null)],
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
        ['shared reads without a policy', 'dedupeReads', (f) => f(binding(), { dedupeReads: true })],
        ['invoke: retries without a policy', 'retry', (f) => method(f(binding()), 'invoke')(read, { retry: 3 })],
        [
          'invoke: shared reads asked for',
          'dedupeReads',
          (f) => method(f(binding()), 'invoke')(read, { dedupeReads: true }),
        ],
        ['invoke: no operation', 'operation', (f) => method(f(binding()), 'invoke')()],
        ['invoke: the name of an operation', 'operation', (f) => method(f(binding()), 'invoke')('get', 'k')],
        ['invoke: a builder that was not called', 'operation', (f) => method(f(binding()), 'invoke')(contract().get)],
        ['invoke: a list of levels', 'options', (f) => method(f(binding()), 'invoke')(read, ['strong'])],
        ['invoke: a level', 'options', (f) => method(f(binding()), 'invoke')(read, 'strong')],
        ['invoke: null', 'options', (f) => method(f(binding()), 'invoke')(read, null)],
        ['invoke: one level without a list', 'levels', (f) => method(f(binding()), 'invoke')(read, { levels: 'weak' })],
        ['invoke: a session of no client', 'session', (f) => method(f(binding()), 'invoke')(read, { session: {} })],
        ['invoke: half a time', 'timeoutMs', (f) => method(f(binding()), 'invoke')(read, { timeoutMs: -1 })],
        ['invoke: an option that is misspelt', 'levles', (f) => method(f(binding()), 'invoke')(read, { levles: two })],
        ['invoke: an option of the client', 'onEvent', (f) => method(f(binding()), 'invoke')(read, { onEvent: open })],
        [
          'invoke: a controller for its signal',
          'signal',
          (f) => method(f(binding()), 'invoke')(read, { signal: new AbortController() }),
        ],
        [
          'invoke: one time for all levels',
          'levelTimeoutsMs',
          (f) => method(f(binding()), 'invoke')(read, { levelTimeoutsMs: 50 }),
        ],
        ['invokeWeak: levels', 'levels', (f) => method(f(binding()), 'invokeWeak')(read, { levels: two })],
        ['invokeWeak: a number', 'options', (f) => method(f(binding()), 'invokeWeak')(read, 500)],
        ['invokeStrong: a list', 'options', (f) => method(f(binding()), 'invokeStrong')(read, ['strong'])],
        ['session: a token', 'options', (f) => method(f(binding()), 'session')('token')],
        ['session: tokens without their name', 'options', (f) => method(f(binding()), 'session')(['token'])],
        ['session: one token', 'token', (f) => method(f(binding()), 'session')({ token: 'token' })],
        ['session: null', 'options', (f) => method(f(binding()), 'session')(null)],
      ],
    },
    all: {
      shows: 'all([a, b])',
      whole: [
        ['no parts', 'parts', (f) => f()],
        [
          'parts without a list',
          'parts',
          (f, entry) => f(method(entry, 'correctableFromValue')(1), method(entry, 'correctableFromValue')(2)),
        ],
        ['a promise of parts', 'parts', (f) => f(Promise.all([]))],
        ['a number', 'parts', (f) => f(5)],
        ['a set of parts', 'parts', (f, entry) => f(new Set([method(entry, 'correctableFromValue')(1)]))],
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
        ['null for the options', 'options', (f) => f(two, () => {}, null)],
        ['a text for the time', 'timeoutMs', (f) => f(two, () => {}, { timeoutMs: '5' })],
        ['an option that is misspelt', 'timeout', (f) => f(two, () => {}, { timeout: 5 })],
        ['a name for a comparison', 'equals', (f) => f(two, () => {}, { equals: 'deep' })],
        ['a text for a switch', 'isRefining', (f) => f(two, () => {}, { isRefining: 'yes' })],
        ['withSink: an option that is misspelt', 'timeout', (f) => method(f(two), 'withSink')({ timeout: 5 })],
        ['a controller for its signal', 'signal', (f) => f(two, () => {}, { signal: new AbortController() })],
        ['onUpdate: nothing', 'onUpdate', (f) => method(f(two, open), 'onUpdate')()],
        ['onFinal: what a function gave', 'onFinal', (f) => method(f(two, open), 'onFinal')(open())],
        ['onError: a value', 'onError', (f) => method(f(two, open), 'onError')(5)],
        ['setCallbacks: a function', 'callbacks', (f) => method(f(two, open), 'setCallbacks')(open)],
        ['setCallbacks: nothing', 'callbacks', (f) => method(f(two, open), 'setCallbacks')()],
        ['setCallbacks: one misspelt', 'onView', (f) => method(f(two, open), 'setCallbacks')({ onView: open })],
        ['setCallbacks: a value', 'onFinal', (f) => method(f(two, open), 'setCallbacks')({ onFinal: 5 })],
        [
          'setCallbacks: a signal without its name',
          'options',
          (f) => method(f(two, open), 'setCallbacks')({ onFinal: open }, null),
        ],
        ['subscribe: nothing', 'observer', (f) => method(f(two, open), 'subscribe')()],
        ['subscribe: null', 'observer', (f) => method(f(two, open), 'subscribe')(null)],
        ['subscribe: the names of callbacks', 'observer', (f) => method(f(two, open), 'subscribe')({ onUpdate: open })],
        ['subscribe: a value', 'observer', (f) => method(f(two, open), 'subscribe')({ next: 1, complete: open })],
        [
          'subscribe: a controller for its signal',
          'signal',
          (f) => method(f(two, open), 'subscribe')(open, { signal: new AbortController() }),
        ],
        [
          'subscribe: three callbacks, as of old in RxJS',
          'options',
          (f) => method(f(two, open), 'subscribe')(open, null, open),
        ],
        ['speculate: a value', 'run', (f) => method(f(two, open), 'speculate')(5)],
        ['speculate: a promise', 'run', (f) => method(f(two, open), 'speculate')(Promise.resolve(1))],
        ['speculate: options for the undo', 'abort', (f) => method(f(two, open), 'speculate')(open, { abort: open })],
        ['map: nothing', 'transform', (f) => method(f(two, open), 'map')()],
        ['chain: a Correctable', 'next', (f) => method(f(two, open), 'chain')(f(two, open))],
        ['chain: null for the undo', 'abort', (f) => method(f(two, open), 'chain')(open, null)],
        ['settle: a number', 'options', (f) => method(f(two, open), 'settle')(500)],
        ['settle: a level', 'options', (f) => method(f(two, open), 'settle')('weak')],
        ['settle: null', 'options', (f) => method(f(two, open), 'settle')(null)],
        ['settle: a text for the time', 'withinMs', (f) => method(f(two, open), 'settle')({ withinMs: 'soon' })],
        ['settle: an option that is misspelt', 'enuf', (f) => method(f(two, open), 'settle')({ enuf: open })],
        ['settle: a level for the condition', 'enough', (f) => method(f(two, open), 'settle')({ enough: 'weak' })],
        ['settle: an unknown end', 'afterEarly', (f) => method(f(two, open), 'settle')({ afterEarly: 'abort' })],
        ['settle: half a time', 'withinMs', (f) => method(f(two, open), 'settle')({ withinMs: -1 })],
        ['when: no level', 'level', (f) => method(f(two, open), 'when')(), 'UNKNOWN_LEVEL'],
        ['when: an unknown level', 'level', (f) => method(f(two, open), 'when')('nosuch'), 'UNKNOWN_LEVEL'],
        ['when: a condition', 'level', (f) => method(f(two, open), 'when')(open), 'UNKNOWN_LEVEL'],
        ['when: an option that is misspelt', 'within', (f) => method(f(two, open), 'when')('weak', { within: 5 })],
        ['when: a number', 'options', (f) => method(f(two, open), 'when')('weak', 500)],
        ['when: null', 'options', (f) => method(f(two, open), 'when')('weak', null)],
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
    put: { shows: 'give a string', whole: [['an object', 'key', (f) => f({ key: 'k', value: 1 })]], parts: [] },
    getMany: {
      shows: 'give a list',
      whole: [['keys without a list', 'keys', (f) => f('a', 'b')]],
      parts: [['a list of numbers', 'keys[0]', (f) => f([1])]],
    },
    enqueue: { shows: 'give a string', whole: [['an object', 'queue', (f) => f({ queue: 'q', item: 1 })]], parts: [] },
    dequeue: { shows: 'give a string', whole: [['an object', 'queue', (f) => f({ queue: 'q' })]], parts: [] },
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
  './policies': {
    retryPolicy: {
      shows: 'retryPolicy({ attempts: 3 })',
      whole: [
        ['a number', 'options', (f) => f(3)],
        ['not called, given to a client', 'options', (f) => createClient(binding(), { retry: f as unknown as Policy })],
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
    exponentialBackoff: {
      shows: 'initialDelayMs',
      whole: [
        ['a number', 'options', (f) => f(100)],
        ['an option that is misspelt', 'max', (f) => f({ max: 1000 })],
        ['a text for a time', 'initialDelayMs', (f) => f({ initialDelayMs: '100' })],
      ],
      parts: [],
    },
  },
  ...callsOfBindings,
  ...callsOfFrontEnds,
  ...callsOfEngines,
  ...callsOfServer,
};

const read = { name: 'get', args: { key: 'k' }, access: 'read', key: 'k' };

/** An executor that brings nothing: what is asked of its Correctable ends by itself. */
function open(): void {}
